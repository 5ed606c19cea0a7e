"""What the real Claude Code does with each decision: cells to run, and the record of a run."""
