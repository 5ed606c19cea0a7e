"""A reviewer's command: what it is given, what is read of it, and that nothing of it stays."""

import json
import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.supervisor.contract import (
    Deadline,
    HookInputError,
    Occasion,
    OutOfTimeError,
    Review,
    ReviewerError,
    ReviewResult,
    read,
)
from crabhook.supervisor.reviewers import (
    GUARDS,
    guarded,
    judged_by,
    printed_by,
    read_finding,
)
from crabhook.supervisor.running import read_all
from tests.support.rows import every_row

STOP = read(b'{"hook_event_name": "Stop", "last_assistant_message": "\xc3\xa9\\ud800"}')
REVIEW = Review(STOP, Occasion.STOP, "s", 1, 20)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
        with Path(f"/proc/{process}/stat").open() as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def printing(code: str, given: bytes = b"", seconds: float = 60) -> bytes:
    return printed_by([sys.executable, "-c", code], given, os.environ, Deadline(seconds))


@given(st.booleans(), st.text())
def test_a_verdict_is_read_as_it_was_printed(allow: bool, feedback: str) -> None:
    printed = json.dumps({"allow_stop": allow, "feedback": feedback}).encode()
    assert read_finding(printed) == ReviewResult(allow, feedback)


@every_row(
    "printed",
    [
        b"",
        b"yes",
        b"[]",
        b"{}",
        b'{"allow_stop": 1, "feedback": ""}',
        b'{"allow_stop": true}',
        b'{"allow_stop": true, "feedback": null}',
        b'{"feedback": ""}',
        b'{"allow_stop": true, "feedback": "", "sure": false}',
        b'{"allow_stop": true, "feedback": ""} {}',
    ],
)
def test_anything_else_is_no_verdict(printed: bytes) -> None:
    with pytest.raises(ReviewerError, match=r'\{"allow_stop": true or false'):
        read_finding(printed)


@pytest.mark.process
def test_a_child_that_holds_the_output_keeps_nobody_and_is_ended(tmp_path: Path) -> None:
    noted = tmp_path / "child"
    code = (
        "import pathlib, subprocess\n"
        "child = subprocess.Popen(['sleep', '300'])\n"
        f"pathlib.Path({str(noted)!r}).write_text(str(child.pid))\n"
        "print('said')\n"
    )
    begun = time.monotonic()
    assert printing(code, seconds=60) == b"said\n"
    assert time.monotonic() - begun < 30
    child = int(noted.read_text())
    while _lives(child):
        assert time.monotonic() - begun < 30
        time.sleep(0.01)


@pytest.mark.process
def test_the_review_is_json_on_standard_input_under_the_guard(tmp_path: Path) -> None:
    judge = tmp_path / "judge.py"
    judge.write_text(
        "import json, os, sys\n"
        "review = json.load(sys.stdin)\n"
        f"guards = [os.environ.get(name) for name in {[*GUARDS]}]\n"
        "told = json.dumps([review['last_assistant_message'], guards, os.environ['KEPT']])\n"
        "print(json.dumps({'allow_stop': True, 'feedback': told}))\n"
    )
    command, environment = [sys.executable, str(judge)], {"KEPT": "yes", "PATH": ""}
    feedback = judged_by(command, REVIEW, Deadline(20), environment).feedback
    assert json.loads(feedback) == ["é\ud800", ["1", "1"], "yes"]


def test_the_guard_is_the_number_one_and_nothing_else() -> None:
    assert guarded(GUARDS)
    assert all(guarded({name: "1"}) for name in GUARDS)
    assert not any(guarded({name: said}) for name in GUARDS for said in ("", "0", "true"))


@pytest.mark.process
def test_a_program_that_does_not_read_is_not_waited_on() -> None:
    assert printing("print('done')", b"x" * (8 << 20)) == b"done\n"


@pytest.mark.process
def test_what_a_program_leaves_running_is_ended_with_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = (
        "import os, subprocess, sys\n"
        "sleep = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
        "child = subprocess.Popen(sleep, stdout=subprocess.DEVNULL)\n"
        f"open({str(pid)!r}, 'w').write(str(child.pid))\n"
    )
    assert printing(code) == b""
    end = time.monotonic() + 60
    while runs(int(pid.read_text())):
        assert time.monotonic() < end
        time.sleep(0.01)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.process
@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(60)",
        "import os, time; os.close(1); time.sleep(60)",
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
    ],
    ids=["silent", "without an output", "deaf"],
)
def test_a_program_is_waited_for_until_the_deadline(code: str) -> None:
    with pytest.raises(OutOfTimeError):
        printing(code, seconds=0.5)


@pytest.mark.process
@pytest.mark.parametrize("name", ["/no/such", "\0", "/"])
def test_a_program_that_cannot_be_started_is_said(name: str) -> None:
    with pytest.raises(ReviewerError, match=r"cannot be started: .*whole path"):
        printed_by([name], b"", {}, Deadline(5))


def test_more_than_was_to_be_taken_is_not_taken() -> None:
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb"), os.fdopen(write_end, "wb") as out:
        out.write(b"x" * 100)
        out.flush()
        with pytest.raises(HookInputError):
            read_all(read_end, 99, Deadline(5))
