"""What Claude Code sends on a hook's standard input; see `payloads`."""

from __future__ import annotations

from tests.fuzz.payloads import MUTATION, law_of, samples
from tests.fuzz.target import Target

TARGET = Target(law_of("claude"), MUTATION, lambda: samples("claude"), longest=16384)
