"""The desk as plain lines: words in, lines out; `desk` is where to begin."""
