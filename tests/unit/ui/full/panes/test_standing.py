"""How a card stands is told by marks and words, not by colours alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crabhook.model.actor import Operator
from crabhook.model.card import State
from crabhook.model.decision import Decision, Verdict
from crabhook.present.phrases import Clock
from crabhook.present.summary import said, to_be_said
from crabhook.server.core.local_desk import LocalDesk
from crabhook.ui.answers import HeldAnswer
from crabhook.ui.full.panes.rows import CardRow
from tests.support.seat import Seat
from tests.support.sitting import QUESTIONS, Sitting


def test_the_mark_is_hollow_until_the_card_is_armed() -> None:
    sitting = Sitting()
    sitting.ask()
    card = sitting.card
    ended = replace(card, state=State.EXPIRED)
    marks = [
        CardRow(card).mark,
        CardRow(card, selected=True).mark,
        CardRow(card, selected=True, armed=True).mark,
        CardRow(ended, selected=True).mark,
    ]
    assert marks == [" ", "▹", "▸", "▸"]
    assert CardRow(card, selected=True).number_style == "unarmed"
    assert CardRow(ended, selected=True).number_style == "ended"


def test_a_held_answer_says_what_is_sent_and_how_to_stop_it() -> None:
    sitting = Sitting()
    sitting.ask()
    held = HeldAnswer(sitting.card, 1, Decision(Verdict.ALLOW), since=10.0, due=11.0)
    standing = CardRow(sitting.card, held=held)
    sending = standing.sending(Clock(10.5, 0), 80)
    assert sending == [("allowed", "ALLOW"), ("held", " in 1 s ▓▓▓░░░ u takes it back")]
    assert CardRow(sitting.card).sending(Clock(10.5, 0), 80) == []


def test_what_is_about_to_be_said_is_what_will_have_been_said() -> None:
    sitting, allow = Sitting(), Decision(Verdict.ALLOW)
    changed = replace(allow, updated_input={"command": "ls"})
    deny = Decision(Verdict.DENY, reason="no")
    asked = {
        "Bash": ({"command": "id"}, [allow, changed, deny, Decision(Verdict.ASK)]),
        "ExitPlanMode": ({"plan": "# A"}, [allow, deny]),
        "AskUserQuestion": (QUESTIONS, [changed, deny]),
    }
    words = []
    for tool, (tool_input, decisions) in asked.items():
        sitting.ask(tool, tool_input)
        event = sitting.desk.waiting()[-1].event
        words += [(to_be_said(event, one), said(event, one)) for one in decisions]
    assert words == [
        ("ALLOW", "ALLOWED"),
        ("ALLOW edited", "ALLOWED edited"),
        ("DENY", "DENIED"),
        ("HAND BACK", "HANDED BACK"),
        ("APPROVE", "APPROVED"),
        ("SEND BACK", "SENT BACK"),
        ("ANSWER", "ANSWERED"),
        ("DENY", "DENIED"),
    ]


def test_a_marked_card_wears_a_tick_and_one_put_aside_is_dim() -> None:
    sitting = Sitting()
    sitting.ask()
    card = replace(sitting.card, snoozed_until=2000.0)
    assert (CardRow(card).tick, CardRow(card, marked=True).tick) == (" ", "✓")
    assert CardRow(card).aside
    assert CardRow(card).style == "dim"
    assert CardRow(card, selected=True).style == "selected"
    assert not CardRow(replace(card, state=State.EXPIRED)).aside


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_what_another_operator_decided_says_so_on_its_row_its_card_and_in_what_went_by(
    columns: int, rows: int
) -> None:
    sitting = Sitting(columns=columns, rows=rows)
    number, name = sitting.ask(), "request-1"
    by = Operator("ann", "Ann\u202e", "laptop", "10.0.0.9")
    Seat(LocalDesk(sitting.desk.runner, by), sitting.desk.runner).answer(
        number, Decision(Verdict.DENY, reason="not now")
    )
    sitting.desk.deliver(name)
    sitting.desk.pass_time(2)
    told = "by Ann⟨U+202E⟩ at laptop"
    row, card, feed = (line for line in sitting.rows_of_text() if told in line)
    assert f"DENIED {told}, 2 s ago" in row
    assert f"DENIED {told}, 2 s ago · not now · delivered" in card
    assert f"DENIED {told} · delivered" in feed


def test_what_was_decided_here_is_said_as_before() -> None:
    sitting = Sitting()
    sitting.desk.answer(sitting.ask(), Decision(Verdict.DENY, reason="no"))
    assert "DENIED" in sitting.text()
    assert "DENIED by" not in sitting.text()
