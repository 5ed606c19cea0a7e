"""Reads hook scripts and hook configurations, and says what in them will not work as meant.

Facts first: `python`, `shell` and `configuration` read files into values (`script.Script`,
`configuration.read.Configuration`). `rules` turn those values into findings and know no syntax.
Tables of each platform say what its agent reads. The linter runs nothing that it reads.
"""
