"""Calls of tools, read into the parts that rules speak about.

`read.read_call` is the door.
"""
