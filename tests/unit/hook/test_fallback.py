"""What the agent is told when nobody answers, and how its event is recognised."""

import importlib.util
import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.hook import Options, Unanswered, fallback
from crabhook.hook.fallback import KINDS, event_name, fall_back, why_refused
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.platforms import HOOKED, PLATFORMS
from crabhook.platforms.installation import Transport
from tests.support.rows import every_row
from tests.unit.hook.peers import run_hook

WISHES = ("pass", "ask", "deny")
OTHER_EVENTS = ["Stop", "SubagentStop", "UserPromptSubmit", "PostToolUse", "SessionEnd", "Later"]
PROBLEM = 'no "such\\ thing\n\x1b[0m — at all'


def fallen(
    wish: str,
    payload: bytes,
    *,
    kind: str = "unreachable",
    platform: str = "claude",
    status: int | None = None,
) -> tuple[Any, str, int]:
    options = Options()
    options.platform = platform
    options.when_unreachable = options.when_lost = wish
    reply = fall_back(options, payload, Unanswered(kind, PROBLEM, status))
    stdout = json.loads(reply.stdout) if reply.stdout else None
    return stdout, reply.stderr.decode(), reply.exit_code


def event(name: str) -> bytes:
    return json.dumps({"session_id": "s", "hook_event_name": name, "tool_name": "Bash"}).encode()


def test_each_agent_that_starts_the_hook_has_words_in_its_table() -> None:
    starting = {
        name for name, one in HOOKED.items() if Transport.COMMAND in one.settings.transports
    }
    assert set(fallback._WORDS) == starting


@pytest.mark.parametrize("name", fallback._WORDS)
def test_the_hooks_own_table_says_what_the_agents_writer_says(name: str) -> None:
    agent, reason = PLATFORMS[name], 'no "such" thing'
    (usual, *_) = agent.decided
    for (wish, said_on), words in fallback._WORDS[name].items():
        asked, decision = Event(name, said_on or usual), Decision(Verdict(wish), reason)
        assert words % json.dumps(reason) == agent.write(asked, decision).stdout.decode()
    denied = {said_on for wish, said_on in fallback._WORDS[name] if wish == "deny"}
    assert denied - {""} == agent.decided
    nothing = agent.write(Event(name, usual), Decision(Verdict.PASS)).stdout.decode()
    assert fallback._SILENCE.get(name, "") == nothing


@pytest.mark.parametrize("wish", ["ask", "deny"])
def test_a_tool_call_is_denied_or_asked_about_in_the_agents_own_words(wish: str) -> None:
    stdout, stderr, code = fallen(wish, event("PreToolUse"))
    output = stdout["hookSpecificOutput"]
    assert set(stdout) == {"hookSpecificOutput"}
    assert set(output) == {"hookEventName", "permissionDecision", "permissionDecisionReason"}
    assert (output["hookEventName"], output["permissionDecision"]) == ("PreToolUse", wish)
    assert stderr == output["permissionDecisionReason"] + "\n"
    assert code == 0


@pytest.mark.parametrize("wish", ["ask", "deny"])
def test_a_skills_line_is_not_run_where_a_person_was_to_be_asked(wish: str) -> None:
    """No dialog of the agent's follows for one: after silence it would run."""
    stdout, stderr, code = fallen(wish, event("PreSkillShellCommand"))
    output = stdout["hookSpecificOutput"]
    assert (output["hookEventName"], output["permissionDecision"]) == (
        "PreSkillShellCommand",
        "deny",
    )
    assert "the agent is told no" in stderr
    assert code == 0
    assert fallen("pass", event("PreSkillShellCommand"))[0] in (None, "", {})


def test_a_permission_request_is_denied_in_the_agents_own_words() -> None:
    stdout, stderr, code = fallen("deny", event("PermissionRequest"))
    assert stdout == {
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": stderr.removesuffix("\n")},
        }
    }
    assert code == 0


@every_row(
    "wish, payload",
    [
        *(("pass", event(name)) for name in ("PreToolUse", "PermissionRequest", *OTHER_EVENTS)),
        *(("ask", event(name)) for name in ("PermissionRequest", *OTHER_EVENTS)),
        *(("deny", event(name)) for name in OTHER_EVENTS),
        *((wish, payload) for wish in ("pass", "ask") for payload in (b"", b"no JSON", b"[]")),
    ],
)
def test_everything_else_is_passed(wish: str, payload: bytes) -> None:
    stdout, stderr, code = fallen(wish, payload)
    assert (stdout, code) == (None, 0)
    assert (
        "; the agent goes on by its own rules, which may ask its user or run it without asking; "
        in stderr
    )


