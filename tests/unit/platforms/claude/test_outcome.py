"""What the event that ends a wait tells of the call."""

import json
from pathlib import Path
from typing import Any

import pytest

from crabhook.model.event import EndScope
from crabhook.platforms import PLATFORMS
from crabhook.platforms.claude.events import EVENTS
from crabhook.platforms.claude.write import LONGEST, outcome

SAMPLES = Path(__file__).parents[3] / "samples" / "claude"


def told(sample: str, **changes: Any) -> str:
    event = json.loads((SAMPLES / f"{sample}.json").read_text()) | changes
    return outcome(PLATFORMS["claude"].read(json.dumps(event).encode()))


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ("PostToolUse-Bash", "it ran"),
        ("PostToolUse-ExitPlanMode", "the plan was approved"),
        ("PostToolUse-AskUserQuestion", "answered pydantic; B"),
        (
            "PostToolUseFailure-Bash",
            "it ran and failed: Exit code 1 cat: /no/such/file: No such file or directory",
        ),
        (
            "PermissionDenied-Bash",
            "the agent's own classifier denied it: Classifier unavailable",
        ),
        ("PostToolBatch-Bash", "the agent went on"),
    ],
)
def test_recorded_ends_tell_how_the_call_went(sample: str, expected: str) -> None:
    assert told(sample) == expected


def test_a_call_its_user_broke_off_is_not_said_to_have_failed() -> None:
    assert told("PostToolUseFailure-Bash", is_interrupt=True) == "it was interrupted"


def test_every_event_that_ends_a_wait_tells_something() -> None:
    claude = PLATFORMS["claude"]
    for name, rule in EVENTS.items():
        event = claude.read(json.dumps({"hook_event_name": name}).encode())
        assert bool(outcome(event)) == (rule.closes is not EndScope.NOTHING), name


@pytest.mark.parametrize("error", ["x" * 10_000_000, "a\n" * 500, 7, None, ["x"], {"a": "b"}])
def test_whatever_an_agent_says_is_one_short_line(error: Any) -> None:
    line = told("PostToolUseFailure-Bash", error=error)
    assert len(line) < LONGEST + 30
    assert "\n" not in line


@pytest.mark.parametrize("answers", [None, "x", ["a"], {"Which library?": 7}, {}])
def test_answers_of_the_wrong_form_are_left_out(answers: Any) -> None:
    questions = {"questions": [], "answers": answers}
    assert told("PostToolUse-AskUserQuestion", tool_input=questions) == "it ran"
