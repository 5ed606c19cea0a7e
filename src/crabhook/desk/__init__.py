"""Between screens and broker: commands and news as values."""
