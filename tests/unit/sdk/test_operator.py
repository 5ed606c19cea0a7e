"""The operator is asked over the hook's own wire, and nobody's answer is nobody's."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crabhook.sdk import Answer, PreToolUse, Verdict, ask_operator, operator
from tests.unit.hook.peers import Operator, replying, serving, short_folder
from tests.unit.sdk import samples

DENIAL = (
    b'{"hookSpecificOutput":{"hookEventName":"PreToolUse",'
    b'"permissionDecision":"deny","permissionDecisionReason":"ask me tomorrow"}}\n'
)


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


def call() -> PreToolUse:
    event = samples.event("claude", "PreToolUse-Bash")
    assert isinstance(event, PreToolUse)
    return event


def test_the_input_goes_out_byte_for_byte_and_the_answer_comes_back(folder: Path) -> None:
    served = Operator(lambda _request, _context: replying(DENIAL, confirm=True))
    event, address = call(), f"unix:{folder}/s"
    with serving(served, address):
        answer = ask_operator(event, address=address, timeout=60)
    assert answer == Answer(Verdict.DENY, "ask me tomorrow") == event.deny("ask me tomorrow")
    (asked,) = served.requests
    assert asked.payload == event.payload
    assert asked.platform == "claude"
    assert 0 < asked.wait_ms <= 60_000


def test_an_operator_who_passes_is_no_opinion_and_is_told_so(folder: Path) -> None:
    served = Operator(lambda _request, _context: replying(stderr=b"no opinion", confirm=True))
    address = f"unix:{folder}/s"
    with serving(served, address):
        assert ask_operator(call(), address=address, timeout=60) is None
    assert len(served.confirmed) == 1


@pytest.mark.parametrize("options", [{"timeout": 0}, {"address": "nowhere"}, {"tls_ca": "/none"}])
def test_an_option_that_is_wrong_is_no_opinion(
    folder: Path, capsys: pytest.CaptureFixture[str], options: dict[str, object]
) -> None:
    told = {"address": f"unix:{folder}/none", **options}
    assert ask_operator(call(), **told) is None  # type: ignore[arg-type]
    assert "nobody answered" in capsys.readouterr().err


def test_nobody_there_is_no_opinion_and_says_why(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask_operator(call(), address=f"unix:{folder}/none", timeout=1) is None
    assert "nobody answered (unreachable)" in capsys.readouterr().err


def test_nobody_in_time_is_no_opinion(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    served = Operator(lambda _request, context: served.hold(context) or replying(DENIAL))  # type: ignore[func-returns-value]
    address = f"unix:{folder}/s"
    with serving(served, address):
        assert ask_operator(call(), address=address, timeout=0.5) is None
        served.released.set()
    assert "nobody answered (late)" in capsys.readouterr().err


HOOK = """
from crabhook.sdk import PreToolUse, ask_operator, on, run

@on(PreToolUse)
def guard(event):
    answer = ask_operator(event, timeout=60)
    return {}

run(guard)
"""


def run_hook(folder: Path, returned: str) -> subprocess.CompletedProcess[bytes]:
    script = folder / "hook.py"
    script.write_text(HOOK.format(returned), encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(script)],
        input=call().payload,
        capture_output=True,
        timeout=60,
        check=True,
        env={"PATH": os.environ["PATH"], "CRABHOOK_SERVER": f"unix:{folder}/s"},
    )


@pytest.mark.process
def test_the_operator_is_told_once_the_answer_is_printed(folder: Path) -> None:
    served = Operator(lambda _request, _context: replying(DENIAL, confirm=True))
    with serving(served, f"unix:{folder}/s"):
        done = run_hook(folder, "answer")
    assert json.loads(done.stdout) == json.loads(DENIAL)
    assert [one.request_id for one in served.confirmed] == [served.requests[0].request_id]


@pytest.mark.process
@pytest.mark.parametrize("returned", ["None", "event.deny(answer.reason)"])
def test_the_operator_is_told_nothing_of_an_answer_that_is_not_theirs(
    folder: Path, returned: str
) -> None:
    served = Operator(lambda _request, _context: replying(DENIAL, confirm=True))
    with serving(served, f"unix:{folder}/s"):
        run_hook(folder, returned)
    assert served.requests
    assert not served.confirmed


def test_a_changed_copy_is_not_the_operators_answer_any_more() -> None:
    assert not hasattr(Answer(), "printed")
    copied = operator._OperatorsAnswer(Verdict.DENY, "r").telling_user("u")
    assert copied == Answer(Verdict.DENY, "r", user_message="u")
    copied.printed()  # type: ignore[attr-defined]
