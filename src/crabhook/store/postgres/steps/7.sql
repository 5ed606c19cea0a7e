-- How many people a request's hook wants to sign its reply, 0 for none; and who signed an answer (JSON).
ALTER TABLE waiting ADD COLUMN strict integer NOT NULL DEFAULT 0;
ALTER TABLE answer ADD COLUMN signed text NOT NULL DEFAULT '';
