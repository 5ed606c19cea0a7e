-- Texts that every server that writes here goes by, such as the rules: of each the newest version.
CREATE TABLE document (
  name text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  text text NOT NULL,
  at text COLLATE "C" NOT NULL,
  "by" text NOT NULL
);
-- Documents as somebody wants them who does not write the record: the writer answers, and an empty
-- answer means that it is now the document.  Who asked removes the row.
CREATE TABLE proposal (
  id text COLLATE "C" PRIMARY KEY,
  document text NOT NULL,
  follows bigint NOT NULL,
  text text NOT NULL,
  name text NOT NULL,
  desk text NOT NULL,
  signature bytea NOT NULL,
  answer text,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX record_documents ON record (seq) WHERE kind = 'document';
