"""What a shell line does, read with a grammar: its commands, redirects, and hidden commands.

`read.read_script` is the door. Nothing here knows rules. Two questions need two kinds of care. What
*may* happen: a denial needs one hit, so every guess counts. What *must* be all that happens: an
allow needs everything, so any doubt is a `trouble`.
"""
