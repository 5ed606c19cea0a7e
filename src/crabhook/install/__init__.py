"""Writes crabhook's hooks into an agent's settings, and removes them.

The settings belong to their owner. The text is edited in place, so that all other text stays as it
was, down to its blanks and the format of its numbers.
"""
