"""The verdicts on decisions by a rule, from blocks that were made up."""

from __future__ import annotations

from bench.asking import Asked
from bench.deciding import EIGHT, EIGHT_FRESH, ONE, Block, Blocks, Way, allowed, decided_text


def blocks(latency: float, warm: float, fresh: float) -> Blocks:
    """Return as many decisions a second as said, on eight warm and eight fresh connections."""

    def block(each: float, rate: float) -> list[Block]:
        return [Block(Asked([each] * 100, 100 / rate, 0.01), 0.05)]

    ways: dict[Way, list[Block]] = {
        ONE: block(latency, 500),
        EIGHT: block(0.002, warm),
        EIGHT_FRESH: block(0.003, fresh),
    }
    return {("the recorded calls", way): found for way, found in ways.items()}


def test_each_goal_has_its_own_verdict() -> None:
    text = decided_text(blocks(0.0009, 3_000, 1_199))
    assert "at most 1 ms: met; at least 3000 a second on eight warm ones: met; " in text
    assert "1200 on fresh ones: missed." in text


def test_the_processor_time_is_that_of_one_call() -> None:
    row = decided_text(blocks(0.002, 1_000, 1_000)).splitlines()[2]
    assert row.split("|")[3:8] == [
        "      500 ",
        "      2.00 ",
        "   2.00 ",
        "            0.50 ",
        "     0.10 ",
    ]


def test_only_an_allow_is_an_allow() -> None:
    assert allowed(b'{"hookSpecificOutput": {"permissionDecision": "allow"}}')
    assert not allowed(b'{"hookSpecificOutput": {"permissionDecision": "deny"}}')
    assert not allowed(b"")
