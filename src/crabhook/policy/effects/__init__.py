"""What a call may do, and how much can go wrong, in words for the operator.

`risk.effects_of` is the door.  It reads what the rules read, and decides nothing.
docs/reference/risk.md says what the effects and the levels mean.
"""
