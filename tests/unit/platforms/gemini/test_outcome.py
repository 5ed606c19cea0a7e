"""What ends a wait, or a call, says how; what ends none says nothing."""

import pytest

from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.platforms.gemini.events import EVENTS


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("BeforeAgent", "new prompt"),
        ("AfterAgent", "the agent's turn ended"),
        ("SessionEnd", "its session ended"),
        ("AfterTool", "it ran"),  # which ends no wait, but tells of a call that is over
    ],
)
def test_what_ends_a_wait_says_why(name: str, said: str) -> None:
    assert PLATFORMS["gemini"].outcome(Event("gemini", name)) == said


def test_what_ends_none_says_nothing() -> None:
    quiet = {*EVENTS, "Brand-New"} - {"BeforeAgent", "AfterAgent", "SessionEnd", "AfterTool"}
    assert not any(PLATFORMS["gemini"].outcome(Event("gemini", name)) for name in quiet)
