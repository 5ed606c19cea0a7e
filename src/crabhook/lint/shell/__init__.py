"""A shell hook script, read by a real grammar into facts."""
