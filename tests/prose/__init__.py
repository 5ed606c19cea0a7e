"""Reads our English: pages, help, texts of the screen, docstrings."""
