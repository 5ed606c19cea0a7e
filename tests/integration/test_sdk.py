"""A person's own hook asks the operator at a true desk, and the card is the right one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.client import Client, sample
from tests.support.plain_desk import PlainDesk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOOK = """
import sys
from crabhook.sdk import PermissionRequest, PostToolUse, PreToolUse, ask_operator, on, run

@on(PreToolUse)
def guard(event):
    return ask_operator(event, address=sys.argv[1], timeout=60)

@on(PermissionRequest)
def also(event):
    return ask_operator(event, address=sys.argv[1], timeout=60) or event.deny("nobody there")

@on(PostToolUse)
def after(event):
    return ask_operator(event, address=sys.argv[1], timeout=60)

run(guard, also, after, on_error="deny")
"""

COMPAT = """
import sys
from crabhook.sdk.compat import HookOutput, Platform, ask_operator, run_hook

def guard(hook_input):
    return ask_operator(hook_input, address=sys.argv[1], timeout=60) or HookOutput()

sys.exit(run_hook(guard, Platform.CLAUDE))
"""


@pytest.fixture(scope="module")
def desk() -> Iterator[PlainDesk]:
    with PlainDesk() as desk:
        yield desk


class OwnHook:
    """A script of a person's, started as an agent would, that waits for the operator."""

    def __init__(self, folder: Path, address: str, payload: bytes, source: str = HOOK) -> None:
        script = folder / "hook.py"
        script.write_text(source, encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, str(script), address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        )
        assert self.process.stdin is not None
        self.process.stdin.write(payload)
        self.process.stdin.close()
        self.process.stdin = None

    def finish(self) -> tuple[int, bytes, str]:
        """Wait for its end; return exit code, standard output and standard error."""
        try:
            stdout, stderr = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, stdout, stderr.decode()


@pytest.mark.parametrize(
    ("name", "words", "printed"),
    [
        ("PreToolUse-Bash", "deny not on a Sunday",
         {"permissionDecision": "deny", "permissionDecisionReason": "not on a Sunday"}),
        ("PreToolUse-Bash", "allow be quick",
         {"permissionDecision": "allow", "additionalContext": "be quick"}),
        ("PreToolUse-Bash", "ask", {"permissionDecision": "ask"}),
        ("PermissionRequest-Bash", "allow", {"decision": {"behavior": "allow"}}),
        ("PermissionRequest-Bash", "deny no", {"decision": {"behavior": "deny", "message": "no"}}),
    ],
    ids=["deny", "allow with a note", "ask", "request allowed", "request denied"],
)  # fmt: skip
def test_what_the_operator_decides_is_what_the_hook_prints(
    desk: PlainDesk, tmp_path: Path, name: str, words: str, printed: dict[str, object]
) -> None:
    hook = OwnHook(tmp_path, desk.address, sample(name, session_id=f"{name} {words}"))
    number = desk.card("Bash")
    desk.say(f"{number} {words}")
    code, stdout, stderr = hook.finish()
    assert (code, stderr) == (0, "")
    event = name.partition("-")[0]
    told = json.loads(stdout)["hookSpecificOutput"]
    decision = told.get("decision", told)
    if "allow" in words and event == "PreToolUse":  # an allow sends back what was approved
        assert decision.pop("updatedInput") == json.loads(sample(name))["tool_input"]
    assert told == {"hookEventName": event, **printed}
    desk.wait_for(rf"^#{number} delivered")


def test_a_question_is_answered_by_the_operator(desk: PlainDesk, tmp_path: Path) -> None:
    payload = sample("PreToolUse-AskUserQuestion", session_id="questions")
    hook = OwnHook(tmp_path, desk.address, payload)
    number = desk.card("AskUserQuestion")
    desk.say(f"{number} answer 1=1")
    specific = json.loads(hook.finish()[1])["hookSpecificOutput"]
    asked = json.loads(payload)["tool_input"]["questions"]
    assert specific["permissionDecision"] == "allow"
    assert specific["updatedInput"]["questions"] == asked
    answers = specific["updatedInput"]["answers"]
    assert answers[asked[0]["question"]] == asked[0]["options"][0]["label"]


def test_what_was_decided_for_a_hook_of_ones_own_holds_for_crabhooks_as_well(
    desk: PlainDesk, tmp_path: Path
) -> None:
    asked = sample("PreToolUse-Bash", session_id="one call")
    own = OwnHook(tmp_path, desk.address, asked)
    desk.say(f"{desk.card('Bash')} deny once for both")
    assert b"once for both" in own.finish()[1]
    same_call = {"session_id": "one call", "tool_input": json.loads(asked)["tool_input"]}
    other = Client(desk.address, sample("PermissionRequest-Bash", **same_call))
    assert b"once for both" in other.finish().stdout


def test_an_operator_who_passes_leaves_the_hook_its_own_opinion(
    desk: PlainDesk, tmp_path: Path
) -> None:
    asked = OwnHook(tmp_path, desk.address, sample("PreToolUse-Bash", session_id="passed"))
    desk.say(f"{desk.card('Bash')} pass")
    assert asked.finish()[:2] == (0, b"")
    request = OwnHook(tmp_path, desk.address, sample("PermissionRequest-Bash", session_id="own"))
    desk.say(f"{desk.card('Bash')} pass")
    assert b"nobody there" in request.finish()[1]


def test_an_event_that_is_not_held_is_no_opinion_at_once(desk: PlainDesk, tmp_path: Path) -> None:
    hook = OwnHook(tmp_path, desk.address, sample("PostToolUse-Bash", session_id="observed"))
    assert hook.finish()[:2] == (0, b"")


def test_the_specified_shape_asks_as_well(desk: PlainDesk, tmp_path: Path) -> None:
    payload = sample("PreToolUse-Bash", session_id="compat")
    hook = OwnHook(tmp_path, desk.address, payload, COMPAT)
    number = desk.card("Bash")
    desk.say(f"{number} deny not like this")
    code, stdout, _ = hook.finish()
    assert code == 0
    assert json.loads(stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    desk.wait_for(rf"^#{number} delivered")
