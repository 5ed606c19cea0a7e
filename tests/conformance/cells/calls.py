"""Cells of PreToolUse: a call before the agent's own rules have seen it."""

from __future__ import annotations

from dataclasses import replace

from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from tests.conformance.cell import Cell, Drive, Fact
from tests.conformance.facts import (
    ASKED_AGAIN,
    ENDED,
    OWN_DIALOG,
    WORD,
    did_not_run,
    fact,
    model_did_not_read,
    model_read,
    ran,
    shown,
    told_as_result,
)
from tests.conformance.steps import kept, see
from tests.support.turns import Text, bash

HEADLESS = Drive(((bash("touch made"),), (Text("All said."),)))
TERMINAL = replace(HEADLESS, steps=(see("All said."),))
THROUGH = replace(HEADLESS, steps=(see("All said."), kept("All said.")))
PROMPTED = replace(HEADLESS, steps=(see("Do you want to proceed?"),))
JSON_OUT = replace(HEADLESS, arguments=("--output-format", "json"))

REASON = "use the Write tool, please"
NOTE = "this once, and never again"
HALTED = "the operator has seen enough"
STOP = {"continue": False, "stopReason": HALTED}
TELL = {"systemMessage": WORD}
"""A stop and a message as they are sent by hand where our writer refuses to."""


def edit_command(event: Event, decision: Decision) -> Decision:
    """Set the command to another, keeping every other field."""
    assert event.tool is not None
    assert isinstance(event.tool.input, dict)
    return replace(decision, updated_input={**event.tool.input, "command": "touch edited"})


PARALLEL = Drive(
    ((bash("cat first"), bash("cat other")), (Text("All said."),)),
    files={"first": "first words\n", "other": "other words\n"},
)


def deny_the_other(event: Event, decision: Decision) -> Decision:
    """Deny the second of two parallel calls."""
    assert event.tool is not None
    assert isinstance(event.tool.input, dict)
    is_other = event.tool.input["command"] == "cat other"
    return replace(decision, verdict=Verdict.DENY, reason=REASON) if is_other else decision


def _cell(title: str, decision: Decision, *facts: Fact, drive: Drive = HEADLESS) -> Cell:
    return Cell("PreToolUse", title, decision, drive, facts, about="Bash")


CELLS = (
    _cell(
        "pass",
        Decision(Verdict.PASS),
        OWN_DIALOG,
        did_not_run(words="the command has not run"),
        drive=PROMPTED,
    ),
    _cell(
        "pass",
        Decision(Verdict.PASS),
        did_not_run(words="nobody could be asked, and the command did not run"),
    ),
    _cell("allow", Decision(Verdict.ALLOW), ran(), ASKED_AGAIN),
    _cell(
        "allow with a note",
        Decision(Verdict.ALLOW, note=NOTE),
        ran(),
        model_read(NOTE, "the model read the note"),
    ),
    replace(
        _cell(
            "allow with changed input",
            Decision(Verdict.ALLOW),
            ran("edited", "the changed command ran"),
            did_not_run(words="the model's own did not"),
        ),
        complete=edit_command,
    ),
    _cell(
        "deny",
        Decision(Verdict.DENY, reason=REASON),
        did_not_run(),
        told_as_result(REASON, "the model read the reason as the call's result"),
        ASKED_AGAIN,
    ),
    replace(
        _cell(
            "two calls at once: allow one, deny the other",
            Decision(Verdict.ALLOW),
            told_as_result("first words", "the allowed one ran"),
            told_as_result(REASON, "the model read why the other was denied"),
            fact("which did not run", lambda seen: "other words" not in seen.results()),
            drive=PARALLEL,
        ),
        complete=deny_the_other,
        times=2,
        together=2,
    ),
    _cell(
        "ask",
        Decision(Verdict.ASK),
        OWN_DIALOG,
        did_not_run(words="the command has not run"),
        drive=PROMPTED,
    ),
    _cell(
        "ask",
        Decision(Verdict.ASK),
        did_not_run(words="nobody could be asked, and the command did not run"),
    ),
    _cell(
        "defer",
        Decision(Verdict.DEFER),
        fact(
            'the run ended with stop reason "tool_deferred"',
            lambda seen: seen.result_json().get("stop_reason") == "tool_deferred",
        ),
        fact(
            "it names the deferred call and its input",
            lambda seen: (
                seen.result_json()["deferred_tool_use"]["input"]["command"] == "touch made"
            ),
        ),
        did_not_run(),
        drive=JSON_OUT,
    ),
    _cell(
        "defer",
        Decision(Verdict.DEFER),
        OWN_DIALOG,
        did_not_run(words="as if there had been no opinion; the command has not run"),
        drive=PROMPTED,
    ),
    _cell(
        "allow, and stop the session",
        Decision(Verdict.ALLOW, halt=HALTED),
        ran(words="the command ran all the same"),
        ENDED,
    ),
    _cell(
        "deny, and stop the session",
        Decision(Verdict.DENY, reason=REASON, halt=HALTED),
        did_not_run(),
        ENDED,
    ),
    _cell(
        "allow with a message to the user",
        Decision(Verdict.ALLOW, user_message=WORD),
        ran(),
        shown(WORD, "the user saw the message"),
        model_did_not_read(WORD, "the model did not"),
        drive=TERMINAL,
    ),
)
