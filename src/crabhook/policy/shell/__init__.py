"""What a shell line does, read with a grammar: its commands, redirects, and what hides in them.

`read.read_script` is the door.  Nothing here knows of rules.  Two questions
are answered with two kinds of care: what *may* happen (for a denial, which
needs one hit: every guess counts) and what *must* be all that happens (for an
allow, which needs everything: any doubt is a `trouble`).
"""
