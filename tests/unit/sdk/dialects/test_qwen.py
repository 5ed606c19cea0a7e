"""Qwen Code's words: what it would let run is denied, and what it does not read is not printed."""

from typing import Any

from crabhook.platforms.qwen.events import EVENTS as QWENS
from crabhook.sdk import EVENTS, Answer, PermissionRequest, Platform, PreToolUse, Reply, Verdict
from crabhook.sdk.dialects import write
from tests.support.rows import every_row
from tests.unit.sdk import samples

CALLED = {"command": "ls"}


def call() -> PreToolUse:
    event = samples.event("qwen", "PreToolUse-run_shell_command")
    assert isinstance(event, PreToolUse)
    return event


def request() -> PermissionRequest:
    event = samples.event("qwen", "PermissionRequest-run_shell_command")
    assert isinstance(event, PermissionRequest)
    return event


def specific(reply: Reply) -> dict[str, Any]:
    inner: Any = (reply.output or {}).get("hookSpecificOutput", {})
    return {key: value for key, value in inner.items() if key != "hookEventName"}


def test_its_events_are_those_of_the_brokers_table() -> None:
    assert EVENTS[Platform.QWEN].keys() == QWENS.keys()


def test_before_a_call_it_is_denied_or_asked_about_and_an_allow_is_silence() -> None:
    event = call()
    assert write(event, event.allow()) == Reply()
    assert write(event, event.allow(updated_input=event.tool_input)) == Reply()
    assert specific(write(event, event.ask("sure?"))) == {
        "permissionDecision": "ask",
        "permissionDecisionReason": "sure?",
    }
    assert specific(write(event, event.deny("no")))["permissionDecisionReason"] == "no"


@every_row(
    "answer",
    [
        call().rewrite(CALLED),
        call().allow(updated_input=CALLED),
        call().defer(),
        call().halt("enough"),
        call().ask("sure?").telling_user("x")._replace(halt="enough"),
    ],
)
def test_what_would_run_the_original_is_denied_with_words_and_said(answer: Answer) -> None:
    reply = write(call(), answer)
    assert specific(reply)["permissionDecision"] == "deny"
    assert specific(reply)["permissionDecisionReason"].strip()
    assert (reply.exit_code, bool(reply.unsaid)) == (0, True)


def test_a_request_is_allowed_changed_or_denied() -> None:
    event = request()
    assert specific(write(event, event.allow())) == {"decision": {"behavior": "allow"}}
    changed = write(event, event.allow(updated_input=CALLED))
    assert specific(changed) == {"decision": {"behavior": "allow", "updatedInput": CALLED}}
    denied = write(event, event.deny("no", interrupt=True))
    assert specific(denied) == {"decision": {"behavior": "deny", "message": "no"}}
    assert denied.unsaid


def test_after_a_call_a_block_reaches_the_model_as_words() -> None:
    event: Any = samples.event("qwen", "PostToolUse-run_shell_command")
    for answer in (event.block("bad"), event.replace_output("bad"), event.halt("bad")):
        reply = write(event, answer)
        assert specific(reply) == {"additionalContext": "bad"}
        assert reply.unsaid


@every_row("name", sorted(name for platform, name in samples.ALL if platform == "qwen"))
def test_whatever_is_said_only_known_words_are_printed_and_a_no_is_never_lost(name: str) -> None:
    event = samples.event("qwen", name)
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
            known = {"additionalContext"}
            known |= {"permissionDecision", "permissionDecisionReason"}
            known |= {"decision"} if event.name == "PermissionRequest" else set()
            assert output.keys() <= {"decision", "reason", "hookSpecificOutput"}
            assert specific(reply).keys() <= known
            assert (reply.exit_code, reply.stderr) == (0, "")
            assert output.get("decision", "block") == "block"
            if verdict in (Verdict.DENY, Verdict.KEEP_GOING):
                assert output or reply.unsaid
