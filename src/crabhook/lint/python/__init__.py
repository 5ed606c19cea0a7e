"""A Python hook script, read as a syntax tree into facts; never imported or run."""
