"""A supervisor for Stop and AskUserQuestion: a reviewer looks before a person has to.

`running` is the hook's process, which counts reviews; `contract` is its input and output.
`reviewers` are the operator at the desk and a command of the owner's; `claude` is a ready reviewer.
"""
