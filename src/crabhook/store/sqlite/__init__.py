"""The record in one SQLite file, with nothing to set up."""
