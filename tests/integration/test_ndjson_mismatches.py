"""The reference's ten known mismatches with Claude Code, each of which does not exist here.

docs/reference/ndjson.md lists them with the reference's own numbers.
"""

from __future__ import annotations

import json
import time
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bridged_desk import BridgedDesk, event
from tests.support.client import SAMPLES, finished, sample

if TYPE_CHECKING:
    from collections.abc import Iterator


SESSIONS = count(1)


@pytest.fixture(scope="module")
def shared() -> Iterator[BridgedDesk]:
    with BridgedDesk() as desk:
        yield desk


@pytest.fixture
def desk(shared: BridgedDesk) -> BridgedDesk:
    return shared.anew()


@pytest.fixture
def session() -> str:
    """Return a session of this test's own."""
    return f"own-{next(SESSIONS)}"


def specific(answer: Any) -> Any:
    return answer.output["hookSpecificOutput"]


def fields_of(desk: BridgedDesk, session: str, name: str) -> dict[str, Any]:
    """What is on record of an event of this name in a session."""
    bodies = [record["body"] for record in desk.record() if record["session"] == session]
    found: dict[str, Any] = next(body for body in bodies if body.get("event") == name)["fields"]
    return found


@pytest.mark.parametrize(
    ("name", "word"), [("TeammateIdle", "keep-going"), ("TaskCompleted", "deny")]
)
def test_mismatch_01_the_events_of_teams_are_known_shown_and_decided(
    desk: BridgedDesk, session: str, name: str, word: str
) -> None:
    desk.hold(name)
    forwarder = desk.forward(event(name, session_id=session))
    number = desk.card_of(name, session)
    desk.wait_for("helper")
    desk.say(f"{number} {word} the door is still red")
    answer = finished(forwarder)
    assert (answer.code, answer.stderr) == (2, "the door is still red\n")


def test_mismatch_02_a_session_ends_for_whatever_reason_and_the_reason_is_kept(
    desk: BridgedDesk,
) -> None:
    reasons = ["bypass_permissions_disabled", "resume", "a_reason_to_come"]
    for reason in reasons:
        about = {"session_id": f"ends-by-{reason[:6]}"}
        waits = desk.forward(event("PermissionRequest", **about))
        number = desk.card_of("PermissionRequest", about["session_id"])
        assert finished(desk.forward(event("SessionEnd", **about, reason=reason))).silent
        assert finished(waits).silent
        desk.wait_for(f"^#{number} WITHDRAWN")
    ends = [one["body"] for one in desk.record() if one["body"].get("event") == "SessionEnd"]
    assert [end["fields"]["reason"] for end in ends] == reasons


def test_mismatch_03_a_permission_request_needs_no_tool_use_id_to_find_its_call(
    desk: BridgedDesk, session: str
) -> None:
    same = {"session_id": session, "tool_input": {"command": "make"}}
    request = event("PermissionRequest", **same)
    assert "tool_use_id" not in json.loads(request)
    first = desk.forward(event("PreToolUse", tool_use_id="toolu_1", **same))
    number = desk.card_of("PreToolUse", session)
    second = desk.forward(request)
    desk.wait_for(f"#{number} is also asked as PermissionRequest")
    desk.say(f"{number} deny no")
    assert specific(finished(first))["permissionDecision"] == "deny"
    assert specific(finished(second))["decision"] == {"behavior": "deny", "message": "no"}


def test_mismatch_04_the_agents_suggestions_are_on_the_card(
    desk: BridgedDesk, session: str
) -> None:
    suggestions = json.loads(sample("PermissionRequest-mcp"))["permission_suggestions"]
    assert suggestions[0]["type"] == "addRules"
    forwarder = desk.forward(sample("PermissionRequest-mcp", session_id=session))
    number = desk.card_of("PermissionRequest", session)
    desk.wait_for("^  always 1: allow mcp__deploy__release → local settings$")
    desk.say(f"{number} pass")
    assert finished(forwarder).silent
    assert fields_of(desk, session, "PermissionRequest")["permission_suggestions"] == suggestions


def test_mismatch_05_a_notifications_title_is_kept(desk: BridgedDesk, session: str) -> None:
    told = {"title": "Permission needed", "message": "Claude needs your permission"}
    assert finished(desk.forward(event("Notification", session_id=session, **told))).silent
    desk.wait_for("^· Notification")
    kept = fields_of(desk, session, "Notification")
    assert {key: kept[key] for key in told} == told


