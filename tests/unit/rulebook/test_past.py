"""The record's decided calls, as what rules can be tried on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crabhook.model.actor import OWNER, RuleActor
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.policy.rule import RuleVerdict
from crabhook.rulebook.history import PastCall, calls_in
from crabhook.store import entries
from crabhook.store.change import happened
from crabhook.store.interface import Query, StoreError
from crabhook.store.opening import open_history, open_writer
from crabhook.store.record import Entry, RecordKind

NOON = 1_767_960_000.0  # 2026-01-09T12:00:00Z


def past_calls(folder: Path, *, last: int = 0) -> Iterator[PastCall]:
    with open_history(folder) as history:
        yield from calls_in(history.find(Query(kinds=(RecordKind.DECIDED.value,), last=last)))


def decided(verdict: Verdict, command: str, *, rule: str = "", card: int | None = 1) -> Entry:
    event = Event("claude", "PreToolUse", "s1", "/app", tool=ToolCall("Bash", {"command": command}))
    decided = Decided(Decision(verdict), RuleActor(rule) if rule else OWNER)
    return entries.decided(event, decided, NOON, legs=["r1"], waited=2.0, card=card)


def record(folder: Path, *kept: Entry) -> None:
    store = open_writer(folder)
    for one in kept:
        store.write([happened(one)])
    store.close()


def test_a_decided_call_comes_back_as_it_was_asked_with_its_verdict(tmp_path: Path) -> None:
    record(
        tmp_path,
        decided(Verdict.ALLOW, "ls"),
        decided(Verdict.DENY, "rm x", rule="Bash(rm *)", card=None),
        decided(Verdict.ASK, "make"),
        entries.operator("began", NOON),
    )
    allowed, denied, asked = past_calls(tmp_path)
    assert allowed.event.tool == ToolCall("Bash", {"command": "ls"})
    assert (allowed.event.cwd, allowed.event.session) == ("/app", "s1")
    assert (allowed.verdict, allowed.by_person, allowed.card) == (RuleVerdict.ALLOW, True, 1)
    assert (denied.verdict, denied.by_person, denied.card) == (RuleVerdict.DENY, False, None)
    assert asked.verdict is RuleVerdict.ASK_AGENTS_USER


def test_only_the_latest_are_read_where_that_is_asked(tmp_path: Path) -> None:
    record(tmp_path, *(decided(Verdict.ALLOW, f"ls {number}") for number in range(9)))
    found = list(past_calls(tmp_path, last=2))
    assert [one.event.tool and one.event.tool.input for one in found] == [
        {"command": "ls 7"},
        {"command": "ls 8"},
    ]


def test_what_was_edited_says_so(tmp_path: Path) -> None:
    event = Event("claude", "PreToolUse", tool=ToolCall("Bash", {"command": "rm x"}))
    made = Decision(Verdict.ALLOW, updated_input={"command": "ls"})
    record(tmp_path, entries.decided(event, Decided(made, OWNER), NOON, legs=["r1"]))
    (found,) = past_calls(tmp_path)
    assert found.edited
    assert found.event.tool == ToolCall("Bash", {"command": "rm x"})


def test_no_record_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no record"):
        list(past_calls(tmp_path))
