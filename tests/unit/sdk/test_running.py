"""The process: one input, one answer, nothing else on standard output."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.sdk import samples

pytestmark = pytest.mark.process

HOOK = """
import subprocess, sys
from crabhook.sdk import *
from crabhook.sdk.running import run

@on(PreToolUse)
def guard(event):
    print("a word of mine")
    subprocess.run(["echo", "a word of a child"], check=True)
    if event.command == "fail":
        raise ValueError("failed")
    return event.deny("not \\u2603 \\ud800 now") if event.command == "deny" else None

@on(TaskCompleted)
def unfinished(event):
    return event.block("not yet")

@on(PreCompact)
def keep(event):
    return event.block("keep it")

run(guard, unfinished, keep, on_error=sys.argv[1])
"""


def hook(
    tmp_path: Path, payload: bytes, on_error: str = "pass", source: str = HOOK
) -> subprocess.CompletedProcess[bytes]:
    script = tmp_path / "hook.py"
    script.write_text(source, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(script), on_error],
        input=payload,
        capture_output=True,
        timeout=60,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )


def call(command: str) -> bytes:
    changed = samples.raw("claude", "PreToolUse-Bash", tool_input={"command": command})
    return json.dumps(changed).encode()


def test_006_8_only_the_answer_is_on_standard_output(tmp_path: Path) -> None:
    done = hook(tmp_path, call("deny"))
    assert done.returncode == 0
    specific = json.loads(done.stdout)["hookSpecificOutput"]
    assert specific["permissionDecisionReason"] == "not \u2603 \ud800 now"
    assert done.stdout.isascii()
    assert done.stdout.count(b"\n") == 1
    assert b"a word of mine" in done.stderr
    assert b"a word of a child" in done.stderr


def test_006_10_no_opinion_is_exit_0_and_nothing(tmp_path: Path) -> None:
    done = hook(tmp_path, call("ls"))
    assert (done.returncode, done.stdout) == (0, b"")


def test_006_10_no_opinion_on_gemini_is_an_empty_object(tmp_path: Path) -> None:
    done = hook(tmp_path, samples.text("gemini", "BeforeTool-glob").encode())
    assert (done.returncode, json.loads(done.stdout)) == (0, {})


def test_006_9_a_failure_is_exit_1_where_the_agent_is_to_go_on(tmp_path: Path) -> None:
    done = hook(tmp_path, call("fail"))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"ValueError: failed" in done.stderr


def test_006_9_a_failure_is_a_denial_where_the_author_wants_it(tmp_path: Path) -> None:
    done = hook(tmp_path, call("fail"), "deny")
    assert done.returncode == 0
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_an_input_nobody_can_read_is_exit_2_where_the_author_wants_it(tmp_path: Path) -> None:
    done = hook(tmp_path, b"{", "deny")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"cannot read its input" in done.stderr


def test_a_slip_in_a_word_of_the_authors_opens_no_guard(tmp_path: Path) -> None:
    done = hook(tmp_path, call("ls"), "Deny")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"on_error is 'pass' or 'deny', not 'Deny'" in done.stderr
    unknown = HOOK.replace("on_error=sys.argv[1]", "platform='cursor'")
    done = hook(tmp_path, call("ls"), source=unknown)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"'codex', 'qwen', 'copilot', not 'cursor'" in done.stderr


def test_an_event_that_is_decided_by_its_exit_code_is(tmp_path: Path) -> None:
    done = hook(tmp_path, b'{"hook_event_name": "TaskCompleted"}')
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"not yet\n")


def test_what_could_not_be_said_is_told_on_standard_error(tmp_path: Path) -> None:
    done = hook(tmp_path, samples.text("codex", "PreCompact").encode())
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"crabhook.sdk: left out the decision" in done.stderr


def test_an_input_past_the_bound_is_not_read(tmp_path: Path) -> None:
    cut = hook(tmp_path, b" " * (32 << 20) + call("ls"), "deny")
    assert (cut.returncode, cut.stdout) == (2, b"")


def test_an_agent_that_does_not_take_the_answer_is_told_by_the_exit_code(tmp_path: Path) -> None:
    script = tmp_path / "hook.py"
    script.write_text(HOOK, encoding="utf-8")
    reader, writer = os.pipe()
    os.close(reader)
    started = subprocess.Popen(
        [sys.executable, str(script), "pass"],
        stdin=subprocess.PIPE,
        stdout=writer,
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    started.communicate(call("deny"), timeout=60)
    assert started.returncode == 1


def test_006_8_a_person_who_starts_it_by_hand_is_told_what_it_is(tmp_path: Path) -> None:
    script = tmp_path / "hook.py"
    script.write_text(HOOK, encoding="utf-8")
    ours, theirs = os.openpty()
    try:
        done = subprocess.run(
            [sys.executable, str(script), "pass"],
            stdin=theirs,
            capture_output=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"This is a hook" in done.stderr


# What a start costs, said in modules.

LOOK = "import sys; before = set(sys.modules); import {}; print(*(set(sys.modules) - before))"


def modules(name: str) -> set[str]:
    """The modules that an import brings beside those the interpreter has."""
    return set(
        subprocess.check_output(
            [sys.executable, "-c", LOOK.format(name)], text=True, timeout=60
        ).split()
    )


STANDARD = {
    "__future__", "collections", "contextlib", "copyreg", "enum", "functools", "itertools", "json", "keyword",
    "operator", "re", "reprlib", "types", "typing", "warnings",
}  # fmt: skip


def test_an_import_brings_json_and_typing_and_what_they_need() -> None:
    told = modules("crabhook.sdk")
    standard = {name.partition(".")[0] for name in told if not name.startswith("_")}
    assert standard - {"crabhook"} <= STANDARD
    assert {name for name in told if name.startswith("crabhook") and "sdk" not in name} == {
        "crabhook",
        "crabhook.model",
        "crabhook.model.errors",
        "crabhook.model.jsontext",
    }
    assert not {"crabhook.sdk.heard", "crabhook.sdk.compat", "crabhook.sdk.dialects.codex"} & told


@pytest.mark.parametrize("name", ["crabhook.sdk", "crabhook.sdk.compat"])
def test_nothing_heavy_is_ever_imported(name: str) -> None:
    heavy = ("grpc", "google", "prompt_toolkit", "pygments", "tree_sitter", "sqlite3", "asyncio", "socket")  # fmt: skip
    assert not [one for one in modules(name) if one.startswith(heavy)]
