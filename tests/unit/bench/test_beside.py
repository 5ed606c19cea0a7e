"""The comparison with what one would use instead, from runs that were made up."""

from __future__ import annotations

import json

import pytest

from bench import goals
from bench.beside import instead_text, instead_values, posts_text
from bench.candidate import LeftOut
from bench.process import Run
from bench.results import compared

JQ_MISSING = [LeftOut(goals.JQ, "there is no jq here")]


def made_up() -> dict[str, list[Run]]:
    """Two rounds, the second twice as slow in everything; no jq, no Node client but one."""
    walls = dict.fromkeys((*goals.FLOORS, *goals.OURS), 0.01)
    walls |= {goals.NAIVE: 0.1, goals.NODE: 0.05, goals.CURL: 0.008, goals.UV: 0.03}
    runs = {
        name: [Run(load * wall, load * wall, 0, b"", b"") for load in (1, 2)]
        for name, wall in walls.items()
    }
    calls = [0.0005] * 99
    runs[goals.POST_KEPT] = [
        Run(0.0005, 0.0001, 0, b"", b"", [*calls, slowest]) for slowest in (0.02, 0.03)
    ]
    return runs


def test_each_alternative_has_its_ratio_and_one_that_did_not_run_its_reason() -> None:
    text = instead_text(made_up(), JQ_MISSING)
    (node,) = (line for line in text.splitlines() if goals.NODE in line)
    assert "| 0.200 | 0.200-0.200 |" in " ".join(node.split())
    assert f"| {goals.JQ}" not in text
    assert f"Left out: {goals.JQ}: there is no jq here." in text


def test_posts_are_judged_by_all_their_calls_and_not_by_the_middle_of_each_round() -> None:
    text = posts_text(made_up())
    assert f"{goals.POST_KEPT}, p50 at most 1 ms: 0.50: met." in text
    assert f"{goals.POST_KEPT}, p99 at most 5 ms: 0.50: met, stretch too." in text
    runs = made_up()
    runs[goals.POST_KEPT] = [Run(0.0005, 0.0001, 0, b"", b"", [0.0005] * 49 + [0.02])] * 2
    assert f"{goals.POST_KEPT}, p99 at most 5 ms: 20.00: missed." in posts_text(runs)


def test_what_did_not_run_is_said_to_be_not_measured() -> None:
    runs = made_up()
    del runs[goals.POST_KEPT], runs[goals.NODE]
    assert f"{goals.POST_KEPT}, p99 at most 5 ms: not measured." in posts_text(runs)
    (node,) = (line for line in compared(runs).splitlines() if goals.NODE in line)
    assert node.endswith("not measured |")


def test_the_values_hold_the_ratios_the_verdicts_and_what_is_missing() -> None:
    found = json.loads(json.dumps(instead_values(made_up(), JQ_MISSING)))
    assert found["installed_hook_to"][goals.CURL]["median"] == pytest.approx(1.25)
    assert [one["verdict"] for one in found["limits"]] == ["met", "met, stretch too"]
    assert found["left_out"] == {goals.JQ: "there is no jq here"}
