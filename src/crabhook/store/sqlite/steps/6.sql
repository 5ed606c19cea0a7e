-- An answer is added at the table's end, and its id to an index.  Kept in the order of their ids,
-- which are random, answers tore pages apart.
CREATE TABLE answer_by_age (
  request_id TEXT PRIMARY KEY,
  secret TEXT NOT NULL,
  stdout BLOB NOT NULL,
  stderr BLOB NOT NULL,
  exit_code INTEGER NOT NULL,
  decided REAL NOT NULL,
  delivered INTEGER NOT NULL,
  card INTEGER,
  platform TEXT,
  payload BLOB,
  decision BLOB
);
INSERT INTO answer_by_age SELECT * FROM answer ORDER BY decided;
DROP TABLE answer;
ALTER TABLE answer_by_age RENAME TO answer;
