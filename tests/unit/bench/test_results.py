"""What is printed, from runs that were made up."""

import json

import pytest

from bench import goals
from bench.process import Run
from bench.results import compared, compared_values, waited
from bench.waiting import Waiting

MILLISECONDS = {
    goals.NOTHING: 10.0,
    goals.NOTHING_AGAIN: 10.0,
    goals.NOTHING_ELSEWHERE: 9.0,
    goals.BARE: 8.0,
    goals.HELD: 11.0,
    goals.OBSERVED: 10.0,
    goals.CONSOLE: 15.0,
    goals.TLS: 35.0,
    goals.NAIVE: 110.0,
}


def made_up(*loads: float) -> dict[str, list[Run]]:
    return {
        name: [Run(load * ms / 1000, load * ms / 1000, 0, b"", b"") for load in loads]
        for name, ms in MILLISECONDS.items()
    }


def line_of(text: str, start: str) -> str:
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {start} "))
    return line


def test_each_goal_gets_its_own_verdict_whatever_the_load() -> None:
    text = compared(made_up(1, 2, 3))
    held = line_of(text, f"{goals.HELD} / {goals.NOTHING}")
    assert "1.100" in held
    assert held.endswith(" met |")
    assert line_of(text, f"{goals.OBSERVED} / {goals.NOTHING}").endswith("met, stretch too |")
    assert line_of(text, f"{goals.CONSOLE} / {goals.NOTHING}").endswith("missed |")


def test_slow_calls_among_many_that_wait_are_said_to_miss_their_goal() -> None:
    few = Waiting(1, 0.001, 40_000_000, None, 0.001, 0.001, 0.001, 0.001)
    many = Waiting(1000, 0.2, 90_000_000, 50_000.0, 0.001, 0.001, 0.001, 0.011)
    text = waited([few, many], [0.001])
    assert "Of 1000: at most 60 kB each: met; another call's p99 at most 10 ms: missed." in text


def test_half_of_the_killed_decide_the_verdict_and_the_slowest_is_shown() -> None:
    one = Waiting(1, 0.001, None, None, 0.001, 0.001, 0.001, 0.001)
    text = waited([one], [0.001, 0.002, 0.3])
    assert "after 2.0 ms, at worst 300.0 (median of 3; goal <= 50): met." in text


def test_the_values_can_be_written_as_json() -> None:
    found = json.loads(json.dumps(compared_values(made_up(1, 2))))
    assert [goal["ratio"]["median"] for goal in found["goals"]][:3] == pytest.approx(
        [1.1, 1, 11 / 9]
    )
    assert found["same_against_same"] == {"low": 1.0, "median": 1.0, "high": 1.0}
