"""The doctor: is crabhook in order for an agent, and if not, which command mends it.

`checks` look and judge, one file a subject; `table.py` is their order.  What
they have in common stands beside them: where to look (`facts`), what a hook's
entry says (`entry`), and how a server is asked whether it is there (`probe`).
The doctor changes nothing: what mends is said, and left to its owner.
"""
