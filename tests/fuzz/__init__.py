"""Fuzzing: one target for each place where bytes come in that others wrote; see docs/maintaining/reports.md."""
