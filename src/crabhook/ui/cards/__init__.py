"""A card in words: in one line, field by field, and with its context."""
