"""Cells of the two tools that ask the agent's user: AskUserQuestion and ExitPlanMode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from crabhook.model.card import Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.question import Answer, merge_answers
from tests.conformance.cell import Cell, Drive, Fact
from tests.conformance.cells.calls import REASON
from tests.conformance.facts import (
    fact,
    fired,
    model_read,
    not_shown,
    shown,
    told_as_result,
    turns,
)
from tests.conformance.scene import Scene
from tests.conformance.steps import heard, see
from tests.support.turns import Text, ToolUse

QUESTION = {
    "questions": [
        {
            "question": "Which colours shall it have?",
            "header": "Colours",
            "multiSelect": True,
            "options": [
                {"label": "Red, green", "description": "both"},
                {"label": "Blue", "description": "one"},
            ],
        },
        {
            "question": "What is it called?",
            "header": "Name",
            "multiSelect": False,
            "options": [
                {"label": "Crab", "description": "an animal"},
                {"label": "Hook", "description": "a thing"},
            ],
        },
    ]
}
ANSWERS: Mapping[int, Answer] = {
    0: Answer(chosen=(0, 1), note="bright ones"),
    1: Answer(words="Scuttle, the 2nd"),
}
ASKS = Drive(
    ((ToolUse("AskUserQuestion", QUESTION),), (Text("All said."),)), steps=(see("All said."),)
)
ASKED = replace(ASKS, steps=(see("Which colours shall it have?"),))
UNASKED = replace(ASKS, mode="dontAsk")

PLAN = "# The plan\n\n1. Paint it red.\n2. Write tests.\n"
EDITED = "# The plan\n\n1. Paint it blue.\n2. Write tests.\n3. Run them.\n"
NOTES = "line 3: paint it blue, not red"


def write_plan(scene: Scene) -> None:
    """Write the plan while the model waits for a result: plan mode has named the file by then."""
    scene.write_plan(PLAN)


PLANS = Drive(
    (
        (ToolUse("Read", {"file_path": "read.me"}),),
        (ToolUse("ExitPlanMode", {}),),
        (Text("All said."),),
    ),
    mode="plan",
    files={"read.me": "Read this.\n"},
    steps=(see("All said."),),
    meanwhile=write_plan,
)
PLAN_ASKED = replace(PLANS, steps=(see("Would you like to proceed?"),))
LEFT_PLAN_MODE = not_shown("plan mode on", "the agent left plan mode")
STILL_PLANS = shown("plan mode on", "the agent is still in plan mode")
NO_DIALOG = not_shown("Would you like to proceed?", "no dialog was left")


def answer(event: Event, decision: Decision) -> Decision:
    """Answer the questions."""
    assert event.tool is not None
    return replace(decision, updated_input=merge_answers(event.tool.input, ANSWERS))


def edit_plan(event: Event, decision: Decision) -> Decision:
    """Change the plan, keeping every other field."""
    assert event.tool is not None
    assert isinstance(event.tool.input, dict)
    assert event.tool.input["plan"] == PLAN
    return replace(decision, updated_input={**event.tool.input, "plan": EDITED})


def _questions(event: str, stance: Stance) -> tuple[Cell, ...]:
    def cell(title: str, decision: Decision, *facts: Fact, drive: Drive = ASKS) -> Cell:
        return Cell(
            event,
            f"AskUserQuestion: {title}",
            decision,
            drive,
            facts,
            about="AskUserQuestion",
            stance=stance,
        )

    read = (
        told_as_result("Scuttle, the 2nd", "the model read the operator's own words"),
        told_as_result("bright ones", "and the note"),
        fact(
            "a label with a comma in it came as one label",
            lambda seen: '""Red, green", Blue"' in seen.results().replace("\\", ""),
        ),
    )
    return (
        replace(cell("allow with answers", Decision(Verdict.ALLOW), *read), complete=answer),
        cell(
            "allow without answers",
            Decision(Verdict.ALLOW),
            shown("Which colours shall it have?", "the agent's own dialog stands"),
            turns(1, "the model was not answered"),
            drive=replace(ASKED, steps=(*ASKED.steps, heard(event))),
        ),
        cell(
            "deny",
            Decision(Verdict.DENY, reason=REASON),
            told_as_result(REASON, "the model read the reason as the call's result"),
        ),
    )


def _plans(event: str, stance: Stance) -> tuple[Cell, ...]:
    def cell(title: str, decision: Decision, *facts: Fact, drive: Drive = PLANS) -> Cell:
        return Cell(
            event,
            f"ExitPlanMode: {title}",
            decision,
            drive,
            facts,
            about="ExitPlanMode",
            stance=stance,
            legs=("PreToolUse", "PermissionRequest"),
        )

    return (
        cell("allow", Decision(Verdict.ALLOW), LEFT_PLAN_MODE, NO_DIALOG),
        replace(
            cell(
                "allow with a changed plan",
                Decision(Verdict.ALLOW),
                model_read("3. Run them.", "the model read the operator's plan"),
                model_read("edited by user", "and that its user had edited it"),
                LEFT_PLAN_MODE,
                NO_DIALOG,
            ),
            complete=edit_plan,
        ),
        cell(
            "allow, and set the mode acceptEdits",
            Decision(
                Verdict.ALLOW,
                permissions=({"type": "setMode", "mode": "acceptEdits", "destination": "session"},),
            ),
            shown("accept edits on", "the agent is in the mode acceptEdits"),
            NO_DIALOG,
        ),
        cell(
            "deny",
            Decision(Verdict.DENY, reason=NOTES),
            told_as_result(NOTES, "the model read the notes as the call's result"),
            STILL_PLANS,
        ),
        cell(
            "ask",
            Decision(Verdict.ASK),
            shown("Would you like to proceed?", "the agent's own dialog stands"),
            drive=replace(PLAN_ASKED, steps=(*PLAN_ASKED.steps, heard("PermissionRequest"))),
        ),
    )


CELLS = (
    *_questions("PreToolUse", Stance.GATE),
    *_plans("PreToolUse", Stance.GATE),
    Cell(
        "PreToolUse",
        "AskUserQuestion in the mode dontAsk: allow with answers",
        Decision(Verdict.ALLOW),
        UNASKED,
        (
            told_as_result("Scuttle, the 2nd", "the model read the answers"),
            fired("PermissionRequest", "no PermissionRequest came", 0),
        ),
        complete=answer,
        about="AskUserQuestion",
        stance=Stance.COMPANION,
    ),
    *_questions("PermissionRequest", Stance.COMPANION),
    *_plans("PermissionRequest", Stance.COMPANION),
)
