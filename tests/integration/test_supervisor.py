"""`crabhook supervisor-hook` as a process: its contract, with a reviewer's command and a true desk."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from tests.support.client import Client, finished, sample
from tests.support.examples import share
from tests.support.plain_desk import PlainDesk
from tests.support.service import Service
from tests.support.supervised import QUESTION, STOP, Judge, Supervised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.client import Answer

YES = {"allow_stop": True, "feedback": "It is done."}
NO = {"allow_stop": False, "feedback": "Run the tests first."}


@pytest.fixture(scope="module")
def desk() -> Iterator[PlainDesk]:
    with PlainDesk() as desk:
        yield desk


Ask: TypeAlias = "Callable[[dict[str, Any], dict[str, Any]], Answer]"


@pytest.fixture(params=["command", "operator"])
def reviewed(request: pytest.FixtureRequest, desk: PlainDesk, tmp_path: Path) -> Ask:
    """Ask the hook about an event that its reviewer gives this verdict on."""

    def by_command(event: dict[str, Any], verdict: dict[str, Any]) -> Answer:
        return Supervised(tmp_path, reviewer=Judge(tmp_path, verdict).command).told(event)

    def by_operator(event: dict[str, Any], verdict: dict[str, Any]) -> Answer:
        hook = operator(tmp_path, desk).start(event | {"session_id": request.node.originalname})
        number = card(desk, request.node.originalname)
        if verdict["allow_stop"]:
            desk.say(f"{number} allow")
        else:
            word = "deny" if "tool_name" in event else "keep-going"
            desk.say(f"{number} {word} {verdict['feedback']}")
        answer = finished(hook)
        desk.wait_for(rf"^#{number} delivered")
        return answer

    return by_command if request.param == "command" else by_operator


# The contract's own cases.


def test_tc_001_stop_allowed(reviewed: Ask) -> None:
    answer = reviewed(STOP, YES)
    assert answer.code == 0
    assert set(answer.output) == {"reason"}
    assert answer.output["reason"]


def test_tc_002_stop_blocked(reviewed: Ask) -> None:
    answer = reviewed(STOP, NO)
    assert answer.code == 0
    assert answer.output == {"decision": "block", "reason": "Run the tests first."}


def test_tc_003_question_allowed(reviewed: Ask) -> None:
    answer = reviewed(QUESTION, YES)
    assert (answer.code, set(answer.output)) == (0, {"hookSpecificOutput"})
    specific = dict(answer.output["hookSpecificOutput"])
    assert specific.pop("permissionDecisionReason")
    assert specific == {"hookEventName": "PreToolUse", "permissionDecision": "allow"}


def test_tc_004_question_denied_with_feedback(reviewed: Ask) -> None:
    answer = reviewed(QUESTION, NO)
    assert answer.code == 0
    assert answer.output == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "Run the tests first.",
        }
    }


@pytest.mark.parametrize("guard", ["CRABHOOK_SUPERVISOR_HOOK", "CCC_SUPERVISOR_HOOK"])
def test_tc_005_recursion_guard(tmp_path: Path, guard: str) -> None:
    judge = Judge(tmp_path, NO)
    hook = Supervised(tmp_path, reviewer=judge.command)
    stop = hook.told({"hook_event_name": "Stop"}, **{guard: "1"})
    assert (stop.code, set(stop.output)) == (0, {"reason"})
    question = hook.told(QUESTION, **{guard: "1"})
    assert question.output["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert hook.told(b"no JSON at all", **{guard: "1"}).code == 0
    assert (judge.heard(), hook.counted()) == ([], 0)
    assert hook.told(STOP, **{guard: "0"}).output["decision"] == "block"
    assert judge.heard()[0]["guards"] == {
        "CRABHOOK_SUPERVISOR_HOOK": "1",
        "CCC_SUPERVISOR_HOOK": "1",
    }


def test_tc_006_iteration_limit(tmp_path: Path) -> None:
    judge = Judge(tmp_path, NO)
    usual = Supervised(tmp_path, reviewer=judge.command)
    another = usual.told(STOP | {"session_id": "another"}).output
    assert another == {"decision": "block", "reason": "Run the tests first."}
    assert judge.heard()[0]["review"]["limit"] == 20
    hook = Supervised(tmp_path, reviewer=judge.command, limit=4)
    for event in (STOP, QUESTION, STOP, QUESTION):
        told = hook.told(event).output
        assert told.get("decision") == "block" or (
            told["hookSpecificOutput"]["permissionDecision"] == "deny"
        )
    reviews = [one["review"] for one in judge.heard()[1:]]
    assert [(one["iteration"], one["limit"]) for one in reviews] == [(n, 4) for n in range(1, 5)]
    assert set(hook.told(STOP).output) == {"reason"}
    sixth = hook.told(QUESTION).output["hookSpecificOutput"]
    assert sixth["permissionDecision"] == "allow"
    assert len(judge.heard()) == 5
    another = hook.told(STOP | {"session_id": "one more"}).output
    assert another == {"decision": "block", "reason": "Run the tests first."}


def test_tc_007_no_hook_event_name(reviewed: Ask) -> None:
    nameless = {key: value for key, value in STOP.items() if key != "hook_event_name"}
    answer = reviewed(nameless, NO)
    assert answer.output == {"decision": "block", "reason": "Run the tests first."}


# What else the contract says.


def test_the_reviewer_is_given_what_there_is_to_judge(tmp_path: Path) -> None:
    judge = Judge(tmp_path, YES)
    hook = Supervised(tmp_path, reviewer=judge.command, limit=3)
    hook.told(STOP)
    hook.told(QUESTION | {"unheard_of": [1]})
    stop, question = (one["review"] for one in judge.heard())
    assert stop == {
        "event": "Stop",
        "session_id": "s1",
        "iteration": 1,
        "limit": 3,
        "last_assistant_message": "All done.",
        "transcript_path": "/nowhere/s1.jsonl",
        "cwd": "/src",
        "questions": [],
        "hook_input": STOP,
    }
    assert question["event"] == "PreToolUse"
    assert question["questions"] == QUESTION["tool_input"]["questions"]  # type: ignore[index]
    assert question["hook_input"]["unheard_of"] == [1]


@pytest.mark.parametrize(
    "given",
    share([b"", b"nonsense", b"[1]", b"\xff", b'{"hook_event_name": 5}', b"{" * 9999], 0),
)
def test_unparsable_input_is_exit_code_2(tmp_path: Path, given: bytes) -> None:
    answer = Supervised(tmp_path, reviewer=["/bin/false"]).told(given)
    assert (answer.code, answer.stdout) == (2, b"")
    assert answer.stderr.startswith("failed to parse hook input: ")
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("reviewer", "says"),
    share(
        [
            (["/bin/false"], "ended with exit code 1"),
            (["/bin/sh", "-c", "kill -9 $$"], "ended by signal 9"),
            (["/no/such/judge"], "cannot be started: No such file or directory"),
            (["/bin/echo", "yes"], "is not JSON"),
            (["/bin/echo", '{"allow_stop": "yes", "feedback": ""}'], "is not {"),
            (["/bin/echo", '{"allow_stop": false}'], "is not {"),
            (["/bin/echo", '{"allow_stop": true, "feedback": "", "but": 1}'], "is not {"),
            (["/bin/sh", "-c", 'echo \'{"allow_stop": false, "feedback": ""}\'; exit 3'], "code 3"),
            (["/bin/sh", "-c", "yes"], "larger than 1 MiB"),
        ],
        0,
    ),
    ids=str,
)
def test_a_reviewer_that_fails_is_exit_code_1(
    tmp_path: Path, reviewer: list[str], says: str
) -> None:
    answer = Supervised(tmp_path, reviewer=reviewer).told(STOP)
    assert (answer.code, answer.stdout) == (1, b"")
    assert answer.stderr.startswith("supervisor SDK failed: ")
    assert says in answer.stderr


def test_a_wrong_setting_is_a_reviewer_that_fails(tmp_path: Path) -> None:
    answer = Supervised(tmp_path, reviewer=5).told(STOP)
    assert (answer.code, answer.stdout) == (1, b"")
    assert "line 2: reviewer must be" in answer.stderr


def test_the_session_is_said_by_option_then_environment_then_input(tmp_path: Path) -> None:
    judge = Judge(tmp_path, YES)
    settings: dict[str, Any] = {"reviewer": judge.command}
    plain = Supervised(tmp_path, **settings)
    both = {"CRABHOOK_SUPERVISOR_ID": "ours", "CCC_SUPERVISOR_ID": "old"}
    Supervised(tmp_path, "--session-id", "option", **settings).told(STOP, **both)
    plain.told(STOP, **both)
    plain.told(STOP, CCC_SUPERVISOR_ID="old")
    plain.told(STOP, CCC_SUPERVISOR_ID="")
    told = [one["review"]["session_id"] for one in judge.heard()]
    assert told == ["option", "ours", "old", "s1"]
    for given in (b"{}", b'{"session_id": ""}', b'{"session_id": 7}'):
        nobodys = plain.told(given)
        assert (nobodys.code, nobodys.stdout) == (2, b"")
        assert "give --session-id, or set CRABHOOK_SUPERVISOR_ID" in nobodys.stderr


def test_concurrent_hooks_are_counted_one_by_one(tmp_path: Path) -> None:
    judge = Judge(tmp_path, YES)
    hook = Supervised(tmp_path, reviewer=judge.command)
    with ThreadPoolExecutor(6) as many:
        answers = list(many.map(hook.told, [STOP] * 6))
    assert {answer.code for answer in answers} == {0}
    assert sorted(one["review"]["iteration"] for one in judge.heard()) == [1, 2, 3, 4, 5, 6]


def test_other_events_get_no_opinion_and_are_not_counted(tmp_path: Path) -> None:
    judge = Judge(tmp_path, YES)
    hook = Supervised(tmp_path, reviewer=judge.command)
    for event in (QUESTION | {"tool_name": "Bash"}, STOP | {"hook_event_name": "Notification"}):
        answer = hook.told(event)
        assert (answer.code, answer.output) == (0, {})
    assert (judge.heard(), hook.counted()) == ([], 0)


def test_an_answer_that_the_agent_does_not_take_is_no_success(tmp_path: Path) -> None:
    hook = Supervised(tmp_path, reviewer=Judge(tmp_path, NO).command)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            hook.command,
            input=json.dumps(STOP).encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            env=hook.environment,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1


# Time.

LINGERS = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open(sys.argv[1], "w") as out:
    print(os.getpid(), child.pid, file=out)
time.sleep(60)
"""


