"""The habits of Copilot that a person would not expect: none of them can be met from here."""

import json
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from crabhook.hook import Options, Unanswered
from crabhook.hook.fallback import fall_back
from crabhook.model.card import Stance
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.platforms.copilot.settings import SETTINGS
from crabhook.platforms.event_table import Phase
from crabhook.platforms.installation import Installation
from crabhook.platforms.interface import Platform
from crabhook.vocabulary import path_key
from tests.support.client import sample

COPILOT: Platform = PLATFORMS["copilot"]
FOLDER = Path(__file__).parents[3] / "samples" / "copilot"
SAMPLES = sorted(path.stem for path in FOLDER.glob("*.json"))
REQUESTS = [name for name in SAMPLES if name.startswith("PermissionRequest")]
CALLS = [name for name in SAMPLES if name.startswith("PreToolUse")]
OTHER = {"command": "rm -rf /"}


def read(name: str, **changes: Any) -> Event:
    return COPILOT.read(sample(name, agent="copilot", **changes))


# Any exit code but 0 denies a call, whatever is printed, and exit code 2 loses the words.


@pytest.mark.parametrize("reason", ["no", "", " \n"])
@pytest.mark.parametrize("name", SAMPLES)
def test_no_reply_ends_with_an_exit_code_and_every_denial_has_words(name: str, reason: str) -> None:
    event = read(name)
    for verdict in Verdict:
        reply = COPILOT.write(event, Decision(verdict, reason))
        assert (reply.exit_code, reply.stderr) == (0, "")
        output = reply.output or {}
        specific = output.get("hookSpecificOutput", {})
        if verdict is Verdict.DENY and event.name in COPILOT.decided:
            words = specific.get("permissionDecisionReason") or output["message"]
            assert words.strip()


@pytest.mark.process
@pytest.mark.parametrize("closed", [False, True])
def test_where_crabhook_is_gone_no_line_ends_with_an_error(closed: bool, tmp_path: Path) -> None:
    here = Installation(f"{tmp_path}/python", f"{tmp_path}/run.py", fail_closed=closed)
    for event, group in SETTINGS.groups(here).items():
        (handler,) = group["hooks"]  # type: ignore[misc,attr-defined]
        ran = subprocess.run(
            ["sh", "-c", handler["command"]],
            capture_output=True,
            timeout=60,
            check=False,
            input=b"{}",
        )
        assert (ran.returncode, ran.stderr) == (0, b"")
        answer = json.loads(ran.stdout)
        denies = answer.get("behavior") == "deny" or "hookSpecificOutput" in answer
        assert denies == (closed and event in COPILOT.decided)


def _fallen(payload: bytes, wish: str) -> tuple[Any, int]:
    options = Options()
    options.platform = "copilot"
    options.when_unreachable = options.when_lost = wish
    reply = fall_back(options, payload, Unanswered("unreachable", "no such file", None))
    return json.loads(reply.stdout) if reply.stdout else None, reply.exit_code


@pytest.mark.parametrize("name", SAMPLES)
def test_without_a_server_a_denial_is_in_words_and_no_other_event_is_denied(name: str) -> None:
    payload, event = sample(name, agent="copilot"), read(name)
    output, code = _fallen(payload, "deny")
    assert code == 0
    assert (output is not None) == (event.name in COPILOT.decided)
    if output is not None:
        why = output.get("message") or output["hookSpecificOutput"]["permissionDecisionReason"]
        assert "crabhook cannot ask the operator" in why
    assert _fallen(payload, "pass") == (None, 0)


# A late hook has no opinion, and a hook has 30 seconds unless its entry says otherwise.


@pytest.mark.parametrize(("stance", "closed"), [*product((Stance.COMPANION, Stance.GATE), (0, 1))])
@pytest.mark.parametrize("wait", [1, 30, 3600, 2_147_423])
def test_every_entry_has_more_time_than_its_client(wait: int, stance: Stance, closed: int) -> None:
    how = Installation("/python", "/stub", stance=stance, fail_closed=bool(closed), wait=wait)
    for group in SETTINGS.groups(how).values():
        (handler,) = group["hooks"]  # type: ignore[misc,attr-defined]
        words = handler["command"].split()
        assert int(words[words.index("--wait") + 1].rstrip(";")) < handler["timeoutSec"] < 2**31
    protocol = COPILOT.protocol
    assert protocol.timeout == 30
    assert protocol.timeout_key({"timeout": 1, "timeoutSec": 2}) == "timeoutSec"


@pytest.mark.parametrize("name", [*CALLS, *REQUESTS])
def test_each_card_of_a_call_says_what_it_would_be_wrong_not_to_know(name: str) -> None:
    event = read(name)
    lines = " ".join(COPILOT.limits(event))
    before = COPILOT.phase(event) is Phase.BEFORE
    assert ("Others of this session wait behind this one" in lines) == before
    assert ("If this hook dies" in lines) == (not COPILOT.asks(event))
    assert any("dies" in caution for caution in SETTINGS.cautions)
    assert any("late" in caution for caution in SETTINGS.cautions)


# PermissionRequest runs the original, whatever input an allow brings.


@pytest.mark.parametrize("name", REQUESTS)
def test_no_changed_input_is_offered_taken_or_written_for_a_request(name: str) -> None:
    event, decision = read(name), Decision(Verdict.ALLOW, updated_input=OTHER)
    assert Beside.INPUT not in COPILOT.choices(event).beside
    with pytest.raises(DecisionError):
        COPILOT.check(event, decision)
    written = COPILOT.write(event, decision).output
    assert written is not None
    assert written["behavior"] == "deny"
    assert "updatedInput" not in json.dumps(written)


# Its answer is flat: Claude Code's words would be ignored, and the call would go on.


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("verdict", [Verdict.ALLOW, Verdict.DENY])
def test_a_request_is_never_answered_in_the_specific_output(name: str, verdict: Verdict) -> None:
    output = COPILOT.write(read(name), Decision(verdict, "no")).output
    assert output is not None
    assert output["behavior"] == verdict
    assert "hookSpecificOutput" not in output


# A note under hookSpecificOutput is dropped without a word on all events but PreToolUse.


@pytest.mark.parametrize("name", SAMPLES)
def test_a_note_stands_where_it_is_read(name: str) -> None:
    event = read(name)
    output = COPILOT.write(event, Decision(Verdict.ALLOW, note="look")).output or {}
    specific = output.get("hookSpecificOutput", {})
    assert "additionalContext" not in specific or event.name == "PreToolUse"
    assert "additionalContext" not in output or event.name != "PreToolUse"


# Its tools have Claude Code's names, and fields of their own.


@pytest.mark.parametrize("tool", ["Read", "Write", "Edit"])
def test_the_path_of_a_file_is_not_looked_for_where_claude_code_has_it(tool: str) -> None:
    assert (path_key(tool, "copilot"), path_key(tool, "claude")) == ("path", "file_path")


def test_a_request_has_its_path_where_the_other_events_have_it() -> None:
    tool = read("PermissionRequest-edit").tool
    assert tool is not None
    assert isinstance(tool.input, dict)
    assert set(tool.input) == {"path", "diff"}


# Stop fires for subagents as well.


def test_a_subagents_stop_ends_nothing_of_the_main_agents() -> None:
    assert read("Stop-in-subagent").agent_key != read("Stop").agent_key
    assert read("Stop-in-subagent").agent_key == read("PreToolUse-Bash-in-subagent").agent_key
