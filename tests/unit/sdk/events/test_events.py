"""The default's events: every one of every agent, with the answers it can carry and no others.

The tables are those of `crabhook.sdk.events.calls`, `crabhook.sdk.events.session`,
`crabhook.sdk.events.session` and `crabhook.sdk.events.models`, made of
`crabhook.sdk.events.calls`.
"""

import pytest

import crabhook.sdk
from crabhook.model.decision import Verdict as Brokers
from crabhook.platforms.claude.events import EVENTS as CLAUDES
from crabhook.platforms.claude.events import Way
from crabhook.platforms.event_table import Also
from crabhook.sdk import EVENTS, Event, Platform, Unknown, Verdict, read_event
from crabhook.sdk.dialects import copilot
from crabhook.sdk.events import calls
from tests.support.rows import every_row
from tests.unit.sdk import samples

METHODS = {
    Verdict.ALLOW: ["allow"],
    Verdict.DENY: ["deny", "block"],
    Verdict.ASK: ["ask"],
    Verdict.DEFER: ["defer"],
    Verdict.KEEP_GOING: ["keep_going"],
    Verdict.RETRY: ["retry"],
    Verdict.ACCEPT: ["accept"],
    Verdict.DECLINE: ["decline"],
    Verdict.CANCEL: ["cancel"],
}
"""The methods that give each verdict."""

KINDS = list(dict.fromkeys(kind for kinds in EVENTS.values() for kind in kinds.values()))
"""Every event of every agent, in the order of the tables: two runs name the same tests."""


def test_claude_codes_events_are_those_of_the_brokers_table() -> None:
    assert EVENTS[Platform.CLAUDE].keys() == CLAUDES.keys()


@every_row("name", CLAUDES)
def test_an_event_of_claude_code_takes_what_the_brokers_table_says(name: str) -> None:
    kind, rule = EVENTS[Platform.CLAUDE][name], CLAUDES[name]
    said = {verdict.value for verdict, way in rule.verdicts.items() if way is not Way.SILENCE}
    assert {verdict.value for verdict in kind.verdicts} == said
    assert issubclass(kind, calls.TakesContext) == (Also.CONTEXT in rule.also)
    assert issubclass(kind, calls.TalksToUser) == (Also.USER in rule.also)
    halts = Also.HALT in rule.also and name != "PermissionRequest"  # there it is an interrupt
    assert issubclass(kind, calls.Haltable) == halts


@every_row("kind", KINDS)
def test_an_event_has_a_method_for_each_verdict_it_takes_and_for_no_other(
    kind: type[Event],
) -> None:
    for verdict, names in METHODS.items():
        offered = sum(hasattr(kind, name) for name in names)
        assert offered == (verdict in kind.verdicts), verdict


def test_the_verdicts_are_the_brokers() -> None:
    assert {verdict.value for verdict in Verdict} == {v.value for v in Brokers} - {"pass"}


def test_every_event_can_be_imported_from_the_top() -> None:
    kinds = {kind for kinds in EVENTS.values() for kind in kinds.values()} | {Unknown, Event}
    for kind in kinds:
        assert getattr(crabhook.sdk, kind.__name__) is kind
        assert kind.__name__ in crabhook.sdk.__all__


@every_row("platform, name", samples.ALL)
def test_006_2_every_recorded_input_is_an_event_that_is_known(platform: str, name: str) -> None:
    event = samples.event(platform, name)
    assert not isinstance(event, Unknown)
    assert event.name == name.partition("-")[0]
    sent = samples.raw(platform, name)
    assert event.raw == (copilot.named(sent) if platform == "copilot" else sent)
    assert event.session_id == event.raw["session_id"]


@every_row("platform, name", samples.ALL)
def test_every_field_of_every_recorded_input_is_of_its_type(platform: str, name: str) -> None:
    event = samples.event(platform, name)
    kinds = type(event).__mro__
    fields = {key for kind in kinds for key, value in vars(kind).items() if hasattr(value, "_keys")}
    assert {"name", "cwd"} <= fields
    for field in fields:
        getattr(event, field)


