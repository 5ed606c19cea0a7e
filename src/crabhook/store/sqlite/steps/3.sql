-- Sessions whose calls are all denied until their next prompt.
CREATE TABLE halt (session TEXT PRIMARY KEY, why TEXT NOT NULL) WITHOUT ROWID;
