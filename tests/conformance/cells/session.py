"""Cells of a session and its surroundings: its start, its memory, its model, its settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crabhook.model.card import Stance
from crabhook.model.decision import Decision, Verdict
from tests.conformance.cell import Cell, Drive, Fact, Step
from tests.conformance.cells.calls import HALTED, NOTE, STOP, TELL
from tests.conformance.facts import (
    NOTHING_SAID,
    UNTOLD,
    WORD,
    fired,
    model_did_not_read,
    model_read,
    not_shown,
    shown,
    turns,
)
from tests.conformance.steps import AT_REST, at_rest, heard, press, see, submit
from tests.support.turns import Text, bash

if TYPE_CHECKING:
    from tests.conformance.scene import Scene

REASON = "not on a Friday"
GREETS = Drive(((Text("Hello there."),), (Text("All said."),)))
GREETED = replace(GREETS, steps=(see("Hello there."), at_rest()))
SETUP = Drive(((Text("All said."),),), arguments=("--init",))


def then(*steps: Step, drive: Drive = GREETED) -> Drive:
    """A session that has greeted, and what is done in it next."""
    return replace(drive, steps=(*drive.steps, *steps))


def _cell(
    event: str,
    title: str,
    decision: Decision,
    drive: Drive,
    *facts: Fact,
    words: Mapping[str, Any] | None = None,
) -> Cell:
    return Cell(event, title, decision, drive, facts, words=words)


ALLOW = Decision(Verdict.ALLOW)
DENY = Decision(Verdict.DENY, reason=REASON)
NOTES = Decision(Verdict.ALLOW, note=NOTE)
TELLS = Decision(Verdict.ALLOW, user_message=WORD)
TITLE_NOTE, TITLE_TELL = "allow with a note", "allow with a message to the user"
READ_NOTE = model_read(NOTE, "the model read the note")
SAW = shown(WORD, "the user saw the message")


def _context(event: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": NOTE}}


STARTS = (
    _cell("Setup", "allow", ALLOW, SETUP, NOTHING_SAID, turns(1, "the session went on")),
    _cell(
        "Setup",
        TITLE_NOTE,
        NOTES,
        SETUP,
        model_did_not_read(NOTE, "the model never read the note"),
        words=_context("Setup"),
    ),
    _cell("Setup", TITLE_TELL, TELLS, SETUP, UNTOLD, words=TELL),
    _cell("SessionStart", "allow", ALLOW, GREETS, NOTHING_SAID, turns(1, "the session began")),
    _cell("SessionStart", TITLE_NOTE, NOTES, GREETS, READ_NOTE),
    _cell(
        "SessionStart",
        TITLE_TELL,
        TELLS,
        GREETED,
        SAW,
        model_did_not_read(WORD, "the model did not"),
    ),
    _cell(
        "SessionStart",
        "allow, and stop the session",
        Decision(Verdict.ALLOW, halt=HALTED),
        GREETS,
        turns(1, "the stop was ignored: the session began"),
        words=STOP,
    ),
)

COMPACTS = submit("/compact")
COMPACT_CELLS = (
    _cell(
        "PreCompact",
        "allow",
        ALLOW,
        then(COMPACTS, heard("PostCompact")),
        NOTHING_SAID,
        fired("PostCompact", "the conversation was compacted"),
    ),
    _cell(
        "PreCompact",
        "deny",
        DENY,
        then(COMPACTS, see(REASON)),
        fired("PostCompact", "the conversation was not compacted", 0),
        shown(REASON, "the user read the reason"),
    ),
)

SWITCHES = then(submit("/model sonnet"))
ASKED = then(see("Switch model?"), drive=SWITCHES)
SWITCHED = then(see("Set model to"), heard("PostModelSwitch"), drive=SWITCHES)
CONFIRMED = then(press("Enter", until="Set model to"), heard("PostModelSwitch"), drive=ASKED)
IS_SWITCHED = fired("PostModelSwitch", "the model was switched")
NOT_SWITCHED = fired("PostModelSwitch", "the model was not switched", 0)
MODEL_CELLS = (
    _cell(
        "PreModelSwitch",
        "pass",
        Decision(Verdict.PASS),
        ASKED,
        NOTHING_SAID,
        shown(
            "Switch model?", "the agent's own question came up, as it does where a cache is lost"
        ),
        NOT_SWITCHED,
    ),
    _cell("PreModelSwitch", "allow", ALLOW, SWITCHED, IS_SWITCHED),
    _cell(
        "PreModelSwitch",
        "deny",
        DENY,
        then(see(REASON), drive=SWITCHES),
        NOT_SWITCHED,
        shown(REASON, "the user read the reason"),
    ),
    _cell(
        "PreModelSwitch",
        "ask",
        Decision(Verdict.ASK, reason=REASON),
        ASKED,
        shown("Switch model?", "the agent's own question came up"),
        shown(REASON, "with the reason"),
        NOT_SWITCHED,
    ),
    _cell("PreModelSwitch", TITLE_TELL, TELLS, then(see(WORD), drive=SWITCHED), SAW),
    _cell("PostModelSwitch", "allow", ALLOW, CONFIRMED, NOTHING_SAID),
    _cell(
        "PostModelSwitch",
        TITLE_NOTE,
        NOTES,
        then(submit("and now"), see("All said."), drive=CONFIRMED),
        READ_NOTE,
    ),
    _cell(
        "PostModelSwitch",
        TITLE_TELL,
        TELLS,
        then(submit("and now"), see("All said."), heard("Stop", 2), drive=CONFIRMED),
        shown(WORD, "the user saw the message with the next prompt"),
        model_did_not_read(WORD, "the model did not"),
    ),
)


ADDED_RULE = "Bash(touch *)"


def allow_touch(scene: Scene) -> None:
    """Add a rule to the project's settings, as a person would in an editor."""
    path = scene.agent.project / ".claude" / "settings.json"
    path.write_text(json.dumps({"permissions": {"allow": [ADDED_RULE]}}), encoding="utf-8")


CHANGES = Drive(
    ((Text("Hello there."),), (bash("touch made"),), (Text("All said."),)),
    steps=(see("Hello there."), at_rest(), allow_touch, heard("ConfigChange")),
    files={".claude/settings.json": "{}\n"},
)
# The agent reads its settings only after its hook has ended, so its own list says when they count.
COUNTS = then(
    submit("/permissions"),
    see(ADDED_RULE),
    press("Escape", until=AT_REST),
    drive=CHANGES,
)
CONFIG_CELLS = tuple(
    replace(
        _cell(
            "ConfigChange",
            title,
            decision,
            then(submit("now"), see("All said."), drive=changed),
            *facts,
        ),
        stance=Stance.COMPANION,
    )
    for title, decision, changed, *facts in (
        (
            "allow",
            ALLOW,
            COUNTS,
            NOTHING_SAID,
            fired("PermissionRequest", "a rule added to the settings counted in this session", 0),
        ),
        (
            "deny",
            DENY,
            CHANGES,
            fired(
                "PermissionRequest", "a rule added to the settings did not count in this session"
            ),
            not_shown(REASON, "nobody was shown the reason"),
        ),
    )
)
CELLS = (*STARTS, *COMPACT_CELLS, *MODEL_CELLS, *CONFIG_CELLS)
