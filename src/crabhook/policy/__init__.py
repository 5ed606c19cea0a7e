"""The operator's rules, pure: no I/O and no clock, so that a ruling can be repeated.

`evaluate.Policy` is the door. docs/reference/rules.md says where our matchers are stricter than
Claude Code's.
"""
