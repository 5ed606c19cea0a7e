"""Copilot's words: flat on PermissionRequest, context at the top but before a call, exit code 0."""

from typing import Any

from crabhook.hook.wire import WireReply
from crabhook.model.decision import Decision
from crabhook.model.decision import Verdict as Brokers
from crabhook.platforms.copilot.events import EVENTS as COPILOTS
from crabhook.platforms.copilot.events import read_event as read_house
from crabhook.platforms.copilot.write import write as house_write
from crabhook.sdk import (
    EVENTS,
    Answer,
    PermissionRequest,
    Platform,
    PreToolUse,
    Reply,
    Verdict,
    heard,
    respond,
)
from crabhook.sdk.dialects import write
from tests.support.rows import every_row
from tests.unit.sdk import samples

CALLED = {"command": "ls"}
NAMES = sorted(name for platform, name in samples.ALL if platform == "copilot")


def call(name: str = "PreToolUse-Bash") -> PreToolUse:
    event = samples.event("copilot", name)
    assert isinstance(event, PreToolUse)
    return event


def request(name: str = "PermissionRequest-bash") -> PermissionRequest:
    event = samples.event("copilot", name)
    assert isinstance(event, PermissionRequest)
    return event


def specific(reply: Reply) -> dict[str, Any]:
    inner: Any = (reply.output or {}).get("hookSpecificOutput", {})
    return {key: value for key, value in inner.items() if key != "hookEventName"}


def test_its_events_are_those_of_the_brokers_table() -> None:
    assert EVENTS[Platform.COPILOT].keys() == COPILOTS.keys()


@every_row("name", NAMES)
def test_an_input_has_the_names_that_the_server_gives_it(name: str) -> None:
    event = samples.event("copilot", name)
    house = read_house(event.payload)
    assert (event.name, event.cwd) == (house.name, house.cwd)
    assert event.raw == dict(house.fields)


def test_tools_and_files_are_named_as_everywhere() -> None:
    assert (call().tool, call().command) == ("shell", "false")
    assert (request().tool, request().command) == ("shell", "false")
    for name in ("PreToolUse-Edit", "PreToolUse-Write", "PreToolUse-Read"):
        assert call(name).file_path == "/home/dev/project/new.txt"
    assert request("PermissionRequest-edit").file_path == "/home/dev/project/new.txt"
    assert not call("PreToolUse-Grep").file_path  # its path is a folder


def test_a_call_is_decided_and_changed_before_it_is_made() -> None:
    event = call()
    for answer, word in (
        (event.allow(), "allow"),
        (event.ask("?"), "ask"),
        (event.deny("n"), "deny"),
    ):
        assert specific(write(event, answer))["permissionDecision"] == word
    assert specific(write(event, event.rewrite(CALLED))) == {"updatedInput": CALLED}
    assert specific(write(event, event.context("c"))) == {"additionalContext": "c"}
    for answer in (event.defer(), event.halt("enough"), event.rewrite(CALLED)._replace(halt="h")):
        reply = write(event, answer)
        assert specific(reply)["permissionDecision"] == "deny"
        assert "updatedInput" not in specific(reply)
        assert reply.unsaid


def test_a_request_is_answered_flat_and_never_allowed_with_another_input() -> None:
    event = request()
    assert write(event, event.allow()).output == {"behavior": "allow"}
    denied = write(event, event.deny("no", interrupt=True)).output
    assert denied == {"behavior": "deny", "message": "no", "interrupt": True}
    changed = write(event, event.allow(updated_input=CALLED))
    assert (changed.output or {})["behavior"] == "deny"
    assert changed.unsaid


@every_row("name", NAMES)
def test_whatever_is_said_only_known_words_are_printed_and_a_no_is_never_lost(name: str) -> None:
    event = samples.event("copilot", name)
    extras: list[dict[str, Any]] = [
        {},
        {"context": "c"},
        {"user_message": "u", "suppress_output": True},
        {"interrupt": True},
        {"permissions": ({"a": 1},)},
        {"updated_input": CALLED},
        {"halt": "h"},
        {"output": "o"},
    ]
    for verdict in [None, *event.verdicts]:
        for extra in extras:
            try:
                reply = write(event, Answer(verdict, "r" if verdict else "")._replace(**extra))
            except ValueError:
                continue  # no event's own answer
            output = dict(reply.output or {})
            if isinstance(event, PermissionRequest):
                assert output.keys() <= {"behavior", "message", "interrupt"}
            elif isinstance(event, PreToolUse):
                assert output.keys() <= {"hookSpecificOutput"}
            else:
                assert output.keys() <= {"decision", "reason", "additionalContext"}
            assert (reply.exit_code, reply.stderr) == (0, "")
            if verdict in (Verdict.DENY, Verdict.KEEP_GOING):
                assert output or reply.unsaid


@every_row("name", ("PreToolUse-Bash", "PermissionRequest-bash"))
def test_what_the_server_writes_is_heard_as_decided(name: str) -> None:
    event = samples.event("copilot", name)
    for decision, verdict in (
        (Decision(Brokers.ALLOW, note="careful"), Verdict.ALLOW),
        (Decision(Brokers.DENY, "no"), Verdict.DENY),
    ):
        reply = house_write(read_house(event.payload), decision)
        answer = heard.answer(event, WireReply(reply.stdout, b"", 0))
        assert answer is not None
        assert (answer.verdict, answer.reason) == (verdict, decision.reason)
        assert answer.context == (decision.note if isinstance(event, PreToolUse) else "")
        assert write(event, answer).output == reply.output


def test_a_failing_hook_lets_copilot_go_on_by_exit_code_0() -> None:
    payload = samples.text("copilot", "PermissionRequest-bash").encode()
    assert respond(payload[:-3], platform="copilot").exit_code == 0
    assert respond(b"{", platform="copilot").exit_code == 0
    assert respond(b"{", platform="copilot", on_error="deny").exit_code == 2
