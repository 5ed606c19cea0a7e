"""What was decided, in one line for people."""

from __future__ import annotations

import pytest

from crabhook.model.actor import (
    OWNER,
    Actor,
    Ended,
    Headless,
    Nobody,
    OrderKind,
    Rule,
    StandingOrder,
)
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.ui.tally import NO_OPINION, Tally, counted_as


def call(tool: str = "Bash") -> Event:
    return Event("claude", "PreToolUse", tool=ToolCall(tool, {}))


@pytest.mark.parametrize(
    ("tool", "decision", "by", "word"),
    [
        ("Bash", Decision(Verdict.ALLOW), OWNER, "allowed"),
        ("Bash", Decision(Verdict.DENY, reason="no"), OWNER, "denied"),
        ("Bash", Decision(Verdict.ASK), OWNER, "handed back"),
        ("AskUserQuestion", Decision(Verdict.ALLOW, updated_input={}), OWNER, "answered"),
        ("ExitPlanMode", Decision(Verdict.ALLOW), OWNER, "approved"),
        ("ExitPlanMode", Decision(Verdict.DENY, reason="no"), OWNER, "sent back"),
        ("Bash", Decision(Verdict.ALLOW), Rule("allow Bash(ls)"), "by rules"),
        (
            "Bash",
            Decision(Verdict.ALLOW),
            StandingOrder(1, OrderKind.ALLOW_ALL),
            "by standing orders",
        ),
        ("Bash", Decision(Verdict.PASS), Nobody(Ended.AWAY), ""),
        ("Bash", Decision(Verdict.PASS), Headless(), ""),
    ],
)
def test_a_decision_is_counted_by_who_gave_it(
    tool: str, decision: Decision, by: Actor, word: str
) -> None:
    assert counted_as(call(tool), Decided(decision, by)) == word


def test_the_day_has_what_was_before_and_the_summary_has_not() -> None:
    tally = Tally()
    assert tally.today() == "nothing was decided yet"
    for times, by in ((3, OWNER), (30, Rule("allow"))):
        for _ in range(times):
            tally.count_earlier(call(), Decided(Decision(Verdict.ALLOW), by))
    tally.count(call(), Decided(Decision(Verdict.ALLOW), OWNER))
    tally.count(call(), Decided(Decision(Verdict.DENY, reason="no"), OWNER))
    assert tally.today() == "4 allowed · 1 denied · 30 by rules"
    assert list(tally.summary(0)) == ["crabhook: 1 allowed · 1 denied."]
    rest = list(tally.summary(2))[1:]
    assert " ".join(rest) == f"2 requests still waited. {NO_OPINION}"
    assert max(map(len, rest)) < 80
    assert [tally.alike(call(), one) for one in (Verdict.ALLOW, Verdict.DENY)] == [34, 1]
    assert not tally.alike(call("Edit"), Verdict.ALLOW)
