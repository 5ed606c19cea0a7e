-- Where browsers reach the leader, a URL, so that a page of another server can lead there.
ALTER TABLE head ADD COLUMN page_at text NOT NULL DEFAULT '';
