"""Reads hook scripts and hook configurations, and says what in them will not do what is meant.

Facts first: `python`, `shell` and `configuration` read files into values (`script.Script`,
`configuration.read.Configuration`).  `rules` are functions from those values to findings, and
know no syntax.  What each agent reads is a table of its platform.  Nothing that is read is
ever run.
"""
