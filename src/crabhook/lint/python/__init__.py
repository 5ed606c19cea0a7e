"""A Python hook script, read by its syntax tree into facts; nothing of it is imported or run."""
