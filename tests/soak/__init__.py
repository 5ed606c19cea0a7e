"""A soak: many sessions, an operator by chance, and whatever can break breaks; see docs/maintaining/reports.md."""
