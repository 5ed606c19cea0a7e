"""A new body of a card is one block and one row, and comes through every face whole."""

from __future__ import annotations

from typing import Any

import pytest

from crabhook.cli.verbs.attached import Teller
from crabhook.model.decision import Decision, Verdict
from crabhook.present.body import CHOOSERS, body
from crabhook.present.card import card_document
from crabhook.ui.plain.output import PROGRAMS
from crabhook.ui.plain.person import DetailLevel
from crabhook.ui.web.blocks import drawn
from crabhook.ui.web.texts import Pen
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import sitting
from tests.support.sitting import Sitting, call
from tests.support.toy_body import ROW, Checklist

STEPS = [{"step": "Read `auth.ts`", "done": True}, {"step": "Test it", "done": False}]
INPUT = {"checklist": STEPS, "owner": "ann"}
DONE, OPEN = "- done: Read `auth.ts`", "- open: Test it"


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, row in ROW.items():
        monkeypatch.setitem(CHOOSERS, key, row)


def asking(tool_input: dict[str, Any]) -> PlayedDesk:
    desk = PlayedDesk()
    desk.ask(call("Steps", tool_input))
    return desk


def test_it_is_one_block_that_leads() -> None:
    (card,) = asking(INPUT).waiting()
    asked = body(card.event)
    assert asked.lead == asked.blocks == asked.of(Checklist)
    assert asked.rest(asked.lead) == {"owner": "ann"}


def test_the_full_screen_draws_it_as_a_list_and_the_history_too() -> None:
    sitting = Sitting(rows=40)
    number = sitting.ask("Steps", INPUT)
    drawn = sitting.text()
    assert "│ · done: Read `auth.ts`" in drawn  # as a list in Markdown
    assert '"checklist"' not in drawn
    assert "owner" in drawn
    sitting.desk.answer(number, Decision(Verdict.ALLOW))
    sitting.press("H")
    sitting.wait()
    sitting.press("enter")
    assert "│ · open: Test it" in sitting.text()


def test_the_full_screen_takes_no_allow_before_all_of_it_was_in_view() -> None:
    sitting = Sitting()
    sitting.ask("Steps", {"checklist": STEPS * 40})
    sitting.wait()
    sitting.press("a")
    sitting.wait()
    assert sitting.verdicts() == []
    sitting.press(*["pagedown"] * 8)
    sitting.wait()
    sitting.press("a")
    sitting.wait()
    assert sitting.verdicts() == [(1, Verdict.ALLOW)]


def test_the_plain_desk_prints_it_for_programs() -> None:
    (card,) = asking(INPUT).waiting()
    lines = PROGRAMS.block(card, 0.0)
    at = lines.index("  checklist:")
    assert lines[at + 1 : at + 4] == [f"    {DONE}", f"    {OPEN}", "  other input:"]


async def test_the_plain_desk_prints_it_for_a_person_and_knows_when_it_did_not() -> None:
    async with sitting(asking(INPUT), detail=DetailLevel.FULL) as sits:
        assert f"    {OPEN}" in sits.everything
    async with sitting(asking(INPUT), detail=DetailLevel.BRIEF) as sits:
        assert f"    {OPEN}" not in sits.everything
        assert "  not all of it is printed: 1 show prints it" in sits.everything
        assert f"    {OPEN}" in await sits.type("1 show")


def test_the_page_draws_it_as_a_list_and_no_raw_json() -> None:
    (card,) = asking(INPUT).waiting()
    html = drawn(card_document(card).request, Pen())
    assert "open: Test it" in html
    assert "checklist" not in html


def test_verbs_tell_it_as_it_was_sent() -> None:
    (card,) = asking(INPUT).waiting()
    assert Teller(lambda: 0.0, lambda _: ()).card(card)["input"] == INPUT


@pytest.mark.parametrize("steps", [[], [5], [{"step": "x"}], "x", [{**STEPS[0], "more": 1}]])
def test_what_is_no_such_list_is_shown_as_it_was_sent(steps: Any) -> None:
    (card,) = asking({"checklist": steps}).waiting()
    assert body(card.event).blocks == ()
    assert body(card.event).rest(()) == {"checklist": steps}
