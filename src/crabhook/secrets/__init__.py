"""Where a text holds secrets: one finder, for what is recorded and for what is shown."""
