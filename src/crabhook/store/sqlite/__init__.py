"""The record in an SQLite file, which needs no setup."""
