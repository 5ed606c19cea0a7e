"""The record in PostgreSQL, which several servers can reach, and one of them writes."""
