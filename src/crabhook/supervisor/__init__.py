"""A supervisor for Stop and AskUserQuestion: a reviewer looks before a person has to.

`running` is the hook's process, which counts what was reviewed, and `contract` what goes in and
comes out.  `reviewers` are the operator at the desk and a command of the owner's; `claude` is
such a command, ready made.
"""
