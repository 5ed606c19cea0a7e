-- `delivered`: 0 while nobody knows, 1 for yes, 2 for a client that was gone.  The rest is NULL
-- for an answer whose receipt nobody waits for.
ALTER TABLE answer ADD COLUMN card INTEGER;
ALTER TABLE answer ADD COLUMN platform TEXT;
ALTER TABLE answer ADD COLUMN payload BLOB;
ALTER TABLE answer ADD COLUMN decision BLOB;
