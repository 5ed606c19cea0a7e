"""Writes crabhook's hooks into an agent's settings, and takes them out again.

The settings belong to their owner: an edit changes only our part of the text.
"""
