"""Floor 1: the operator's own law, pure: no I/O and no clock, so that a ruling can be repeated.

`evaluate.Policy` is the door: it is built of rule sets and judges events.
`calls` reads a call into parts, `shell` a shell line into commands; `rulefile`
reads a rule file's text, `protected` lists what always reaches a person, `propose` makes rules
of a call.  The matchers are those of Claude Code's permission rules (the hook
protocol's section 10); where ours are stricter, docs/reference/rules.md says so.
"""
