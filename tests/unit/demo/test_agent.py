"""The demo's agent: recorded calls, and what it makes of a denial."""

import json

from crabhook.demo.script import MOST_PLANS, Read, calls, changed_by, revised
from crabhook.platforms import PLATFORMS
from crabhook.ui.full.dialogs.plan import PlanNotes


def test_the_recorded_inputs_are_ones_a_claude_code_sends() -> None:
    events = [PLATFORMS["claude"].read(json.dumps(call).encode()) for call in calls()]
    assert [event.tool.name for event in events if event.tool] == [
        "Bash",
        "Edit",
        "AskUserQuestion",
        "ExitPlanMode",
    ]
    assert {event.name for event in events} == {"PreToolUse"}


def denial(reason: str) -> Read:
    output = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return Read("Bash", json.dumps({"hookSpecificOutput": output}))


def test_a_denial_is_read_with_its_reason_and_nothing_else_is_one() -> None:
    assert denial("keep it").denied == "keep it"
    assert not Read("Bash", "").denied
    assert not Read("Bash", '{"hookSpecificOutput": {"permissionDecision": "allow"}}').denied


def test_a_denied_deletion_is_asked_again_without_it_and_says_why() -> None:
    first = next(calls())
    again = changed_by(first, "keep build")
    assert again is not None
    assert "rm" not in again["tool_input"]["command"]
    assert "keep build" in again["tool_input"]["description"]
    assert changed_by(again, "not that either") is None


def test_a_plan_comes_back_changed_as_you_said_and_not_for_ever() -> None:
    plan = list(calls())[-1]
    for turn in range(MOST_PLANS):
        changed = changed_by(plan, f"word {turn}\nsecond line")
        assert changed is not None
        assert changed["tool_input"]["plan"].endswith(
            f"\nChanged as you said: word {turn}\nsecond line\n"
        )
        assert changed["tool_use_id"] != plan["tool_use_id"]
        plan = changed
    assert changed_by(plan, "no") is None


def test_notes_on_lines_are_answered_below_these_lines_and_nothing_of_the_form_is_repeated() -> (
    None
):
    plan = list(calls())[-1]
    notes = PlanNotes(plan["tool_input"]["plan"])
    for at, note in ((2, "in put\nas well"), (3, "wait 8 s"), (len(notes.lines), "be quick")):
        notes.at = at
        notes.write(note)
    lines = revised(notes.plan, notes.reason()).split("\n")
    at = next(at for at, line in enumerate(lines) if line.startswith("1. "))
    assert lines[at + 1 : at + 3] == ["   Changed: in put", "   Changed: as well"]
    assert lines[at + 3].startswith("2. ")
    assert lines[at + 4] == "   Changed: wait 8 s"
    assert lines[-2] == "Changed as you said: be quick"
    assert len(lines) == len(notes.plan.split("\n")) + 5


def test_what_was_read_is_shown_in_lines_of_its_own() -> None:
    assert denial("x").pretty().count("\n") > 3
    assert "no opinion" in Read("Bash", "").pretty()
