"""What a call may do, and how bad that is, in words for the operator.

`risk.effects_of` is the door. It reads what the rules read and decides nothing.
docs/reference/risk.md explains effects and levels.
"""
