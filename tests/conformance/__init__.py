"""What the real Claude Code does with each decision: cells to run, and the page they write."""
