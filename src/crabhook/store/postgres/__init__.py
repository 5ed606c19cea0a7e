"""The record in PostgreSQL: several servers can reach it, and one of them writes it."""
