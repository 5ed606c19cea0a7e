-- Where hooks and desks reach the leader, HOST:PORT, so that the other servers can tell them.
ALTER TABLE head ADD COLUMN leader_at text NOT NULL DEFAULT '', ADD COLUMN desks_at text NOT NULL DEFAULT '';
