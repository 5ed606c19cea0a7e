from typing import Any

import pytest

from crabhook.desk.acts import Reach
from crabhook.ui.commands.parse import (
    LineTarget,
    Naming,
    alike,
    first_alike,
    named_cards,
    read_target,
)
from crabhook.ui.commands.words import WORDS, LineError
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import bash, sample
from tests.support.rows import every_row

DENY = WORDS["deny"]


@every_row(
    "text, target, rest",
    [
        ("allow", LineTarget(), "allow"),
        ("7 allow", LineTarget(Naming.NUMBERS, (7,)), "allow"),
        ("#7,3 allow", LineTarget(Naming.NUMBERS, (7, 3)), "allow"),
        ("all", LineTarget(Naming.ALL), ""),
        ("all deny x", LineTarget(Naming.ALL), "deny x"),
        ("allow-all x", LineTarget(), "allow-all x"),
        ("Session=Ab deny x", LineTarget(Naming.SESSION, session="Ab"), "deny x"),
        ("same=7 allow", LineTarget(Naming.SAME, (7,)), "allow"),
        ("same=x allow", LineTarget(), "same=x allow"),
        ("7,allow", LineTarget(), "7,allow"),
        ("1234567890 allow", LineTarget(), "1234567890 allow"),
    ],
)
def test_a_target_is_what_a_line_begins_with(text: str, target: LineTarget, rest: str) -> None:
    assert read_target(text) == (target, rest)


def test_a_target_reaches_one_the_named_or_any() -> None:
    reaches = [read_target(text)[0].reach for text in ("x", "7", "7,7", "7,8", "same=7", "all")]
    one, named = Reach.ONE, Reach.NAMED
    assert reaches == [one, one, one, named, named, Reach.ANY]
    assert read_target("session=a x")[0].reach is Reach.ANY


def named(desk: PlayedDesk, text: str) -> list[int]:
    return [card.number for card in named_cards(read_target(text)[0], desk, DENY)]


def test_the_named_cards_are_found_ended_ones_by_their_number_too() -> None:
    desk = PlayedDesk()
    first = desk.ask(bash("a", "s1"))
    desk.ask(bash("b", "s1"))
    desk.ask(bash("c", "t2"))
    desk.leave(first)
    assert named(desk, "3,1") == [3, 1]
    assert named(desk, "all") == [2, 3]
    assert named(desk, "session=s") == [2]
    with pytest.raises(LineError, match="there is no #9"):
        named(desk, "2,9")
    with pytest.raises(LineError, match="no session"):
        named(desk, "session=u")


def test_nobody_is_named_by_all_where_nothing_waits() -> None:
    with pytest.raises(LineError, match="nothing waits"):
        named(PlayedDesk(), "all")


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"session_id": "other", "tool_use_id": "y"}, True),
        ({"tool_use_id": "y", "tool_input": {"b": 1, "a": [True]}}, True),
        ({"tool_use_id": "y", "tool_input": {"a": [1], "b": 1}}, False),
        ({"tool_use_id": "y", "tool_input": {"a": [True], "b": 1, "c": None}}, False),
        ({"tool_use_id": "y", "cwd": "/elsewhere"}, False),
        ({"tool_use_id": "y", "tool_name": "Other"}, False),
        ({"hook_event_name": "PermissionRequest", "session_id": "other"}, False),
    ],
)
def test_the_same_is_the_same_tool_input_and_folder(change: dict[str, Any], same: bool) -> None:
    desk = PlayedDesk()
    call = {**bash("x"), "tool_input": {"a": [True], "b": 1}}
    desk.ask(call)
    desk.ask({**call, **change})
    one, other = desk.waiting()
    assert alike(one, desk.waiting()) == ([other] if same else [])
    assert first_alike(other, desk.waiting()) == (one if same else None)
    assert first_alike(one, desk.waiting()) is None
    assert named(desk, "same=1") == ([1, 2] if same else [1])


def test_events_about_no_tool_are_never_the_same() -> None:
    desk = PlayedDesk()
    for session in "ab":
        desk.ask(sample("Elicitation", session_id=session))
    assert alike(desk.waiting()[0], desk.waiting()) == []
