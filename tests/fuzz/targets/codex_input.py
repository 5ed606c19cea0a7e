"""What Codex sends on a hook's standard input; see `payloads`."""

from __future__ import annotations

from tests.fuzz.payloads import MUTATION, law_of, samples
from tests.fuzz.target import Target

TARGET = Target(law_of("codex"), MUTATION, lambda: samples("codex"), longest=16384)
