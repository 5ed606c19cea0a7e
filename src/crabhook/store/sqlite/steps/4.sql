-- The machine whose own token a request came with: who is limited to it sees its card after a restart.
ALTER TABLE waiting ADD COLUMN machine TEXT NOT NULL DEFAULT '';
