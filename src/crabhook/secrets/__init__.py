"""Where a text has secrets: one finder for the record and the screen."""
