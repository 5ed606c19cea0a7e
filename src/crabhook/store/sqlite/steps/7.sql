-- A server that begins looks for the last record of the stops.
CREATE INDEX record_stops ON record (seq) WHERE kind = 'stops';