def test_fields_of_another_type_are_empty_and_the_raw_input_keeps_them() -> None:
    raw = {
        "hook_event_name": "PostToolUse",
        "session_id": 7,
        "tool_name": ["Bash"],
        "tool_input": "ls",
        "duration_ms": True,
    }
    event = read_event(raw)
    assert isinstance(event, crabhook.sdk.PostToolUse)
    assert (event.session_id, event.tool_name, event.tool_input) == ("", "", {})
    assert (event.duration_ms, event.tool_response, event.command) == (0, None, "")
    assert event.raw == raw


def test_an_event_cannot_be_changed() -> None:
    event = samples.event("claude", "PreToolUse-Bash")
    with pytest.raises(AttributeError, match="cannot be changed"):
        event.platform = Platform.GEMINI
    with pytest.raises(AttributeError, match="cannot be changed"):
        event.cwd = "/"  # type: ignore[misc]


def test_a_call_says_what_hooks_ask_for_most() -> None:
    for platform, name in [
        ("claude", "PreToolUse-Bash"),
        ("gemini", "BeforeTool-run_shell_command"),
        ("codex", "PreToolUse-Bash"),
    ]:
        event = samples.event(platform, name)
        assert isinstance(event, crabhook.sdk.PreToolUse)
        assert event.tool == "shell"
        assert event.command.startswith("echo hi")
        assert event.file_path == ""
    written = samples.event("gemini", "BeforeTool-write_file")
    assert isinstance(written, crabhook.sdk.PreToolUse)
    assert (written.tool, written.command) == ("write_file", "")
    assert written.file_path == written.tool_input["file_path"]


@pytest.mark.parametrize(
    ("platform", "name"), [("claude", "Stop"), ("gemini", "AfterAgent"), ("codex", "Stop")]
)
def test_an_agent_is_sent_on_once_and_again_only_when_insisted(platform: str, name: str) -> None:
    first = samples.event(platform, name, stop_hook_active=False)
    again = samples.event(platform, name, stop_hook_active=True)
    assert isinstance(first, crabhook.sdk.Stop)
    assert isinstance(again, crabhook.sdk.Stop)
    sent_on = first.keep_going("test it")
    assert sent_on is not None
    assert (sent_on.verdict, sent_on.reason) == (Verdict.KEEP_GOING, "test it")
    assert again.keep_going("test it") is None
    assert again.keep_going("test it", again=True) == sent_on


@pytest.mark.parametrize("reason", ["", "  \n", None])
def test_a_denial_always_has_a_reason(reason: str) -> None:
    event = samples.event("codex", "PreToolUse-Bash")
    assert isinstance(event, crabhook.sdk.PreToolUse)
    assert event.deny(reason).reason.strip()


NEVER_REFUSED = {
    "Stop",
    "SubagentStop",
    "TeammateIdle",
    "TaskCompleted",
    "PostToolUse",
    "SessionStart",
}


@every_row("kind", KINDS)
def test_006_9_what_a_failing_hook_refuses_is_never_what_an_agent_tries_again(
    kind: type[Event],
) -> None:
    name = next(n for kinds in EVENTS.values() for n, k in kinds.items() if k is kind)
    platform = next(p for p, kinds in EVENTS.items() if name in kinds)
    refusal = read_event({"hook_event_name": name}, platform).refusal("it failed")
    if kind.__name__ in NEVER_REFUSED:
        assert refusal is None
    if refusal is not None:
        assert refusal.verdict in (Verdict.DENY, Verdict.DECLINE)
        assert refusal.verdict in kind.verdicts


def test_006_9_what_has_not_happened_yet_is_refused() -> None:
    refused = {
        name
        for name in EVENTS[Platform.CLAUDE]
        if read_event({"hook_event_name": name}, "claude").refusal("it failed")
    }
    assert refused == {
        "PreToolUse",
        "PreSkillShellCommand",
        "PermissionRequest",
        "PreModelSwitch",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "ConfigChange",
        "Elicitation",
        "ElicitationResult",
    }
