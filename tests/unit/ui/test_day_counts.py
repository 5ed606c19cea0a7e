"""What was decided, in one line for people."""

from __future__ import annotations

from time import mktime

import pytest

from crabhook.model.actor import (
    OWNER,
    Actor,
    Ended,
    Headless,
    Nobody,
    OrderKind,
    RuleActor,
    StandingOrder,
)
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.ui.day_counts import NO_OPINION, DayCounts, counted_as
from tests.support.rows import every_row


def call(tool: str = "Bash") -> Event:
    return Event("claude", "PreToolUse", tool=ToolCall(tool, {}))


@every_row(
    "tool, decision, by, word",
    [
        ("Bash", Decision(Verdict.ALLOW), OWNER, "allowed"),
        ("Bash", Decision(Verdict.DENY, reason="no"), OWNER, "denied"),
        ("Bash", Decision(Verdict.ASK), OWNER, "handed back"),
        ("AskUserQuestion", Decision(Verdict.ALLOW, updated_input={}), OWNER, "answered"),
        ("ExitPlanMode", Decision(Verdict.ALLOW), OWNER, "approved"),
        ("ExitPlanMode", Decision(Verdict.DENY, reason="no"), OWNER, "sent back"),
        ("Bash", Decision(Verdict.ALLOW), RuleActor("allow Bash(ls)"), "by rules"),
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
    tally = DayCounts()
    assert not tally.today()
    for times, by in ((3, OWNER), (30, RuleActor("allow"))):
        for _ in range(times):
            tally.count(call(), Decided(Decision(Verdict.ALLOW), by), earlier=True)
    tally.count(call(), Decided(Decision(Verdict.ALLOW), OWNER))
    tally.count(call(), Decided(Decision(Verdict.DENY, reason="no"), OWNER))
    assert tally.today() == "4 allowed · 1 denied · 30 by rules"
    assert list(tally.summary(0)) == ["crabhook: 1 allowed · 1 denied."]
    rest = list(tally.summary(2))[1:]
    assert " ".join(rest) == f"2 requests still waited. {NO_OPINION}"
    assert max(map(len, rest)) < 80
    assert tally.alike(call())[:2] == (34, 1)
    assert tally.alike(call("Edit"))[:2] == (0, 0)


@pytest.mark.parametrize(
    ("plain", "edited", "said"),
    [
        (2, 1, "3 allowed, 1 of them edited"),
        (0, 1, "1 allowed, edited"),
        (0, 2, "2 allowed, 2 of them edited"),
        (2, 0, "2 allowed"),
    ],
)
def test_what_was_allowed_edited_is_among_what_was_allowed(
    plain: int, edited: int, said: str
) -> None:
    tally = DayCounts()
    for changed in (*[None] * plain, *[{"command": "ls"}] * edited):
        tally.count(call(), Decided(Decision(Verdict.ALLOW, updated_input=changed), OWNER))
    assert list(tally.summary(0)) == [f"crabhook: {said}."]
    assert tally.today() == said


def test_a_day_ends_at_midnight_and_what_was_done_at_this_desk_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = mktime((2026, 11, 22, 23, 59, 59, 0, 0, -1))
    monkeypatch.setattr("crabhook.ui.day_counts.time", lambda: now)
    tally = DayCounts()
    tally.count(call(), Decided(Decision(Verdict.ALLOW), OWNER))
    assert (tally.today(), tally.alike(call())[:2]) == ("1 allowed", (1, 0))
    now += 1
    assert (tally.today(), tally.alike(call())[:2]) == ("", (0, 0))
    tally.count(call(), Decided(Decision(Verdict.DENY, reason="no"), OWNER))
    assert (tally.today(), tally.alike(call())[:2]) == ("1 denied", (0, 1))
    assert list(tally.summary(0)) == ["crabhook: 1 allowed · 1 denied."]
    now -= 1
    assert tally.today() == "", "the clock was set back"


def test_days_of_many_different_calls_are_counted_as_the_first_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that runs for days has no bound that it reaches once and for all."""
    day = 1
    monkeypatch.setattr(
        "crabhook.ui.day_counts.time", lambda: mktime((2026, 11, day, 1, 0, 0, 0, 0, -1))
    )
    monkeypatch.setattr("crabhook.ui.day_counts.MOST_ALIKE", 3)
    tally = DayCounts()
    for day in range(1, 8):
        tally.count(call(f"T{day}"), Decided(Decision(Verdict.ALLOW), OWNER))
    assert tally.alike(call("T7"))[:2] == (1, 0)


def test_such_calls_are_told_apart_as_rules_tell_them_apart() -> None:
    tally = DayCounts()
    for line, verdict in (
        ("npm run lint", Verdict.ALLOW),
        ("cd /srv/app && npm run lint 2>&1 | tail -20", Verdict.ALLOW),
        ("npm run build", Verdict.ALLOW),
        ("cd /srv/app && rm -rf dist", Verdict.ALLOW),
        ("npm ci", Verdict.DENY),
        ("cd app; npm run lint", Verdict.DENY),
    ):
        tally.count(line_of(line), Decided(Decision(verdict), OWNER))
    assert tally.alike(line_of("npm run lint")) == (2, 1, "npm run lint")
    assert tally.alike(line_of("cd /x && npm run lint")) == (2, 1, "npm run lint")
    assert tally.alike(line_of("npm install left-pad")) == (0, 0, "npm install")
    assert tally.alike(line_of("cd /srv/app && make")) == (0, 0, "make")


def line_of(command: str) -> Event:
    return Event("claude", "PreToolUse", tool=ToolCall("Bash", {"command": command}))


def test_a_count_reads_a_bounded_number_of_lines_the_latest_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("crabhook.ui.day_counts._READ_AT_ONCE", 10)
    tally = DayCounts()
    for number in range(25):
        tally.count(line_of(f"git push o{number}"), Decided(Decision(Verdict.ALLOW), OWNER))
    asked = line_of("git push")
    assert [tally.alike(asked)[0] for _ in range(3)] == [10, 20, 25]
