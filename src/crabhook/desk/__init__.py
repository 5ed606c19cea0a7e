"""Floor 3: the door between screens and the broker: what is seen, and commanded as values."""
