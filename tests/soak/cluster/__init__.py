"""The soak of a cluster: two servers over one PostgreSQL, and a nemesis; see docs/maintaining/reports.md."""
