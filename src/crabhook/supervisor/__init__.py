"""A supervisor for Stop and AskUserQuestion: somebody looks before a person has to.

`running` is the hook's process, `contract` what goes in and comes out,
`iteration` the count of what was reviewed; a reviewer is the operator at the
desk or a command of the owner's, and `claude` is such a command, ready made.
"""
