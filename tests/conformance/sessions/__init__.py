"""Sessions of every agent and version: a table of cells each, run by one runner, and what was seen."""
