"""Cells of what the agent's user types: a prompt, and a command that becomes one."""

from __future__ import annotations

from dataclasses import replace

from crabhook.model.decision import Decision, Verdict
from tests.conformance.cell import Cell, Drive
from tests.conformance.cells.calls import HALTED, NOTE
from tests.conformance.facts import (
    NOTHING_SAID,
    WORD,
    model_did_not_read,
    model_read,
    shown,
    turns,
)
from tests.conformance.steps import see

REASON = "not on a Friday"
PROMPT = Drive(prompt="paint it blue")
COMMAND = Drive(
    prompt="/paint blue",
    files={".claude/commands/paint.md": "Now paint it $ARGUMENTS, and well.\n"},
)
READ = {"UserPromptSubmit": "paint it blue", "UserPromptExpansion": "Now paint it blue, and well."}


def _of(event: str, drive: Drive) -> tuple[Cell, ...]:
    prompt = READ[event]
    read = model_read(prompt, "the model read the prompt")
    unread = model_did_not_read(prompt, "the model never read the prompt")
    unasked = turns(0, "the model was not asked")
    return (
        Cell(event, "allow", Decision(Verdict.ALLOW), drive, (NOTHING_SAID, read)),
        Cell(
            event,
            "allow with a note",
            Decision(Verdict.ALLOW, note=NOTE),
            drive,
            (read, model_read(NOTE, "the model read the note beside it")),
        ),
        Cell(
            event,
            "deny",
            Decision(Verdict.DENY, reason=REASON),
            replace(drive, steps=(see(REASON),)),
            (unread, unasked, shown(REASON, "the user read the reason")),
        ),
        Cell(
            event,
            "allow, and stop the session",
            Decision(Verdict.ALLOW, halt=HALTED),
            replace(drive, steps=(see(HALTED),)),
            (unasked, shown(HALTED, "the user read why")),
        ),
        Cell(
            event,
            "allow with a message to the user",
            Decision(Verdict.ALLOW, user_message=WORD),
            replace(drive, steps=(see("Done."),)),
            (
                read,
                shown(WORD, "the user saw the message"),
                model_did_not_read(WORD, "the model did not"),
            ),
        ),
    )


CELLS = (*_of("UserPromptSubmit", PROMPT), *_of("UserPromptExpansion", COMMAND))