@every_row(
    "problem, remedy",
    [
        ("unix:/s: No such file or directory", "open the desk: crabhook"),
        ("localhost:7: Connection refused", "open the desk: crabhook"),
        ("unix:/s: the connection was closed", "open the desk: crabhook"),
        ("localhost:7: the connection was closed", "if that server speaks TLS, install"),
        ("a:7: --tls-ca does not vouch for the server: expired", "certificate comes from"),
        ("a:7: the file of --tls-ca, '/x': No such file or directory", "certificate comes from"),
        ("a:7: no TLS came about (WRONG_VERSION_NUMBER)", "install the hook without --tls-ca"),
        ("a:7: the request and the token would travel in the clear: give", "install the hook with"),
        ("a:b: not an address: a port is 1 to 65535", "install the hook with the right --server"),
        ("a:7: no host of this name is known here (-2)", "see that this machine knows the server"),
        ("a:7: no name server answers in time", "see that this machine knows the server"),
        ("unix:/s: its folder is not one that this user alone can write to", "chmod 700"),
    ],
)
def test_what_is_advised_mends_what_went_wrong(problem: str, remedy: str) -> None:
    line = fall_back(Options(), event("PreToolUse"), Unanswered("unreachable", problem)).stderr
    advice = line.decode().rpartition("without asking; ")[2]
    assert advice.startswith(remedy) or remedy in advice
    assert ("open the desk" in advice) == ("open the desk" in remedy or "speaks" in remedy)


@every_row(
    "status, detail, words",
    [
        (5, "", "the desk was closed"),
        (5, "the server was stopped", "the server was stopped"),
        (8, "SERVER: Received message larger than max (9 vs. 4)", "too much waits there"),
        (14, "HTTP status 502", "HTTP status 502"),
        (17, "", "new to this hook (17)"),
    ],
)
def test_a_refusal_is_told_in_the_servers_words_or_in_ours(
    status: int, detail: str, words: str
) -> None:
    why = why_refused(status, detail)
    assert words in why
    assert "Received message" not in why


@pytest.mark.parametrize("payload", [b"", b"no JSON", b"[]", b"{}", b'{"hook_event_name": 1}'])
def test_a_no_to_nobody_knows_what_is_exit_code_two(payload: bytes) -> None:
    stdout, stderr, code = fallen("deny", payload)
    assert (stdout, code) == (None, 2)
    assert "the agent is told no" in stderr


@pytest.mark.parametrize("wish", WISHES)
def test_other_agents_are_told_by_the_exit_code_alone(wish: str) -> None:
    stdout, _, code = fallen(wish, event("PreToolUse"), platform="another")
    assert (stdout, code) == (None, 2 if wish == "deny" else 0)


@pytest.mark.parametrize("payload", [event("BeforeTool"), b"", b"no JSON", b'{"x": 1}'])
def test_gemini_is_told_no_in_one_object_whatever_came(payload: bytes) -> None:
    stdout, stderr, code = fallen("deny", payload, platform="gemini")
    assert (stdout, code) == ({"decision": "deny", "reason": stderr.removesuffix("\n")}, 0)


@every_row(
    "wish, payload",
    [
        *((wish, event("BeforeTool")) for wish in ("pass", "ask")),
        *((wish, b"no JSON") for wish in ("pass", "ask")),
        *((wish, event(name)) for wish in WISHES for name in ("AfterAgent", "BeforeAgent", "New")),
    ],
)
def test_gemini_is_never_left_with_silence_and_never_told_to_ask(wish: str, payload: bytes) -> None:
    stdout, _, code = fallen(wish, payload, platform="gemini")
    assert (stdout, code) == ({}, 0)


@every_row("kind", KINDS)
@every_row("status", [None, 1, 16, 17, 999])
def test_what_went_wrong_is_one_line_that_no_terminal_obeys(kind: str, status: int | None) -> None:
    _, stderr, _ = fallen("pass", event("PreToolUse"), kind=kind, status=status)
    assert stderr.startswith("crabhook ")
    assert 'no "such\\ thing  [0m — at all' in stderr
    assert stderr.endswith("\n")
    assert stderr[:-1].isprintable()


def test_the_wish_is_that_of_what_went_wrong() -> None:
    options = Options()
    options.when_unreachable, options.when_lost = "deny", "pass"
    denied = {
        kind
        for kind in KINDS
        if fall_back(options, event("PreToolUse"), Unanswered(kind, "why")).stdout
    }
    assert denied == {"options", "input", "unreachable", "fault"}
    options.when_unreachable, options.when_lost = "pass", "deny"
    denied = {
        kind
        for kind in KINDS
        if fall_back(options, event("PreToolUse"), Unanswered(kind, "why")).stdout
    }
    assert denied == {"lost", "late", "fault", "unsigned"}


