"""How a call went that was answered at the agent: what the event that ends its wait tells of it.

Nobody tells a waiting hook what the person at the agent's own terminal
answered (hook protocol, section 5).  What comes next tells some of it.
"""

from collections.abc import Mapping

from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import Value
from crabhook.platforms.claude.events import PLAN_TOOL, QUESTION_TOOL

LONGEST = 200  # characters of the agent's own words

_OUTCOMES: Mapping[str, str] = {
    "PostToolUse": "it ran",
    "PostToolUseFailure": "it ran and failed",
    "PermissionDenied": "the agent's own classifier denied it",
    "PostToolBatch": "the agent went on",
    "UserPromptSubmit": "its user wrote a new prompt",
    "Stop": "the agent's turn ended",
    "SubagentStop": "the subagent ended",
    "StopFailure": "the agent's turn broke off",
    "SessionEnd": "its session ended",
}
_DETAIL: Mapping[str, str] = {"PostToolUseFailure": "error", "PermissionDenied": "reason"}


def outcome(event: Event) -> str:
    """Return what became of the call, in words; some of them the agent's own, so not yet safe."""
    if event.name == "PostToolUse" and event.tool and event.tool.name == PLAN_TOOL:
        return "the plan was approved"
    if event.name == "PostToolUse" and (answers := _answers(event)):
        return f"answered {answers}"
    told = _OUTCOMES.get(event.name, "")
    if event.fields.get("is_interrupt") is True:
        return "it was interrupted"
    detail = _short(event.text(_DETAIL.get(event.name, "")))
    return f"{told}: {detail}" if detail else told


def compared(tool: ToolCall) -> Mapping[str, Value]:
    """Return what of a call's input has to be the same when it runs, by name.

    The agent adds the answers to questions that were allowed without any, and
    a plan is the file's, whatever the input says.
    """
    if tool.name == PLAN_TOOL:
        return {}
    if tool.name == QUESTION_TOOL and isinstance(tool.input, dict):
        return {key: tool.input[key] for key in ("questions", "answers") if key in tool.input}
    return {"input": tool.bare}


def _answers(event: Event) -> str:
    if event.tool is None or event.tool.name != QUESTION_TOOL:
        return ""
    given = event.tool.input.get("answers") if isinstance(event.tool.input, dict) else None
    if not isinstance(given, dict):
        return ""
    return _short("; ".join(answer for answer in given.values() if isinstance(answer, str)))


def _short(text: str) -> str:
    """Return a text's words in one line, cut where they are many."""
    line = " ".join(text[: 4 * LONGEST].split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
