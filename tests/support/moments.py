"""Every moment a key can be pressed in: each dialog, before each kind of card, as a desk can stand."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from crabhook.model.actor import OrderKind
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from crabhook.ui.full.dialogs.card import FormPage, QueueView, TextPage
from crabhook.ui.full.dialogs.edit import EditPage, Edits
from crabhook.ui.full.dialogs.help import Finder, KeySearch, KeysPage, Palette
from crabhook.ui.full.dialogs.lists import EntryPage, HistoryView, SessionsView
from crabhook.ui.full.dialogs.mcp_form import FillPage
from crabhook.ui.full.dialogs.page import EverythingPage
from crabhook.ui.full.dialogs.plan import NotesPage
from crabhook.ui.full.dialogs.prompts import (
    AskLine,
    InputLine,
    Menu,
    Purpose,
    SecondYesPage,
    YesPage,
    statement,
)
from crabhook.ui.full.dialogs.question import ReviewPage
from crabhook.ui.full.effects import Give
from tests.support.sitting import QUESTIONS, Sitting, call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crabhook.ui.full.dialog import Dialog

FORM = json.loads(
    (Path(__file__).parents[1] / "samples/claude/Elicitation.json").read_text("utf-8")
)
SUGGESTED = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}],
        "behavior": "allow",
        "destination": "session",
    }
]
PLAN = {"plan": "# one\n\ntwo"}


def _nobody(_: Sitting) -> None:
    pass


def _call(sitting: Sitting) -> None:
    sitting.ask()


def _prompt(sitting: Sitting) -> None:
    sitting.ask(hook_event_name="PermissionRequest", permission_suggestions=SUGGESTED)


def _questions(sitting: Sitting) -> None:
    sitting.ask("AskUserQuestion", QUESTIONS)


def _plan(sitting: Sitting) -> None:
    number = sitting.ask("ExitPlanMode", PLAN)
    sitting.desk.answer(number, Decision(Verdict.DENY, reason="no"))
    sitting.ask("ExitPlanMode", {"plan": "three"})
    sitting.screen.select(lambda: sitting.screen.selection.far(1))


def _form(sitting: Sitting) -> None:
    sitting.desk.ask(FORM)


def _stop(sitting: Sitting) -> None:
    sitting.happen("Stop")


def _result(sitting: Sitting) -> None:
    sitting.desk.order(Order(OrderKind.HOLD, "PostToolUse"))
    sitting.desk.ask(call(hook_event_name="PostToolUse", tool_response="done"))


def _denial(sitting: Sitting) -> None:
    sitting.desk.order(Order(OrderKind.HOLD, "PermissionDenied"))
    sitting.desk.ask(call(hook_event_name="PermissionDenied", reason="no"))


def _ended(sitting: Sitting) -> None:
    sitting.leave(sitting.ask())


def _ended_questions(sitting: Sitting) -> None:
    sitting.leave(sitting.ask("AskUserQuestion", QUESTIONS))


CARDS = (
    *(_nobody, _call, _prompt, _questions, _plan, _form, _stop, _result, _denial),
    *(_ended, _ended_questions),
)


def _held(sitting: Sitting) -> None:
    if sitting.screen.waits:
        sitting.screen.answers.give([sitting.screen.seen(sitting.card)], Decision(Verdict.PASS))


def _marked(sitting: Sitting) -> None:
    if sitting.screen.waits:
        sitting.screen.marks.turn(sitting.card)


def _away(sitting: Sitting) -> None:
    sitting.desk.order(Order(OrderKind.AWAY))


def _filtered(sitting: Sitting) -> None:
    sitting.screen.want("api")
    sitting.screen.history.want("api")


def _filtered_and_marked(sitting: Sitting) -> None:
    _filtered(sitting)
    _marked(sitting)


DESKS = (_nobody, _held, _marked, _away, _filtered, _filtered_and_marked)
PAGES = (
    *(QueueView, TextPage, FormPage, ReviewPage, FillPage, NotesPage, EverythingPage),
    *(SessionsView, HistoryView, EntryPage),
)


def _lines(sitting: Sitting) -> Iterator[Dialog]:
    def line(purpose: Purpose, *, kept: bool = False, filters: bool = False) -> InputLine:
        typed = print if filters else None
        ask = AskLine(purpose, lambda _: (), subject="it", kept=kept, typed=typed)
        return InputLine(sitting.screen, ask, None)

    yield line(Purpose.NOTE)
    yield line(Purpose.REASON)
    yield line(Purpose.MESSAGE, kept=True)
    yield line(Purpose.FILTER, filters=True)


def _dialogs(sitting: Sitting) -> Iterator[Dialog]:
    screen = sitting.screen
    yield from (page(screen) for page in PAGES)
    yield from _lines(sitting)
    menu = Menu("which?", ())
    yield from (menu, Menu("which?", (), turn=lambda _: menu))
    yield YesPage(lambda: statement(("yes?", "")), tuple)
    yield SecondYesPage(screen, Give(Decision(Verdict.ALLOW), sure="really?"))
    yield from (KeysPage(), KeySearch(finder=Finder()), Palette(0.0))
    if screen.card is not None and screen.card.event.tool is not None:
        edits = Edits(screen.desk)
        yield EditPage(edits.of(screen.card), edits, screen.desk)


def sitting_at(
    card: Callable[[Sitting], object], desk: Callable[[Sitting], object] = _nobody
) -> Sitting:
    """Return a screen before a card, at a desk that stands so."""
    sitting = Sitting(take_back_ms=2000, reasons=("too wide",))
    card(sitting)
    sitting.wait()
    desk(sitting)
    sitting.screen.history.begin()
    return sitting


@cache
def moments() -> Sequence[tuple[Sitting, Dialog]]:
    """Return each dialog at each moment, with its sitting."""
    sittings = [sitting_at(card, desk) for card, desk in product(CARDS, DESKS)]
    return [(sitting, dialog) for sitting in sittings for dialog in _dialogs(sitting)]
