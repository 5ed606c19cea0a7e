"""The owner's rules as files: read, changed, and tried on what the record holds."""
