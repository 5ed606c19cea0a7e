"""Whatever can be decided is printed in a form that Codex takes, and means what was decided."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError, QuestionError
from crabhook.model.event import Event, ToolCall
from crabhook.platforms import PLATFORMS
from crabhook.platforms.codex.events import EVENTS
from crabhook.platforms.codex.write import check, write
from tests.support.client import SAMPLES, sample
from tests.support.codex_grammar import Fate, fate
from tests.support.examples import examples
from tests.support.rows import every_row

QUESTIONS: dict[str, Any] = {"questions": [{"id": "c", "question": "Which?", "options": []}]}
TOOLS = (
    None,
    ToolCall("Bash", {"command": "make"}, "t"),
    ToolCall("apply_patch", {"command": "*** Begin Patch"}, "t"),
    ToolCall("mcp__server__say", {"text": "hi"}, "t"),
    ToolCall("request_user_input", QUESTIONS, "t"),
    ToolCall("request_user_input", "broken", "t"),
)
TEXTS = st.sampled_from(("", " \n", "no", "\ud800 half", 'q"uo\\te', "\0\x1b[2J", "é" * 50))
INPUTS = st.sampled_from(
    (
        None,
        {},
        {"command": "make test"},
        {"command": 7},
        {"command": "\udfff"},
        {"command": "x", "n": 10**400},
        {"command": "x", "n": float("inf")},
        {"text": "hi", "deep": json.loads("[" * 190 + "]" * 190)},
        QUESTIONS | {"answers": {"Which?": "this"}},
        QUESTIONS | {"annotations": {"Which?": {"notes": "\ud800"}}},
        QUESTIONS | {"answers": {"Which?": ["odd"]}},
    )
)
WORDS = {"note": TEXTS, "user_message": TEXTS, "halt": TEXTS}
CHANGES = {"updated_input": INPUTS, "note": TEXTS, "user_message": TEXTS}
ALL = {
    **WORDS,
    **CHANGES,
    "output": st.sampled_from((None, "other")),
    "content": st.sampled_from((None, {})),
    "permissions": st.sampled_from(((), ({"type": "setMode"},))),
    "interrupt": st.booleans(),
}
BESIDE = st.one_of(
    *(st.fixed_dictionaries({}, optional=some) for some in ({}, WORDS, CHANGES, ALL))
)
DECISIONS = st.builds(
    lambda verdict, reason, beside: Decision(verdict, reason=reason, **beside),
    st.sampled_from(Verdict),
    TEXTS,
    BESIDE,
)


def meant(event: Event, decision: Decision) -> Fate:
    """What an accepted decision has to bring about."""
    if decision.halt:
        return Fate.HALTED
    if decision.updated_input is not None:
        asks = event.tool is not None and event.tool.name == "request_user_input"
        return Fate.DENIED if asks else Fate.REWRITTEN
    match decision.verdict:
        case Verdict.DENY:
            return Fate.DENIED
        case Verdict.KEEP_GOING:
            return Fate.GOES_ON
        case Verdict.ALLOW if event.name == "PermissionRequest":
            return Fate.APPROVED
        case _:
            return Fate.NOTHING


@examples(500)
@given(st.sampled_from([*EVENTS, "Brand-New"]), st.sampled_from(TOOLS), DECISIONS)
def test_what_the_check_accepts_is_taken_and_means_what_was_decided(
    name: str, tool: ToolCall | None, decision: Decision
) -> None:
    event = Event("codex", name, tool=tool)
    try:
        check(event, decision)
    except DecisionError:
        return
    reply = write(event, decision)
    assert fate(name, reply.stdout, tool.name if tool else "") is meant(event, decision)
    assert reply.exit_code == 0


@examples(500)
@given(st.sampled_from([*EVENTS, "Brand-New"]), st.sampled_from(TOOLS), DECISIONS)
def test_what_no_check_has_seen_never_approves_more_than_was_decided(
    name: str, tool: ToolCall | None, decision: Decision
) -> None:
    """A rule's decision, or one about another leg, may come unchecked."""
    event = Event("codex", name, tool=tool)
    if tool is not None and tool.input == "broken":
        return  # its questions cannot be read, so nobody could answer them
    try:
        printed = write(event, decision).stdout
    except (ValueError, QuestionError):
        return
    came = fate(name, printed, tool.name if tool else "")
    assert came is not Fate.APPROVED or decision.verdict is Verdict.ALLOW
    assert came is not Fate.REWRITTEN or decision.updated_input is not None
    if decision.verdict is Verdict.DENY and name in ("PreToolUse", "PermissionRequest"):
        assert came is Fate.DENIED


@every_row("name", sorted(file.stem for file in (SAMPLES / "codex").glob("*.json")))
def test_every_recorded_input_can_be_told_all_that_it_offers(name: str) -> None:
    platform = PLATFORMS["codex"]
    event = platform.read(sample(name, agent="codex"))
    for verdict in platform.choices(event).verdicts:
        decision = Decision(verdict, reason="because", user_message="")
        platform.check(event, decision)
        came = fate(event.name, platform.write(event, decision).stdout)
        assert came is meant(event, decision)


def request(tool_input: dict[str, Any]) -> Event:
    called = ToolCall("Bash", tool_input, comments=frozenset({"description"}))
    return Event("codex", "PermissionRequest", tool=called)


def test_an_allow_of_a_changed_input_approves_that_input_and_no_other() -> None:
    changed = Decision(Verdict.ALLOW, updated_input={"command": "make test"})
    asked = request({"command": "make test", "description": "why"})
    assert fate("PermissionRequest", write(asked, changed).stdout) is Fate.APPROVED
    other = request({"command": "make"})
    assert write(other, changed).stdout == b""


def test_a_denial_on_each_leg_in_its_own_words() -> None:
    no = Decision(Verdict.DENY, reason="not now")
    assert write(Event("codex", "PreToolUse"), no).output == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "not now",
        }
    }
    assert write(Event("codex", "PermissionRequest"), no).output == {
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": "not now"},
        }
    }


def test_answers_and_the_note_beside_them_reach_the_model_as_a_refusal() -> None:
    answered = Decision(
        Verdict.ALLOW,
        updated_input=QUESTIONS | {"answers": {"Which?": "this"}},
        note="and be quick",
    )
    event = Event("codex", "PreToolUse", tool=ToolCall("request_user_input", QUESTIONS))
    output = write(event, answered).output
    assert output is not None
    specific = output["hookSpecificOutput"]
    assert isinstance(specific, dict)
    assert set(specific) == {"hookEventName", "permissionDecision", "permissionDecisionReason"}
    reason = str(specific["permissionDecisionReason"])
    assert '"Which?" = "this"' in reason
    assert "and be quick" in reason


def test_why_nobody_had_an_opinion_stays_off_standard_output() -> None:
    reply = write(Event("codex", "PreToolUse"), Decision(Verdict.PASS, reason="away"))
    assert (reply.stdout, "away" in reply.stderr) == (b"", True)


@every_row("name", [*EVENTS, "Brand-New"])
def test_a_remark_is_printed_where_it_is_taken_and_nowhere_else(name: str) -> None:
    reply = PLATFORMS["codex"].remark(Event("codex", name), "mind \ud800 the crab")
    if reply is not None:
        assert fate(name, reply.stdout) is Fate.NOTHING
        assert b"mind ? the crab" in reply.stdout
    takes = {"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart"}
    assert (reply is not None) == (name in takes)
