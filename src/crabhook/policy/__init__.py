"""Floor 1: the operator's own law, pure: no I/O and no clock, so that a ruling can be repeated.

`evaluate.Policy` is the door: it is built of rule sets and judges events.  Where our matchers are
stricter than those of Claude Code's permission rules, docs/reference/rules.md says so.
"""
