"""Writes crabhook's hooks into an agent's settings, and takes them out again.

The settings belong to their owner: the text is edited in place, so whatever
is not ours stays as it was, down to its blanks and the way a number is written.
"""
