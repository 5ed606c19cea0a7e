"""Reads hook scripts and hook configurations, and says what in them will not do what is meant.

Facts first: `python`, `shell` and `configuration` read files into values
(`script.Script`, `configuration.facts.Configuration`); `rules` are functions
from those values to findings, and know no syntax.  `protocol` is what each
agent reads, as tables.  Nothing of what is read is ever run.
"""
