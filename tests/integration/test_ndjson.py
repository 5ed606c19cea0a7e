"""The harness bridge through a true server, with a forwarder that speaks its shape."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.bridge import Line, envelope
from tests.support.bridged_desk import SAMPLES, BridgedDesk, event
from tests.support.client import Answer, Client, finished, sample
from tests.support.examples import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

HELD = ("PreToolUse", "PermissionRequest")
WATCHED_ONLY = ("SessionEnd", "Notification")
AN_EMPTY_PLACE = {"cwd": "/nowhere/project"}


@pytest.fixture(scope="module")
def one_for_all() -> Iterator[BridgedDesk]:
    with BridgedDesk() as desk:
        yield desk


@pytest.fixture
def shared(one_for_all: BridgedDesk) -> BridgedDesk:
    return one_for_all.anew()


@pytest.fixture(scope="module")
def ruled() -> Iterator[BridgedDesk]:
    """A server whose rules the tests add to, each for commands of its own."""
    with BridgedDesk() as desk:
        yield desk


@pytest.fixture
def desk(ruled: BridgedDesk) -> BridgedDesk:
    return ruled.anew()


def bash(command: str, call: str, **changes: Any) -> bytes:
    changed = {"tool_input": {"command": command}, "tool_use_id": call, **AN_EMPTY_PLACE}
    return event("PreToolUse", **changed, **changes)


def verdict(answer: Answer) -> str:
    assert answer.code == 0
    said: str = answer.output["hookSpecificOutput"]["permissionDecision"]
    return said


# The fifteen events.


def test_the_reference_has_fifteen_events() -> None:
    assert len(SAMPLES) == 15


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in HELD])
def test_an_event_that_nobody_asked_to_hold_passes_through_and_is_seen(
    shared: BridgedDesk, name: str
) -> None:
    answer = finished(shared.forward(event(name, session_id=f"seen-{name}")))
    assert answer.silent
    assert not answer.stderr
    shared.wait_for(f"^· {name} .*session=seen")


ANSWERS: dict[str, tuple[str, dict[str, Any]]] = {
    "PreToolUse": (
        "deny no",
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "no",
            }
        },
    ),
    "PermissionRequest": (
        "deny no",
        {
            "hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": {"behavior": "deny", "message": "no"},
            }
        },
    ),
    "PostToolUse": ("deny no", {"decision": "block", "reason": "no"}),
    "PostToolUseFailure": ("deny no", {"decision": "block", "reason": "no"}),
    "Stop": ("keep-going no", {"decision": "block", "reason": "no"}),
    "SubagentStop": ("keep-going no", {"decision": "block", "reason": "no"}),
    "UserPromptSubmit": ("deny no", {"decision": "block", "reason": "no"}),
    "PreCompact": ("deny no", {"decision": "block", "reason": "no"}),
    "SubagentStart": (
        "allow look up",
        {
            "hookSpecificOutput": {
                "hookEventName": "SubagentStart",
                "additionalContext": "look up",
            }
        },
    ),
    "SessionStart": (
        "allow look up",
        {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "look up"}},
    ),
}
"""What an operator says to an event, and the JSON its agent then reads."""

BLOCKS = {"TeammateIdle": "keep-going paint it", "TaskCompleted": "deny paint it"}
"""What an operator says to an event that only an exit code decides."""


def held(desk: BridgedDesk, name: str) -> tuple[Any, int]:
    """Hold an event and let it happen; return its forwarder and its card."""
    session = f"held-{name}"
    if name not in HELD:
        desk.hold(name)
    forwarder = desk.forward(event(name, session_id=session))
    return forwarder, desk.card_of(name, session)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_event_is_told_in_its_own_words_what_the_operator_says(
    shared: BridgedDesk, name: str
) -> None:
    words, output = ANSWERS[name]
    forwarder, number = held(shared, name)
    shared.say(f"{number} {words}")
    answer = finished(forwarder)
    assert (answer.code, answer.output, answer.stderr) == (0, output, "")
    shared.wait_for(f"#{number} delivered")


@pytest.mark.parametrize("name", BLOCKS)
def test_what_only_an_exit_code_decides_is_blocked_with_its_reason(
    shared: BridgedDesk, name: str
) -> None:
    forwarder, number = held(shared, name)
    shared.say(f"{number} {BLOCKS[name]}")
    answer = finished(forwarder)
    assert (answer.code, answer.stdout, answer.stderr) == (2, b"", "paint it\n")


def test_setup_can_be_held_and_let_go(shared: BridgedDesk) -> None:
    forwarder, number = held(shared, "Setup")
    shared.say(f"{number} allow")
    assert finished(forwarder).silent


def test_every_event_is_answered_or_can_only_be_watched() -> None:
    assert {*ANSWERS, *BLOCKS, "Setup", *WATCHED_ONLY} == set(SAMPLES)


# The reference's kinds of decision, at the desk.


def test_allow_and_deny(shared: BridgedDesk) -> None:
    for word, said in (("allow", "allow"), ("deny no", "deny")):
        forwarder = shared.forward(bash(f"touch {said}", said, session_id="once"))
        shared.say(f"{shared.card_of('PreToolUse', 'once')} {word}")
        assert verdict(finished(forwarder)) == said


def test_always_allow_is_a_rule_from_the_card(desk: BridgedDesk) -> None:
    first = desk.forward(bash("pytest -q", "t1", session_id="remembered"))
    number = desk.card("Bash")
    desk.say(f"{number} remember")
    desk.wait_for(f"{number} remember K 7d")
    desk.say(f"{number} remember 2")
    assert verdict(finished(first)) == "allow"
    assert verdict(finished(desk.forward(bash("pytest -q", "t2", session_id="another")))) == "allow"
    other = desk.forward(bash("pytest --all", "t3", session_id="remembered"))
    desk.say(f"{desk.card('Bash')} deny no")
    assert verdict(finished(other)) == "deny"


def test_always_deny_is_a_rule_from_the_card(desk: BridgedDesk) -> None:
    first = desk.forward(bash("git push --force", "t1", session_id="denied"))
    number = desk.card("Bash")
    desk.say(f"{number} always deny")
    desk.wait_for(f"{number} always deny K 7d")
    desk.say(f"{number} always deny 3 not from here")
    assert verdict(finished(first)) == "deny"
    again = finished(desk.forward(bash("git push --force", "t2", session_id="another")))
    assert verdict(again) == "deny"
    assert "not from here" in again.stdout.decode()


def test_always_deny_is_a_rule_that_counts_at_once(desk: BridgedDesk) -> None:
    first = desk.forward(bash("terraform apply", "t1", session_id="counted"))
    desk.say(f"{desk.card('Bash')} deny not from here")
    assert verdict(finished(first)) == "deny"
    desk.run("rules", "add", "deny", "Bash(terraform apply *)", "--note", "ask the release team")
    time.sleep(1.1)  # the rule files are looked at once a second
    again = bash("terraform apply -auto-approve", "t2", session_id="counted")
    answer = finished(desk.forward(again))
    assert verdict(answer) == "deny"
    assert "ask the release team" in answer.stdout.decode()


def test_always_allow_server_is_the_rule_that_names_its_tools(desk: BridgedDesk) -> None:
    def call(tool: str, call: str) -> bytes:
        about = {"session_id": "tools of a server", **AN_EMPTY_PLACE}
        return sample("PreToolUse-mcp", tool_name=tool, tool_use_id=call, **about)

    first = desk.forward(call("mcp__deploy__release", "t1"))
    number = desk.card("mcp__deploy__release")
    desk.say(f"{number} remember")
    place = desk.wait_for(r"^  (\d+)  .*every tool of deploy, in this project").group(1)
    desk.say(f"{number} remember {place}")
    assert verdict(finished(first)) == "allow"
    assert verdict(finished(desk.forward(call("mcp__deploy__status", "t2")))) == "allow"
    other = desk.forward(call("mcp__deployer__status", "t3"))
    desk.say(f"{desk.card('mcp__deployer__status')} deny no")
    assert verdict(finished(other)) == "deny"


# One broker for both ways in.


def test_a_call_asked_about_both_ways_is_one_card(desk: BridgedDesk) -> None:
    bridged = desk.forward(bash("ls", "t1", session_id="both"))
    number = desk.card("Bash")
    same = {"tool_input": {"command": "ls"}, "session_id": "both", **AN_EMPTY_PLACE}
    prompt = event("PermissionRequest", **same)
    direct = Client(desk.address, prompt)
    desk.wait_for(f"#{number} is also asked as PermissionRequest")
    desk.say(f"{number} deny no")
    assert verdict(finished(bridged)) == "deny"
    said = direct.finish().output["hookSpecificOutput"]["decision"]
    assert said == {"behavior": "deny", "message": "no"}


# Ends.


def test_a_killed_forwarders_card_is_withdrawn(shared: BridgedDesk) -> None:
    forwarder = shared.forward(bash("sleep 1", "killed", session_id="killed"))
    number = shared.card_of("PreToolUse", "killed")
    forwarder.kill()
    forwarder.communicate()
    shared.wait_for(f"^#{number} WITHDRAWN")
    shared.say(f"{number} allow")
    shared.wait_for(rf"! #{number} is .*changed nothing")


def test_a_killed_server_leaves_no_forwarder_waiting() -> None:
    with BridgedDesk() as desk:
        forwarder = desk.forward(bash("ls", "t1"))
        desk.card("Bash")
        desk.kill()
        answer = finished(forwarder)
        assert answer.silent
        assert answer.stderr
        desk.stop()
        desk.start()  # behind the dead server's socket
        assert finished(desk.forward(event("Stop"))).silent


def test_the_operators_leaving_is_no_opinion() -> None:
    with BridgedDesk() as desk:
        forwarder = desk.forward(bash("ls", "t1"))
        desk.card("Bash")
        desk.say("quit")
        assert finished(forwarder).silent


# Many at once, and hostile.


async def ask_all(path: str, apart: bool, many: int) -> list[dict[str, Any]]:
    """Ask about so many calls at once, all on one connection or each on its own."""

    async def connect() -> Line:
        return Line(*await asyncio.open_unix_connection(path))

    lines = [await connect() for _ in range(many if apart else 1)]
    for number in range(many):
        payload = json.loads(
            bash(f"echo {number}", f"c{number}", session_id=f"many{number}{apart}")
        )
        await lines[number if apart else 0].send(envelope(f"r{number}", payload))
    answers = [await lines[number if apart else 0].answer() for number in range(many)]
    for line in lines:
        line.writer.close()
        await line.writer.wait_closed()
    return answers


@pytest.mark.parametrize("apart", [True, False], ids=["a connection each", "one connection"])
def test_of_many_at_once_each_gets_its_own_answer(shared: BridgedDesk, apart: bool) -> None:
    desk, many = shared, 80

    async def sit_and_ask() -> list[dict[str, Any]]:
        asked = asyncio.ensure_future(ask_all(desk.bridge, apart, many))
        for _ in range(many):
            await asyncio.to_thread(decide_next)
        async with asyncio.timeout(60):
            return await asked

    def decide_next() -> None:
        found = desk.wait_for(r"^#(\d+) PreToolUse Bash session=many(\d+)(?:True|False) ")
        number, which = found.groups()
        desk.say(f"{number} {'deny no' if int(which) % 2 else 'allow'}")

    answers = asyncio.run(sit_and_ask())
    assert {answer["request_id"] for answer in answers} == {f"r{n}" for n in range(many)}
    for answer in answers:
        said = answer["payload"]["stdout_json"]["hookSpecificOutput"]["permissionDecision"]
        odd = int(answer["request_id"][1:]) % 2
        assert said == ("deny" if odd else "allow")


WHOLE = envelope("r", {"hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": "fuzz"})
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
ALMOST = st.builds(
    lambda key, value: json.dumps(WHOLE | {key: value}).encode(),
    st.sampled_from([*WHOLE, "v"]),
    ANYTHING,
)
INSIDE = st.builds(
    lambda key, value: json.dumps(WHOLE | {"payload": WHOLE["payload"] | {key: value}}).encode(),
    st.sampled_from([*WHOLE["payload"], "tool_input", "tool_use_id", "cwd"]),
    ANYTHING,
)
CUT = st.builds(lambda at: json.dumps(WHOLE).encode()[:at], st.integers(0, 120))
LINES = st.lists(
    st.one_of(st.binary(max_size=60), ALMOST, INSIDE, CUT, st.just(b"[" * 5000)), max_size=6
)


@examples(60)
@given(lines=LINES, end=st.sampled_from([b"\n", b"\r\n", b""]))
def test_no_line_harms_the_desk(one_for_all: BridgedDesk, lines: list[bytes], end: bytes) -> None:
    async def talk() -> None:
        line = Line(*await asyncio.open_unix_connection(one_for_all.bridge))
        await line.send(*(one + end for one in lines))
        line.writer.write_eof()
        while (answer := await line.answer()) is not None:
            assert set(answer) == {"request_id", "ts", "payload"}
            assert answer["payload"]["action"] in {"passthrough", "json_output"}
        line.writer.close()
        other = Line(*await asyncio.open_unix_connection(one_for_all.bridge))
        stop = {"hook_event_name": "Stop", "session_id": "after"}
        assert (await other.ask(envelope("s", stop)))["payload"] == {"action": "passthrough"}
        other.writer.close()
        await other.writer.wait_closed()

    asyncio.run(talk())
    assert one_for_all.process.poll() is None