@pytest.mark.parametrize(
    ("place", "destination"), [("", "localSettings"), (" user", "userSettings")]
)
def test_mismatch_06_always_allow_reaches_the_agents_own_settings(
    desk: BridgedDesk, session: str, place: str, destination: str
) -> None:
    asked = json.loads(sample("PermissionRequest-mcp"))
    (suggested,) = asked["permission_suggestions"]
    forwarder = desk.forward(sample("PermissionRequest-mcp", session_id=session))
    desk.say(f"{desk.card_of('PermissionRequest', session)} always 1{place}")
    assert specific(finished(forwarder))["decision"] == {
        "behavior": "allow",
        "updatedPermissions": [suggested | {"destination": destination}],
    }


@pytest.mark.parametrize("trigger", ["init", "maintenance", "a trigger to come"])
def test_mismatch_07_setup_is_an_event_like_any_other(
    desk: BridgedDesk, session: str, trigger: str
) -> None:
    assert finished(desk.forward(event("Setup", session_id=session, trigger=trigger))).silent
    desk.wait_for("^· Setup")
    desk.hold("Setup")
    held = desk.forward(event("Setup", session_id=session, trigger=trigger))
    number = desk.card_of("Setup", session)
    desk.wait_for(f"trigger: {trigger}")
    desk.say(f"{number} allow")
    assert finished(held).silent


def test_mismatch_08_no_opinion_an_allow_and_a_lapse_are_three_things_on_record() -> None:
    with BridgedDesk("--wait", "2") as desk:
        for word in ("allow", "pass", ""):
            desk.hold("Stop")
            forwarder = desk.forward(event("Stop", session_id=f"stop-{word}"))
            number = desk.card_of("Stop", f"stop-{word}")
            if word:
                desk.say(f"{number} {word}")
            answer = finished(forwarder)
            assert answer.silent  # all three are told to the agent by silence
        records = desk.record()
        told = {
            record["session"]: (record["kind"], record["verdict"])
            for record in records
            if record["kind"] in {"decided", "expired"}
        }
    assert told == {
        "stop-allow": ("decided", "allow"),
        "stop-pass": ("decided", "pass"),
        "stop-": ("expired", ""),
    }


def test_mismatch_08_before_a_call_an_allow_is_said_and_no_opinion_is_not(
    desk: BridgedDesk,
) -> None:
    for word, said in (("allow", "allow"), ("pass", None)):
        forwarder = desk.forward(event("PreToolUse", session_id=word, tool_use_id=word))
        desk.say(f"{desk.card_of('PreToolUse', word)} {word}")
        answer = finished(forwarder)
        assert answer.silent == (said is None)
        if said:
            assert specific(answer)["permissionDecision"] == said


@pytest.mark.parametrize("name", ["PreToolUse", "PermissionRequest"])
def test_mismatch_09_questions_go_back_whole_with_their_answers(
    desk: BridgedDesk, session: str, name: str
) -> None:
    asked = json.loads((SAMPLES / "claude" / f"{name}-AskUserQuestion.json").read_text("utf-8"))
    asked["session_id"] = session
    asked["tool_input"]["to_come"] = {"kept": [1, None]}
    forwarder = desk.forward(json.dumps(asked).encode())
    number = desk.card_of(name, session)
    choices = " ".join(f"{place}=1" for place, _ in enumerate(asked["tool_input"]["questions"], 1))
    desk.say(f"{number} answer {choices}")
    said = specific(finished(forwarder))
    updated = said.get("decision", said)["updatedInput"]
    answers = updated.pop("answers")
    assert updated == asked["tool_input"]
    assert answers == {
        question["question"]: question["options"][0]["label"] for question in updated["questions"]
    }


@pytest.mark.parametrize(
    ("name", "word"),
    [("Stop", "keep-going"), ("SubagentStop", "keep-going"), ("UserPromptSubmit", "deny")],
)
def test_mismatch_10_the_operator_can_block_what_is_no_call(
    desk: BridgedDesk, session: str, name: str, word: str
) -> None:
    desk.hold(name)
    forwarder = desk.forward(event(name, session_id=session))
    number = desk.card_of(name, session)
    desk.say(f"{number} {word} run the tests first")
    said = finished(forwarder).output
    assert said == {"decision": "block", "reason": "run the tests first"}


@pytest.mark.thorough  # it waits longer than the reference does
def test_mismatch_10_nothing_passes_while_the_operator_thinks(
    desk: BridgedDesk, session: str
) -> None:
    desk.hold("Stop")
    forwarder = desk.forward(event("Stop", session_id=session))
    number = desk.card_of("Stop", session)
    longer_than_the_reference_waits = 4.5
    time.sleep(longer_than_the_reference_waits)
    assert forwarder.poll() is None
    desk.say(f"{number} keep-going run the tests first")
    assert finished(forwarder).output["decision"] == "block"
