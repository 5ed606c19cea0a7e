"""The operator's choices."""

from __future__ import annotations

from crabhook.ui.options import DeskOptions


def test_times_are_given_in_milliseconds_and_used_in_seconds() -> None:
    options = DeskOptions(arming_ms=250, take_back_ms=1500)
    assert (options.arming, options.take_back) == (0.25, 1.5)


def test_the_defaults_guard_against_slips() -> None:
    options = DeskOptions()
    assert options.arming_ms > 0
    assert options.take_back_ms > 0
