"""Cells of the forms of MCP servers: asked of the operator, or answered at the agent already."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from crabhook.model.card import Stance
from crabhook.model.decision import Decision, Verdict
from tests.conformance import form_server
from tests.conformance.cell import Cell, Drive, Fact
from tests.conformance.facts import NOTHING_SAID, fired, shown, told_as_result
from tests.conformance.steps import POINTER, press, see
from tests.support.turns import Text, ToolUse

SERVERS = (
    '{"mcpServers": {"forms": {"command": "{python}", "args": ["'
    + str(Path(form_server.__file__))
    + '"]}}}'
)
VALUES = '"fast": true, "name": "Scuttle", "size": 3'
CONTENT = {"name": "Scuttle", "size": 3, "fast": True}
FORM = Drive(
    ((ToolUse("mcp__forms__ask", {}),), (Text("All said."),)),
    steps=(see("All said."),),
    arguments=("--mcp-config", "servers.json", "--strict-mcp-config"),
    files={"servers.json": SERVERS},
    environment={"ENABLE_TOOL_SEARCH": "false"},
)
VISIT = replace(FORM, turns=((ToolUse("mcp__forms__visit", {}),), (Text("All said."),)))
HEADLESS = replace(FORM, steps=())


def _cell(title: str, decision: Decision, *facts: Fact, drive: Drive = FORM) -> Cell:
    return Cell("Elicitation", title, decision, drive, facts)


def received(action: str, words: str) -> Fact:
    """The MCP server was given this answer."""
    return told_as_result(f'"action": "{action}"', words)


ASKED = (
    _cell(
        "pass",
        Decision(Verdict.PASS),
        NOTHING_SAID,
        shown("Fill in the form.", "the agent's own dialog came up"),
        drive=replace(FORM, steps=(see("Fill in the form."),)),
    ),
    _cell(
        "accept",
        Decision(Verdict.ACCEPT, content=CONTENT),
        received("accept", "the MCP server received the acceptance"),
        told_as_result(VALUES, "and the values, each of its type"),
        fired("ElicitationResult", "no ElicitationResult followed", 0),
    ),
    _cell(
        "accept",
        Decision(Verdict.ACCEPT, content=CONTENT),
        received("accept", "the MCP server received the acceptance"),
        told_as_result(VALUES, "and the values, each of its type"),
        drive=HEADLESS,
    ),
    _cell(
        "decline",
        Decision(Verdict.DECLINE),
        received("decline", "the MCP server received that it was declined"),
    ),
    _cell(
        "cancel",
        Decision(Verdict.CANCEL),
        received("cancel", "the MCP server received that it was cancelled"),
    ),
    _cell(
        "a page to visit: accept",
        Decision(Verdict.ACCEPT),
        received("accept", "the MCP server received the acceptance"),
        drive=VISIT,
    ),
    _cell(
        "a page to visit: decline",
        Decision(Verdict.DECLINE),
        received("decline", "the MCP server received that it was declined"),
        drive=VISIT,
    ),
)

AT_THE_AGENT = (see("Fill in the form."), press("Down", until=f"{POINTER} Accept"))
DECLINED = replace(
    FORM,
    steps=(
        *AT_THE_AGENT,
        press("Right", until=f"{POINTER} Decline"),
        press("Enter", until="All said."),
    ),
)


def _result(title: str, decision: Decision, *facts: Fact) -> Cell:
    came = fired("ElicitationResult", "the agent's user had declined", action="decline")
    return Cell(
        "ElicitationResult", title, decision, DECLINED, (came, *facts), stance=Stance.COMPANION
    )


RESULTS = (
    _result(
        "pass",
        Decision(Verdict.PASS),
        NOTHING_SAID,
        received("decline", "the MCP server received that it was declined"),
    ),
    _result(
        "accept",
        Decision(Verdict.ACCEPT, content=CONTENT),
        received("accept", "the MCP server received an acceptance"),
        told_as_result(VALUES, "and the operator's values"),
    ),
    _result(
        "decline",
        Decision(Verdict.DECLINE),
        received("decline", "the MCP server received that it was declined"),
    ),
    _result(
        "cancel",
        Decision(Verdict.CANCEL),
        received("cancel", "the MCP server received that it was cancelled"),
    ),
)
CELLS = (*ASKED, *RESULTS)
