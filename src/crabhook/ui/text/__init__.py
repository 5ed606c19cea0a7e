"""Text on a terminal: made safe, measured, laid out, coloured; it knows no card and no desk."""
