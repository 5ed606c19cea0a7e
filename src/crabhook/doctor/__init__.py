"""The doctor: is crabhook in order for an agent, and if not, which command mends it.

`checks` has one file a subject; `examination` orders them. They share `facts` (where to look),
`entry` (a hook's entry) and `processes` (what a program or a server says).
`live_check` starts the real agent.

The doctor changes nothing: it names the mending command for the owner.
"""
