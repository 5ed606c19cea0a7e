"""Cells of agents that stop or begin: the main one, subagents, teammates; and of their tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crabhook.model.decision import Decision, Verdict
from tests.conformance.cell import Cell, Drive, Fact
from tests.conformance.cells.calls import HALTED, NOTE, STOP, TELL
from tests.conformance.facts import (
    NOTHING_SAID,
    UNTOLD,
    WORD,
    fact,
    fired,
    model_read,
    shown,
    told_as_result,
    turns,
)
from tests.conformance.steps import heard, kept, see
from tests.support.scripted_model import MAIN
from tests.support.turns import Text, ToolUse

GO_ON = "now write the tests as well"
REASON = "the tests do not run yet"
ERRAND = "ERRAND"
STOPS = Drive(((Text("I am done."),), (Text("Now I am."),)))

JOB = {
    "description": "Look",
    "prompt": f"{ERRAND} look around",
    "subagent_type": "general-purpose",
    "run_in_background": False,
}
LOOKS = {ERRAND: ((Text("I looked."),), (Text("I looked twice."),))}
SENDS = Drive(((ToolUse("Agent", JOB),), (Text("All said."),)), subagents=LOOKS)
SENT = replace(SENDS, steps=(see("All said."), kept("hook_system_message")))
TEAM = Drive(
    ((ToolUse("Agent", JOB | {"name": "helper"}),), (Text("All said."),)),
    subagents=LOOKS,
    environment={"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"},
    steps=(see("All said."), heard("TeammateIdle")),
)
TASKS = Drive(
    (
        (ToolUse("TaskCreate", {"subject": "Paint it", "description": "blue"}),),
        (ToolUse("TaskUpdate", {"taskId": "1", "status": "completed"}),),
        (ToolUse("TaskList", {}),),
        (Text("All said."),),
    ),
    environment={"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"},
)
TASKS_SEEN = replace(TASKS, steps=(see("All said."), kept("All said.")))
TOLD_IN_TRANSCRIPT = fact(
    "the message stands in that agent's own transcript, for its user",
    lambda seen: "hook_system_message" in seen.kept(),
)


def _cell(
    event: str,
    title: str,
    decision: Decision,
    drive: Drive,
    *facts: Fact,
    words: Mapping[str, Any] | None = None,
    times: int = 1,
) -> Cell:
    return Cell(event, title, decision, drive, facts, words=words, times=times)


ALLOW = Decision(Verdict.ALLOW)
KEEP = Decision(Verdict.KEEP_GOING, reason=GO_ON)
HALT = Decision(Verdict.ALLOW, halt=HALTED)
TELLS = Decision(Verdict.ALLOW, user_message=WORD)
STOPPED = turns(1, "the agent stopped")
SUBAGENT_STOPPED = turns(1, "the subagent stopped", ERRAND)

MAIN_CELLS = (
    _cell("Stop", "allow", ALLOW, STOPS, NOTHING_SAID, STOPPED),
    _cell(
        "Stop",
        "keep going",
        KEEP,
        STOPS,
        model_read(GO_ON, "the model read the instruction"),
        turns(2, "and went on"),
        fired("Stop", "the next Stop says so", 1, stop_hook_active=True),
    ),
    _cell(
        "Stop",
        "keep going, eight times",
        KEEP,
        STOPS,
        turns(9, "the model went on eight times"),
        fired("Stop", "the ninth Stop was let through", 9),
        times=8,
    ),
    _cell("Stop", "allow, and stop the session", HALT, STOPS, STOPPED),
    _cell(
        "Stop",
        "allow with a message to the user",
        TELLS,
        replace(STOPS, steps=(see(WORD),)),
        shown(WORD, "the user saw the message"),
        STOPPED,
    ),
)
SUBAGENT_CELLS = (
    _cell(
        "SubagentStart", "allow", ALLOW, SENDS, NOTHING_SAID, turns(1, "the subagent began", ERRAND)
    ),
    _cell(
        "SubagentStart",
        "allow with a note",
        Decision(Verdict.ALLOW, note=NOTE),
        SENDS,
        model_read(NOTE, "the subagent's model read the note", ERRAND),
    ),
    _cell(
        "SubagentStart",
        "allow with a message to the user",
        TELLS,
        SENT,
        TOLD_IN_TRANSCRIPT,
    ),
    _cell("SubagentStop", "allow", ALLOW, SENDS, NOTHING_SAID, SUBAGENT_STOPPED),
    _cell(
        "SubagentStop",
        "keep going",
        KEEP,
        SENDS,
        model_read(GO_ON, "the subagent's model read the instruction", ERRAND),
        turns(2, "and went on", ERRAND),
        model_read("I looked twice.", "the main agent was told what came of it", MAIN),
    ),
    _cell(
        "SubagentStop",
        "allow, and stop the session",
        HALT,
        SENDS,
        SUBAGENT_STOPPED,
        fact("the session went on", lambda seen: seen.turns() > 1),
        words=STOP,
    ),
    _cell("SubagentStop", "allow with a message to the user", TELLS, SENT, TOLD_IN_TRANSCRIPT),
)
TEAMMATE_CELLS = (
    _cell("TeammateIdle", "allow", ALLOW, TEAM, turns(1, "the teammate was idle", ERRAND)),
    _cell(
        "TeammateIdle",
        "keep going",
        KEEP,
        replace(TEAM, steps=(*TEAM.steps, heard("TeammateIdle", 2))),
        model_read(GO_ON, "the teammate's model read the instruction", ERRAND),
        turns(2, "and went on", ERRAND),
    ),
    _cell(
        "TeammateIdle",
        "allow, and stop the session",
        HALT,
        replace(TEAM, steps=(*TEAM.steps, kept("hook_stopped_continuation"))),
        turns(1, "the teammate stopped", ERRAND),
        fact(
            "its transcript says that it was stopped",
            lambda seen: "hook_stopped_continuation" in seen.kept(),
        ),
    ),
    _cell(
        "TeammateIdle",
        "allow with a message to the user",
        TELLS,
        replace(TEAM, steps=(*TEAM.steps, kept("hook_system_message"))),
        TOLD_IN_TRANSCRIPT,
    ),
)
TASK_CELLS = (
    _cell(
        "TaskCreated",
        "allow",
        ALLOW,
        TASKS,
        NOTHING_SAID,
        told_as_result("Paint it", "the task was created"),
    ),
    _cell(
        "TaskCreated",
        "deny",
        Decision(Verdict.DENY, reason=REASON),
        TASKS,
        told_as_result(REASON, "the model read the reason"),
        told_as_result("No tasks found", "the task was not created"),
    ),
    _cell("TaskCreated", "allow with a message to the user", TELLS, TASKS_SEEN, UNTOLD, words=TELL),
    _cell(
        "TaskCompleted",
        "allow",
        ALLOW,
        TASKS,
        NOTHING_SAID,
        told_as_result("[completed] Paint it", "the task was completed"),
    ),
    _cell(
        "TaskCompleted",
        "deny",
        Decision(Verdict.DENY, reason=REASON),
        TASKS,
        told_as_result(REASON, "the model read the reason"),
        told_as_result("[pending] Paint it", "the task was not completed"),
    ),
    _cell(
        "TaskCompleted",
        "allow, and stop the session",
        HALT,
        TASKS,
        turns(4, "the stop was ignored: the model went on"),
        words=STOP,
    ),
    _cell(
        "TaskCompleted", "allow with a message to the user", TELLS, TASKS_SEEN, UNTOLD, words=TELL
    ),
)
CELLS = (*MAIN_CELLS, *SUBAGENT_CELLS, *TEAMMATE_CELLS, *TASK_CELLS)
