"""Cells of PermissionRequest: a call the agent is about to ask its own user about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crabhook.model.card import Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from tests.conformance.cell import Cell, Drive, Fact
from tests.conformance.cells.calls import (
    HALTED,
    HEADLESS,
    NOTE,
    PROMPTED,
    REASON,
    STOP,
    TELL,
    TERMINAL,
    THROUGH,
    edit_command,
)
from tests.conformance.facts import (
    ASKED_AGAIN,
    ENDED,
    NOTHING_SAID,
    OWN_DIALOG,
    UNHALTED,
    UNTOLD,
    WORD,
    did_not_run,
    fact,
    fired,
    model_read,
    not_shown,
    ran,
    shown,
    told_as_result,
)
from tests.conformance.steps import heard, see, wrote
from tests.support.turns import Text, bash

STANDING = replace(PROMPTED, steps=(*PROMPTED.steps, heard("PermissionRequest")))
MAKEFILE = {"Makefile": "all:\n\ttouch made\nother:\n\ttouch other\n"}
TWICE = Drive(
    ((bash("make all"),), (bash("make all -j 1"),), (Text("All said."),)),
    files=MAKEFILE,
    steps=(see("All said."),),
)
KEPT_RULE = "Bash(make all"
LOCAL_SETTINGS = ".claude/settings.local.json"


def echo_suggestions(event: Event, decision: Decision) -> Decision:
    """Take what the agent suggests, for this session alone."""
    suggested = event.fields["permission_suggestions"]
    assert isinstance(suggested, list)
    rules = [one for one in suggested if isinstance(one, dict) and one["type"] == "addRules"]
    return replace(decision, permissions=tuple(one | {"destination": "session"} for one in rules))


def keep_suggestions(event: Event, decision: Decision) -> Decision:
    """Take what the agent suggests, kept where the agent would keep it."""
    suggested = event.fields["permission_suggestions"]
    assert isinstance(suggested, list)
    return replace(decision, permissions=tuple(one for one in suggested if isinstance(one, dict)))


def specifically(**said: Any) -> dict[str, Any]:
    """What is said for this event alone."""
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", **said}}


def _cell(title: str, decision: Decision, *facts: Fact, drive: Drive = TERMINAL) -> Cell:
    return Cell(
        "PermissionRequest", title, decision, drive, facts, about="Bash", stance=Stance.COMPANION
    )


CELLS = (
    _cell(
        "pass",
        Decision(Verdict.PASS),
        NOTHING_SAID,
        OWN_DIALOG,
        did_not_run(words="the command has not run"),
        drive=STANDING,
    ),
    _cell(
        "pass",
        Decision(Verdict.PASS),
        did_not_run(words="nobody could be asked, and the command did not run"),
        drive=HEADLESS,
    ),
    _cell(
        "ask",
        Decision(Verdict.ASK),
        NOTHING_SAID,
        OWN_DIALOG,
        did_not_run(words="the command has not run"),
        drive=STANDING,
    ),
    _cell("allow", Decision(Verdict.ALLOW), ran(), ASKED_AGAIN),
    _cell("allow", Decision(Verdict.ALLOW), ran(), ASKED_AGAIN, drive=HEADLESS),
    replace(
        _cell(
            "allow with a note",
            Decision(Verdict.ALLOW, note=NOTE),
            ran(),
            model_read(NOTE, "the model read the note"),
        ),
        legs=("PermissionRequest", "PostToolUse"),
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
    replace(
        _cell(
            "allow always: a suggested rule, for the session",
            Decision(Verdict.ALLOW),
            ran(),
            fired("PermissionRequest", "the next such command was not asked about", 1),
            fired("PostToolUse", "and ran", 2),
            drive=TWICE,
        ),
        complete=echo_suggestions,
    ),
    replace(
        _cell(
            "allow always: a suggested rule, kept where the agent suggests",
            Decision(Verdict.ALLOW),
            ran(),
            fired("PermissionRequest", "the next such command was not asked about", 1),
            fact(
                "the rule stands in the project's local settings",
                lambda seen: KEPT_RULE in seen.files[LOCAL_SETTINGS],
            ),
            drive=replace(TWICE, steps=(*TWICE.steps, wrote(LOCAL_SETTINGS, KEPT_RULE))),
        ),
        complete=keep_suggestions,
    ),
    _cell(
        "allow, and set the mode acceptEdits",
        Decision(
            Verdict.ALLOW,
            permissions=({"type": "setMode", "mode": "acceptEdits", "destination": "session"},),
        ),
        ran(),
        shown("accept edits on", "the session is in the mode acceptEdits"),
    ),
    _cell(
        "deny",
        Decision(Verdict.DENY, reason=REASON),
        did_not_run(),
        told_as_result(REASON, "the model read the reason as the call's result"),
        ASKED_AGAIN,
    ),
    _cell(
        "deny",
        Decision(Verdict.DENY, reason=REASON),
        did_not_run(),
        told_as_result(REASON, "the model read the reason as the call's result"),
        drive=HEADLESS,
    ),
    _cell(
        "deny, and interrupt",
        Decision(Verdict.DENY, reason=REASON, interrupt=True),
        did_not_run(),
        ENDED,
        not_shown("All said.", "the agent waits for its user"),
        drive=replace(TERMINAL, steps=(see("Interrupted"),)),
    ),
    _cell(
        "deny, and stop the session",
        Decision(Verdict.DENY, reason=REASON, halt=HALTED),
        did_not_run(),
        ENDED,
        drive=replace(TERMINAL, steps=(see("Interrupted"),)),
    ),
    _cell(
        "deny, and stop the session",
        Decision(Verdict.DENY, reason=REASON, halt=HALTED),
        did_not_run(),
        ENDED,
        drive=HEADLESS,
    ),
    replace(
        _cell(
            "allow, and stop the session",
            Decision(Verdict.ALLOW, halt=HALTED),
            ran(),
            UNHALTED,
            drive=HEADLESS,
        ),
        words=STOP | specifically(decision={"behavior": "allow"}),
    ),
    replace(
        _cell(
            "allow with a message to the user",
            Decision(Verdict.ALLOW, user_message=WORD),
            ran(),
            UNTOLD,
            drive=THROUGH,
        ),
        words=TELL | specifically(decision={"behavior": "allow"}),
    ),
)
