"""Both desks ask for the second yes in the same cases, and none of them in fewer than before."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product
from operator import and_
from typing import cast

import pytest

from crabhook.desk.replica import Replica
from crabhook.model.card import NO_RISK, Card, Effect, Leg, Level, Risk
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Phase
from crabhook.present.reading import ReadingLog
from crabhook.present.sentence import dangers
from crabhook.present.summary import is_question
from crabhook.ui.commands.words import LineError
from crabhook.ui.full.dialogs.decide import second_yes
from crabhook.ui.plain.person import DetailLevel, PersonFormat
from crabhook.ui.plain.second_yes import SecondYes
from tests.support.examples import share

DANGEROUS = Risk(Level.DANGER, (Effect("deletes", Level.DANGER, "deletes all of it"),))
UNASKED = ("auto", "bypassPermissions", "dontAsk", "yolo")
MODES = ("", "default", "plan", "acceptEdits", *UNASKED, "a mode of tomorrow")
EDITS = {
    "claude": "Write",
    "codex": "apply_patch",
    "gemini": "replace",
    "qwen": "edit",
    "copilot": "Edit",
    "opencode": "edit",
    "acp": "Edit",
    "aap": "Edit",
}
NO_DESK = cast("Replica", None)  # of an unchanged call nobody is asked


def tools(platform: str) -> list[ToolCall]:
    own = PLATFORMS[platform].tools
    return [ToolCall(name, {}) for name in ("Bash", EDITS[platform], *own.questions, *own.plans)]


def card_of(events: list[Event], risk: Risk) -> Card:
    legs = tuple(Leg(str(place), event, 100.0) for place, event in enumerate(events))
    choices = reduce(and_, (PLATFORMS[one.platform].choices(one) for one in events))
    return Card(1, legs, 0.0, choices=choices, risk=risk)


def cards(platform: str) -> Iterator[Card]:
    """Yield a card of each event, and one of each two events that meet on a card."""
    events = PLATFORMS[platform].events
    before, asking = (
        [name for name, row in events.items() if row.phase is phase]
        for phase in (Phase.BEFORE, Phase.ASKING)
    )
    met = [*([name] for name in events), *([*two] for two in product(before, asking))]
    for names, tool, mode, risk in product(met, tools(platform), MODES, (NO_RISK, DANGEROUS)):
        yield card_of(
            [Event(platform, one, tool=tool, permission_mode=mode) for one in names], risk
        )


def screen_asks(card: Card, decision: Decision) -> bool:
    return bool(second_yes(card, decision, NO_DESK))


def lines_ask(card: Card, decision: Decision) -> bool:
    desk = SecondYes(NO_DESK, PersonFormat(NO_DESK, DetailLevel.FULL))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReadingLog, "left", lambda *_, **__: 0)
        try:
            desk.ask(card, decision, plain=True, give=lambda: None)
        except LineError as error:
            return "wants a second yes" in error.wrong
    return False


def screen_asked(card: Card, decision: Decision) -> bool:
    """What the screen asked about when the two desks had a law each."""
    verdict, mode, tool = decision.verdict, card.event.permission_mode, card.event.tool
    if verdict in (Verdict.ALLOW, Verdict.RETRY) and Beside.OUTPUT not in card.choices.beside:
        return bool(dangers(card.risk))
    if decision.halt or is_question(card.event):
        return False
    if any(leg.event.name not in ("PreToolUse", "BeforeTool") for leg in card.requests):
        return False
    if verdict is Verdict.ASK:
        return mode in ("bypassPermissions", "yolo")
    edits = mode == "acceptEdits" and tool is not None and tool.name in ("Write", "apply_patch")
    return verdict in (Verdict.PASS, Verdict.DEFER) and (edits or mode in UNASKED)


def lines_asked(card: Card, decision: Decision) -> bool:
    """What the plain desk asked about then, but where the call ran or was refused already."""
    if Beside.OUTPUT in card.choices.beside or not dangers(card.risk):
        return False
    if decision.verdict in (Verdict.ALLOW, Verdict.RETRY):
        return True
    passes = decision.verdict in (Verdict.PASS, Verdict.DEFER) and not decision.halt
    rows = [PLATFORMS[leg.event.platform].events[leg.event.name] for leg in card.requests]
    comes = any(row.phase in (Phase.BEFORE, Phase.ASKING) for row in rows)
    asks = is_question(card.event)  # which no mode answers
    runs = card.event.platform != "aap"  # a framework runs nothing that was not allowed
    return runs and comes and not asks and passes and card.event.permission_mode in UNASKED


@pytest.mark.parametrize("platform", PLATFORMS)
def test_both_desks_ask_the_second_yes_alike_and_never_less_than_before(platform: str) -> None:
    decisions = [Decision(verdict, halt=halt) for verdict, halt in product(Verdict, ("", "enough"))]
    asked = 0
    for card, decision in share([*product(cards(platform), decisions)], len(platform)):
        about = card.requests, card.risk, decision
        asks = screen_asks(card, decision)
        assert asks == lines_ask(card, decision), about
        assert asks >= screen_asked(card, decision), about
        assert asks >= lines_asked(card, decision), about
        asked += asks
    assert asked


def test_a_mode_that_asks_nobody_makes_an_allow_of_no_opinion_on_either_leg() -> None:
    call = ToolCall("Bash", {})
    before = Event("claude", "PreToolUse", tool=call, permission_mode="bypassPermissions")
    asking = Event("claude", "PermissionRequest", tool=call)
    assert card_of([before], NO_RISK).choices.runs == {Verdict.PASS, Verdict.DEFER, Verdict.ASK}
    assert (
        card_of([asking, before], NO_RISK).choices.runs == card_of([before], NO_RISK).choices.runs
    )
