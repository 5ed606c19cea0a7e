"""What a terminal is sent to call a person: one whole sequence, never broken open by an agent."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.config import SEQUENCES as SETTINGS_KNOW
from crabhook.ui.full.notify import SEQUENCES, called_by, notification, title, told_to_program
from crabhook.ui.options import Attention, CardKind
from tests.support.sitting import Sitting

SHAPES = {
    "osc9": r"\x1b\]9;crabhook: [^\x00-\x1f\x7f-\x9f;]*\x1b\\",
    "osc777": r"\x1b\]777;notify;crabhook;[^\x00-\x1f\x7f-\x9f;]*\x1b\\",
    "osc99": r"\x1b\]99;i=crabhook;[^\x00-\x1f\x7f-\x9f;]*\x1b\\",
}
HOSTILE = "\x1b]0;owned\x07\x1b\\\x9c\x9d;\u202e\n\x00" * 3


def cards(count: int = 1, tool: str = "Bash", **fields: Any) -> Sitting:
    sitting = Sitting()
    for number in range(count):
        sitting.ask(tool, session_id=f"s{number}", **fields)
    return sitting


def test_settings_know_the_same_sequences() -> None:
    assert tuple(SEQUENCES) == SETTINGS_KNOW


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_notification_tells_who_asks(sequence: str) -> None:
    sent = notification(cards(3).desk.waiting(), sequence)
    assert "#1 Bash api-server and 2 more" in sent
    assert re.fullmatch(SHAPES[sequence], sent)


@pytest.mark.parametrize("sequence", SEQUENCES)
@given(st.text(alphabet=st.sampled_from(HOSTILE + "ab"), min_size=1))
def test_no_agents_text_ends_a_sequence_or_begins_another(sequence: str, text: str) -> None:
    sitting = cards(1, text, cwd=f"/{text}")
    sent = notification(sitting.desk.waiting(), sequence)
    assert re.fullmatch(SHAPES[sequence], sent)
    assert len(sent) < 200


def test_inside_tmux_the_sequence_is_passed_on_whole() -> None:
    sent = notification(cards().desk.waiting(), "osc9", in_tmux=True)
    assert sent.startswith("\x1bPtmux;\x1b\x1b]9;")
    assert sent.endswith("\x1b\x1b\\\x1b\\")
    inner = sent.removeprefix("\x1bPtmux;").removesuffix("\x1b\\").replace("\x1b\x1b", "\x1b")
    assert re.fullmatch(SHAPES["osc9"], inner)


def test_the_title_counts() -> None:
    assert (title(0), title(3)) == ("crabhook", "crabhook (3)")


def test_each_way_calls_for_its_own_kinds() -> None:
    sitting = cards(1)
    sitting.happen("Stop")
    attention = Attention(bell=frozenset({CardKind.STOP}), notify=frozenset(CardKind))
    called = called_by(attention, sitting.desk.waiting())
    assert {name: [card.number for card in found] for name, found in called.items()} == {
        "bell": [2],
        "notify": [1, 2],
        "command": [],
    }


def test_a_program_learns_numbers_and_a_kind_and_no_text_of_an_agents() -> None:
    told = told_to_program(cards(2, HOSTILE).desk.waiting())
    assert told == {"CRABHOOK_CARD": "2", "CRABHOOK_KIND": "call", "CRABHOOK_CARDS": "2"}
