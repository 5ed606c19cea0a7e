"""What each key does; which keys apply when is said in the table (`keys`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from crabhook.model.decision import Decision, Verdict
from crabhook.ui.full import moving
from crabhook.ui.full.act import Act
from crabhook.ui.full.dialogs import (
    bulk,
    decide,
    edit,
    mcp_form,
    orders,
    plan,
    question,
    suggestions,
)
from crabhook.ui.full.dialogs.decide import give
from crabhook.ui.full.filters import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crabhook.ui.full.screen import Screen

# What does something to a card, or says yes to what a page shows, and so waits
# until that is armed.
TOUCHING = frozenset(
    {
        Act.ALLOW,
        Act.ALLOW_WITH_NOTE,
        Act.EDIT,
        Act.ALWAYS,
        Act.REMEMBER,
        Act.ALLOW_WITH_MODE,
        Act.DENY,
        Act.DENY_AND_INTERRUPT,
        Act.KEEP_GOING,
        Act.RETRY,
        Act.HALT,
        Act.TELL_USER,
        Act.HUSH,
        Act.HAND_BACK,
        Act.DEFER,
        Act.PASS,
        Act.DECLINE,
        Act.CANCEL,
        Act.SNOOZE,
        Act.CHOOSE,
        Act.CHOOSE_NUMBER,
        Act.OWN_WORDS,
        Act.REMARK,
        Act.SEND,
        Act.ACCEPT,
        Act.FILL,
        Act.FILL_CHOICE,
        Act.FILL_NUMBER,
        Act.CLEAR_FIELD,
        Act.NOTE,
        Act.PICK,
        Act.PICK_NUMBER,
        Act.CONFIRM,
        Act.ENTER_LINE,
    }
)


def _confirm(screen: Screen) -> None:
    """Do what was proposed."""
    proposal, screen.proposal = screen.proposal, None
    screen.mode = Mode.QUEUE
    if proposal is not None:
        proposal.carry_out()


def _pick(screen: Screen, place: int) -> None:
    """Choose a row of the list; one that is not there leaves the list as it is."""
    menu = screen.menu
    if menu is not None and 0 <= place < len(menu.choices):
        screen.menu = None
        screen.come_back()
        menu.pick(place)


def _pick_marked(screen: Screen) -> None:
    if screen.menu is not None:
        _pick(screen, screen.menu.cursor)


def _turn(screen: Screen) -> None:
    """Change what the list lets one change."""
    if screen.menu is not None and screen.menu.turn is not None:
        screen.menu.turn()


_Doing: TypeAlias = "Callable[[Screen, str], object]"


def _gives(verdict: Verdict) -> _Doing:
    """Return the act that gives the selected card a verdict with nothing beside it."""
    return lambda screen, _: give(screen, Decision(verdict))


def _decides_marked(verdict: Verdict) -> _Doing:
    return lambda screen, _: bulk.decide_marked(screen, Decision(verdict))


ACTS: Mapping[Act, _Doing] = {
    Act.UP: lambda screen, _: moving.move(screen, -1),
    Act.DOWN: lambda screen, _: moving.move(screen, +1),
    Act.FIRST: lambda screen, _: moving.go_far(screen, -1),
    Act.LAST: lambda screen, _: moving.go_far(screen, +1),
    Act.PAGE_UP: lambda screen, _: moving.page(screen, -1),
    Act.PAGE_DOWN: lambda screen, _: moving.page(screen, +1),
    Act.OPEN: lambda screen, _: moving.enter(screen),
    Act.BACK: lambda screen, _: moving.back(screen),
    Act.HELP: lambda screen, _: screen.go(Mode.HELP),
    Act.QUIT: lambda screen, _: moving.leave_desk(screen),
    Act.ALLOW: lambda screen, _: decide.allow(screen),
    Act.ALLOW_WITH_NOTE: lambda screen, _: decide.allow_with_note(screen),
    Act.EDIT: lambda screen, _: edit.open_editor(screen),
    Act.ALWAYS: suggestions.offer_places,
    Act.REMEMBER: lambda screen, _: suggestions.offer_rules(screen),
    Act.ALLOW_WITH_MODE: lambda screen, _: suggestions.offer_modes(screen),
    Act.DENY: lambda screen, _: decide.deny(screen, interrupt=False),
    Act.DENY_AND_INTERRUPT: lambda screen, _: decide.deny(screen, interrupt=True),
    Act.KEEP_GOING: lambda screen, _: decide.keep_going(screen),
    Act.RETRY: _gives(Verdict.RETRY),
    Act.HALT: lambda screen, _: decide.halt(screen),
    Act.TELL_USER: lambda screen, _: decide.tell_user(screen),
    Act.HUSH: lambda screen, _: decide.hush(screen),
    Act.HAND_BACK: _gives(Verdict.ASK),
    Act.DEFER: _gives(Verdict.DEFER),
    Act.PASS: _gives(Verdict.PASS),
    Act.DECLINE: _gives(Verdict.DECLINE),
    Act.CANCEL: _gives(Verdict.CANCEL),
    Act.TAKE_BACK: lambda screen, _: decide.take_back(screen),
    Act.EXTEND: lambda screen, _: decide.extend(screen),
    Act.SNOOZE: lambda screen, _: decide.snooze(screen),
    Act.CHOOSE_NUMBER: question.choose_number,
    Act.CHOOSE: lambda screen, _: question.choose(screen),
    Act.OWN_WORDS: lambda screen, _: question.own_words(screen),
    Act.REMARK: lambda screen, _: question.remark(screen),
    Act.NEXT_QUESTION: lambda screen, _: question.next_question(screen),
    Act.QUESTION_BEFORE: lambda screen, _: question.go_question(screen, -1),
    Act.QUESTION_AFTER: lambda screen, _: question.go_question(screen, +1),
    Act.REVIEW: lambda screen, _: question.review(screen),
    Act.SEND: lambda screen, _: question.send(screen),
    Act.ACCEPT: lambda screen, _: mcp_form.accept(screen),
    Act.FILL: lambda screen, _: mcp_form.enter(screen),
    Act.FILL_CHOICE: lambda screen, _: mcp_form.choose(screen),
    Act.FILL_NUMBER: lambda screen, key: mcp_form.choose(screen, int(key)),
    Act.FIELD_BEFORE: lambda screen, _: mcp_form.go_field(screen, -1),
    Act.FIELD_AFTER: lambda screen, _: mcp_form.go_field(screen, +1),
    Act.CLEAR_FIELD: lambda screen, _: mcp_form.clear(screen),
    Act.NOTE_LINES: lambda screen, _: plan.begin(screen),
    Act.NOTE: lambda screen, _: plan.note(screen),
    Act.UNNOTE: lambda screen, _: plan.unnote(screen),
    Act.SEND_NOTES: lambda screen, _: plan.send(screen),
    Act.CHANGES: lambda screen, _: plan.changes(screen),
    Act.BARE: lambda screen, _: screen.bare_or_cover(),
    Act.MARK: lambda screen, _: bulk.mark(screen),
    Act.MARK_ALIKE: lambda screen, _: bulk.mark_alike(screen),
    Act.UNMARK_ALL: lambda screen, _: screen.marks.clear(),
    Act.ALLOW_MARKED: _decides_marked(Verdict.ALLOW),
    Act.DENY_MARKED: lambda screen, _: bulk.deny_marked(screen),
    Act.HAND_BACK_MARKED: _decides_marked(Verdict.ASK),
    Act.PASS_MARKED: _decides_marked(Verdict.PASS),
    Act.ORDERS: lambda screen, _: orders.offer_orders(screen),
    Act.GO_AWAY: lambda screen, _: orders.go_away(screen),
    Act.COME_BACK: lambda screen, _: orders.come_back(screen),
    Act.PICK: lambda screen, _: _pick_marked(screen),
    Act.TURN: lambda screen, _: _turn(screen),
    Act.PICK_NUMBER: lambda screen, key: _pick(screen, int(key) - 1),
    Act.CONFIRM: lambda screen, _: _confirm(screen),
    Act.ENTER_LINE: lambda screen, _: decide.enter_line(screen),
    Act.LEAVE_LINE: lambda screen, _: screen.leave_line(),
    Act.EARLIER_LINE: lambda screen, _: decide.recall(screen, -1),
    Act.LATER_LINE: lambda screen, _: decide.recall(screen, +1),
    Act.COMPARE: lambda screen, _: edit.compare(screen),
    Act.LEAVE_EDIT: lambda screen, _: edit.leave_editor(screen),
    Act.OUTSIDE_EDITOR: lambda screen, _: edit.open_outside(screen),
}