@pytest.mark.process
def test_a_hook_that_fails_closed_denies_when_nobody_listens() -> None:
    options = ("--server=unix:/nobody/here", "--when-unreachable=deny")
    hook = run_hook(*options, payload=event("PreToolUse"))
    assert json.loads(hook.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert hook.returncode == 0
    hook = run_hook(*options, "--platform=another", payload=event("PreToolUse"))
    assert (hook.stdout, hook.returncode) == (b"", 2)


# How the event is recognised.

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.text(), st.just("hook_event_name")), inner, max_size=4),
    ),
    max_leaves=15,
)
KEYS = st.one_of(
    st.just("hook_event_name"),
    st.sampled_from(['"', "\\", '\\"hook_event_name', "hook_event_nam", "}", "{"]),
    st.text(),
)
TRICKS = st.sampled_from(
    [
        '","hook_event_name":"Stop","x":"',
        '\\","hook_event_name":"Stop',
        "\\",
        '\\"',
        '{"hook_event_name":"Stop"}',
    ]
)


def by_the_judge(payload: str) -> str | None:
    value = json.loads(payload)
    name = value.get("hook_event_name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


@given(
    members=st.lists(st.tuples(KEYS, st.one_of(VALUES, TRICKS)), max_size=6),
    ascii_only=st.booleans(),
    space=st.sampled_from(["", " ", "\n\t\r "]),
)
def test_the_name_is_the_one_a_parser_finds(
    *, members: list[tuple[str, Any]], ascii_only: bool, space: str
) -> None:
    # Written by hand, since a dictionary has no key twice.
    payload = f"{space},{space}".join(
        json.dumps(key, ensure_ascii=ascii_only)
        + f"{space}:{space}"
        + json.dumps(value, ensure_ascii=ascii_only)
        for key, value in members
    )
    payload = f"{space}{{{space}{payload}{space}}}{space}"
    written = payload.encode("utf-8", "replace")
    assert event_name(written) == by_the_judge(written.decode())


@given(st.one_of(VALUES, TRICKS))
def test_what_is_no_object_has_no_name(value: Any) -> None:
    payload = json.dumps(value)
    assert event_name(payload.encode()) == by_the_judge(payload)


@given(st.one_of(st.binary(max_size=60), st.text('{}[]":,\\u0e hook_event_name').map(str.encode)))
def test_no_bytes_are_an_accident(payload: bytes) -> None:
    name = event_name(payload)
    try:
        expected = by_the_judge(payload.decode())
    except ValueError:
        return
    assert name == expected


@every_row(
    "payload, name",
    [
        (rb'{"hook\u005fevent_name": "Pre\u0054oolUse"}', "PreToolUse"),
        (b'{"hook_event_name":"Stop","hook_event_name":"PreToolUse"}', "PreToolUse"),
        (b'{"hook_event_name":"Stop","hook_event_name":null}', None),
        (b'{"a":{"hook_event_name":"Stop"},"hook_event_name":"PreToolUse"}', "PreToolUse"),
        (b'{"a":"\\\\","hook_event_name":"PreToolUse"}', "PreToolUse"),
        (rb'{"hook_event_name":"\ud83e\udd80\b\f\n\r\t\"\\\/"}', '\U0001f980\b\f\n\r\t"\\/'),
        (b'{"a":"two\nlines\x00","hook_event_name":"PreToolUse"}', "PreToolUse"),
        (b'{"hook_event_name":"PreToolUse"', None),
        (b'{"hook_event_name":"PreToolUse"}}', None),
        (b'{"hook_event_name":"PreToolUse",}', None),
        (b'{"hook_event_name" "PreToolUse"}', None),
        (b'{"hook_event_name":}', None),
        (b'{"hook_event_name":"\\x"}', None),
        (b'{"hook_event_name":"\\u12 4"}', None),
        (b'{"hook_event_name":"\\u12', None),
        (b'{"a" 1}', None),
        (b"{", None),
        (b"{}", None),
        (b"", None),
    ],
)
def test_a_name_is_found_or_it_is_not(payload: bytes, name: str | None) -> None:
    assert event_name(payload) == name


def test_a_python_without_json_in_c_denies_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_json", "json", "json.decoder", "json.scanner", "json.encoder"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "_json", None)
    spec = importlib.util.spec_from_file_location("fallback_alone", fallback.__file__)
    assert spec is not None
    assert spec.loader is not None
    alone = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(alone)
    options = Options()
    options.when_unreachable = "deny"
    reply = alone.fall_back(options, event("PreToolUse"), Unanswered("unreachable", PROBLEM))
    assert b'"permissionDecision":"deny"' in reply.stdout


def test_a_deep_or_long_payload_is_no_trap() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    quotes = json.dumps('\\"' * 100_000).encode()
    payload = b'{"a":' + deep + b',"b":' + quotes + b',"hook_event_name":"Stop"}'
    assert event_name(payload) == "Stop"
