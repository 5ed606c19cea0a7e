"""The four habits of Qwen Code that let a call run: none of them can be met from here."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from crabhook.model.card import Stance
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.platforms.installation import Installation
from crabhook.platforms.qwen.settings import MILLISECONDS_FROM, groups
from tests.support.client import sample
from tests.support.rows import every_row

QWEN = PLATFORMS["qwen"]
SAMPLES = sorted(
    path.stem for path in (Path(__file__).parents[3] / "samples" / "qwen").glob("*.json")
)
BEFORE = [name for name in SAMPLES if name.startswith("PreToolUse")]
OTHER = {"command": "rm -rf /"}


def read(name: str, **changes: Any) -> Event:
    return QWEN.read(sample(name, agent="qwen", **changes))


# PermissionRequest comes first, so it alone grants: tests/unit/broker/test_asked_first.py has the
# way from there to PreToolUse.


def test_before_a_call_nothing_is_written_that_would_grant_it() -> None:
    assert QWEN.asks_first
    for name in BEFORE:
        assert QWEN.write(read(name), Decision(Verdict.ALLOW, "yes")).output is None


# An input changed on PreToolUse is ignored, and the original runs.


@pytest.mark.parametrize("name", BEFORE)
def test_no_changed_input_is_offered_taken_or_written_before_a_call(name: str) -> None:
    event, decision = read(name), Decision(Verdict.ALLOW, updated_input=OTHER)
    assert Beside.INPUT not in QWEN.choices(event).beside
    with pytest.raises(DecisionError):
        QWEN.check(event, decision)
    written = QWEN.write(event, decision).output
    assert written is not None
    assert written["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "updatedInput" not in json.dumps(written)


@pytest.mark.parametrize("name", BEFORE)
def test_a_call_that_was_changed_before_runs_as_it_was_changed(name: str) -> None:
    event = read(name)
    assert event.tool is not None
    decision = Decision(Verdict.ALLOW, updated_input=event.tool.input)  # type: ignore[arg-type]
    assert QWEN.write(event, decision).output is None


# Exit code 2 without words runs the call.


@every_row("reason", ["no", "", " \n"])
@every_row("name", SAMPLES)
def test_no_reply_ends_with_an_exit_code_and_every_denial_has_words(name: str, reason: str) -> None:
    event = read(name)
    for verdict in Verdict:
        reply = QWEN.write(event, Decision(verdict, reason))
        assert (reply.exit_code, reply.stderr) == (0, "")
        specific = (reply.output or {}).get("hookSpecificOutput", {})
        if verdict is Verdict.DENY and event.name in QWEN.decided:
            words = specific.get("permissionDecisionReason") or specific["decision"]["message"]
            assert words.strip()


# A timeout of 1000 and more is milliseconds, and any below is seconds.


@pytest.mark.parametrize(("stance", "closed"), [*product((Stance.COMPANION, Stance.GATE), (0, 1))])
@pytest.mark.parametrize("wait", [0, 1, 999, 1000, 3600, 2_147_423])
def test_every_timeout_is_milliseconds_and_longer_than_the_clients(
    wait: int, stance: Stance, closed: int
) -> None:
    how = Installation("/python", "/stub", stance=stance, fail_closed=bool(closed), wait=wait)
    for group in groups(how).values():
        (handler,) = group["hooks"]  # type: ignore[misc,attr-defined]
        timeout, words = handler["timeout"], handler["command"].split()
        assert MILLISECONDS_FROM <= timeout < 2**31
        assert QWEN.protocol.seconds(timeout) == timeout / 1000
        assert int(words[words.index("--wait") + 1].rstrip(";")) < timeout / 1000


@pytest.mark.parametrize(("written", "seconds"), [(2, 2), (999, 999), (1000, 1), (3600, 3.6)])
def test_a_registered_timeout_is_read_as_qwen_code_reads_it(written: int, seconds: float) -> None:
    assert QWEN.protocol.seconds(written) == seconds
