"""Floor 3, between screens and broker: commands and news as values."""