def test_at_the_deadline_the_reviewer_is_killed_with_all_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    reviewer = [sys.executable, "-c", LINGERS, str(pids)]
    answer = Supervised(tmp_path, reviewer=reviewer, timeout=5).told(STOP)
    assert (answer.code, answer.stdout) == (124, b"")
    assert answer.stderr == "hook execution timeout\n"
    assert_gone(pids)


def test_an_agent_that_ends_the_hook_ends_its_reviewer(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    reviewer = [sys.executable, "-c", LINGERS, str(pids)]
    hook = Supervised(tmp_path, reviewer=reviewer).start(STOP)
    until(lambda: pids.exists() and pids.read_text().endswith("\n"))
    hook.send_signal(signal.SIGTERM)
    answer = finished(hook)
    assert (answer.code, answer.stdout) == (143, b"")
    assert_gone(pids)


def test_an_input_without_an_end_is_out_of_time(tmp_path: Path) -> None:
    hook = Supervised(tmp_path, reviewer=["/bin/false"], timeout=0.5).start(None)
    assert hook.wait(60) == 124
    assert finished(hook).stderr == "hook execution timeout\n"


def assert_gone(pids: Path) -> None:
    for pid in map(int, pids.read_text().split()):
        until(lambda pid=pid: not alive(pid))  # type: ignore[misc]


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet buried does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


# The operator at the desk.


def card(desk: PlainDesk, session: str) -> str:
    """Wait for a card of this session; return its number."""
    return str(desk.wait_for(rf"^#(\d+) .* ?session={session} ").group(1))


def operator(tmp_path: Path, desk: PlainDesk, **settings: object) -> Supervised:
    return Supervised(tmp_path, "--server", desk.address, **settings)


def test_without_a_server_the_reviewer_fails(tmp_path: Path) -> None:
    answer = Supervised(tmp_path, "--server", f"unix:{tmp_path}/no").told(STOP)
    assert (answer.code, answer.stdout) == (1, b"")
    assert answer.stderr.startswith("supervisor SDK failed: crabhook cannot ask the operator")


def test_without_an_answer_in_time_it_is_out_of_time_and_the_card_goes(
    desk: PlainDesk, tmp_path: Path
) -> None:
    answer = operator(tmp_path, desk, timeout=5).told(STOP | {"session_id": "slow"})
    assert (answer.code, answer.stdout) == (124, b"")
    number = card(desk, "slow")
    desk.wait_for(rf"^#{number} EXPIRED")


def test_an_operator_who_is_away_is_a_reviewer_that_fails(tmp_path: Path) -> None:
    with PlainDesk() as desk:
        desk.say("away 10m")
        desk.wait_for("away")
        answer = operator(tmp_path, desk).told(STOP)
    assert (answer.code, answer.stdout) == (1, b"")
    assert "the operator is away" in answer.stderr


def test_nobody_at_a_headless_desk_is_a_reviewer_that_fails(tmp_path: Path) -> None:
    with Service("--headless") as service:
        answer = Supervised(tmp_path, "--server", service.address).told(STOP)
    assert (answer.code, answer.stdout) == (1, b"")
    assert "no person is at the desk" in answer.stderr


def test_an_operator_who_passes_lets_it_stop_and_leaves_the_question_to_the_user(
    desk: PlainDesk, tmp_path: Path
) -> None:
    hook = operator(tmp_path, desk)
    for event, printed in ((STOP, {"reason"}), (QUESTION, set[str]())):
        asking = hook.start(event | {"session_id": "passed"})
        desk.say(f"{card(desk, 'passed')} pass")
        answer = finished(asking)
        assert (answer.code, set(answer.output)) == (0, printed)


def test_the_operators_answers_to_the_questions_go_with_the_allow(
    desk: PlainDesk, tmp_path: Path
) -> None:
    payload = json.loads(sample("PreToolUse-AskUserQuestion", session_id="answered"))
    asking = operator(tmp_path, desk).start(payload)
    desk.say(f"{desk.card('AskUserQuestion')} answer 1=1")
    specific = finished(asking).output["hookSpecificOutput"]
    assert specific["permissionDecision"] == "allow"
    asked = payload["tool_input"]["questions"]
    assert specific["updatedInput"]["questions"] == asked
    answers = specific["updatedInput"]["answers"]
    assert answers[asked[0]["question"]] == asked[0]["options"][0]["label"]


def test_an_agent_that_ends_the_hook_takes_the_card_from_the_desk(
    desk: PlainDesk, tmp_path: Path
) -> None:
    asking = operator(tmp_path, desk).start(STOP | {"session_id": "left"})
    number = card(desk, "left")
    asking.send_signal(signal.SIGTERM)
    assert finished(asking).code == 143
    desk.wait_for(rf"^#{number} WITHDRAWN")


# Beside crabhook's own hook on the same Stop.


@pytest.mark.parametrize("first", ["own", "supervisor"])
def test_the_other_hook_of_the_same_stop_does_not_end_the_card(
    desk: PlainDesk, tmp_path: Path, first: str
) -> None:
    event = STOP | {"session_id": f"{first}-first"}
    hook = operator(tmp_path, desk)
    if first == "own":
        assert Client(desk.address, json.dumps(event).encode(), "--companion").finish().silent
    asking = hook.start(event)
    number = card(desk, f"{first}-first")
    if first == "supervisor":
        assert Client(desk.address, json.dumps(event).encode(), "--companion").finish().silent
    desk.say(f"{number} keep-going one thing more")
    assert finished(asking).output == {"decision": "block", "reason": "one thing more"}


def test_the_state_is_the_owners_alone_whatever_the_session_is_called(tmp_path: Path) -> None:
    hook = Supervised(tmp_path, reviewer=Judge(tmp_path, YES).command)
    for session in ("../../../etc/passwd", "/etc/passwd", "a" * 5000, "\x00", "\ud800", "."):
        assert hook.told(STOP | {"session_id": session}).code == 0
    folder = tmp_path / "state" / "crabhook" / "supervisor"
    assert folder.stat().st_mode & 0o077 == 0
    assert len(list(folder.iterdir())) == 6 + 1
    assert all(file.stat().st_mode & 0o077 == 0 for file in folder.iterdir())
    assert [one.name for one in (tmp_path / "state").iterdir()] == ["crabhook"]
