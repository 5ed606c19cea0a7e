"""The doctor: is crabhook in order for an agent, and if not, which command mends it.

`checks` look and judge, one file a subject; `examination` is their order.  They share where
to look (`facts`), what a hook's entry says (`entry`), and how a server is asked whether it is
there (`asking`).  `proof` starts the real agent.  The doctor changes nothing: it names the
command that mends, and leaves it to the owner to run it.
"""
