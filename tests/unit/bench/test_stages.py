"""The stages of a decision, timed once for real."""

from __future__ import annotations

import pytest

from bench import stages
from bench.found import Wishes


def test_the_stages_make_up_a_call_and_none_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "CALLS", 20)
    monkeypatch.setattr(stages, "WARMING", 5)
    found = stages.measure(Wishes(2, []))
    assert all(len(each) == 20 for each in found.values["stages"].values())
    assert all(second > 0 for each in found.values["stages"].values() for second in each)
    assert "all of it" in found.text
