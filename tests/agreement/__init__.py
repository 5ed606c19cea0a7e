"""Our rules and the real Claude Code's, asked about the same calls: groups to ask, and the page."""
