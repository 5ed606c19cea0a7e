"""What Claude Code sends on a hook's standard input: read whole or refused in words; see `payloads`.

Every row of it on either desk is visible. Every decision that an event takes is one line of JSON
that says it, with its changed input whole, and no other decision reads as an allow.
"""

from __future__ import annotations

from tests.fuzz.payloads import MUTATION, law_of, samples
from tests.fuzz.target import Target

TARGET = Target(law_of("claude"), MUTATION, lambda: samples("claude"), longest=16384)
