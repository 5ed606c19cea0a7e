-- One row: the chain's end, by which whoever appends proves that nobody else did, and the
-- counters.  `epoch` counts the servers that wrote here; `bytes` is of all that `record` holds.
CREATE TABLE head (
  alone boolean PRIMARY KEY DEFAULT true CHECK (alone),
  id text NOT NULL DEFAULT gen_random_uuid()::text,
  key bytea NOT NULL,
  epoch bigint NOT NULL DEFAULT 0,
  leader text NOT NULL DEFAULT '',
  seq bigint NOT NULL DEFAULT 0,
  hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
  at text NOT NULL DEFAULT '',
  card bigint NOT NULL DEFAULT 0,
  begins bigint NOT NULL DEFAULT 1,
  bytes bigint NOT NULL DEFAULT 0
);
-- Texts compare byte by byte, as they do in SQLite, whatever the database's language.
-- The triggers guard against slips, the hashes against intent.
CREATE TABLE record (
  seq bigint PRIMARY KEY,
  at text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  platform text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  agent_type text COLLATE "C" NOT NULL,
  cwd text COLLATE "C" NOT NULL,
  tool text COLLATE "C" NOT NULL,
  tool_use_id text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  card bigint,
  verdict text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  hash bytea NOT NULL,
  size integer NOT NULL
);
CREATE INDEX record_by_session ON record (session, platform) WHERE session <> '';
CREATE INDEX record_checkpoints ON record (kind) WHERE kind = 'checkpoint';
CREATE FUNCTION refuse_to_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF old.seq < (SELECT begins FROM crabhook.head) THEN
      RETURN old;
    END IF;
    RAISE 'a record is removed by retention alone';
  END IF;
  RAISE 'a record is never changed';
END $$;
CREATE TRIGGER record_never_changes BEFORE UPDATE OR DELETE ON record
FOR EACH ROW EXECUTE FUNCTION refuse_to_change();
CREATE VIEW agent AS
SELECT platform, session, agent_id, max(agent_type) AS agent_type,
  min(seq) AS first, max(seq) AS last, min(at) AS since, max(at) AS until,
  count(*) AS records, count(*) FILTER (WHERE kind = 'decided') AS decisions
FROM record WHERE session <> '' GROUP BY session, platform, agent_id;
CREATE TABLE waiting (
  request_id text COLLATE "C" PRIMARY KEY,
  secret text NOT NULL,
  platform text NOT NULL,
  payload bytea NOT NULL,
  stance text NOT NULL,
  asked double precision NOT NULL,
  wait_until double precision NOT NULL,
  card bigint NOT NULL,
  host text NOT NULL,
  pid bigint NOT NULL,
  "user" text NOT NULL,
  gives_up_at double precision NOT NULL,
  note bytea NOT NULL
);
-- `delivered`: 0 while nobody knows, 1 for yes, 2 for a client that was gone.  `card` and what
-- follows it are NULL for an answer whose receipt nobody waits for.
CREATE TABLE answer (
  request_id text COLLATE "C" PRIMARY KEY,
  secret text NOT NULL,
  stdout bytea NOT NULL,
  stderr bytea NOT NULL,
  exit_code integer NOT NULL,
  decided double precision NOT NULL,
  delivered integer NOT NULL,
  card bigint,
  platform text,
  payload bytea,
  decision bytea
);
-- Sessions whose calls are all denied until their next prompt.
CREATE TABLE halt (session text PRIMARY KEY, why text NOT NULL);
