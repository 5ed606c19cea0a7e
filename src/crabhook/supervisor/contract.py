"""The supervisor's contract: a hook's standard input in, a hook's standard output out; pure.

Hook protocol of Claude Code, sections 2, 6 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import compact, parse_object
from crabhook.supervisor.errors import HookInputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.model.jsontext import Value
    from crabhook.supervisor.review import Finding

QUESTION_TOOL = "AskUserQuestion"
_NAME = "hook_event_name"
_SPECIFIC = "hookSpecificOutput"


class Occasion(Enum):
    """What an agent is about to do when the supervisor is asked; the value is for a log."""

    STOP = "stop"
    QUESTION = "question"


_STOPS = frozenset({"Stop", "SubagentStop"})
_CALL = "PreToolUse"

# What the agent reads where a reviewer found no words.
_WORDS = {
    (Occasion.STOP, True): "The supervisor lets it stop.",
    (Occasion.STOP, False): "The supervisor wants you to go on.",
    (Occasion.QUESTION, True): "The supervisor lets the question through.",
    (Occasion.QUESTION, False): "The supervisor does not want this asked: decide it and go on.",
}


@dataclass(frozen=True, slots=True)
class HookInput:
    """What the hook was given.

    `payload` is its bytes, save that an event without a name has been given one.
    """

    raw: Mapping[str, Value]
    payload: bytes
    name: str

    @property
    def occasion(self) -> Occasion | None:
        """What is to be reviewed; None for an event that is not the supervisor's business."""
        if self.name in _STOPS:
            return Occasion.STOP
        asks = self.name == _CALL and self.text("tool_name") == QUESTION_TOOL
        return Occasion.QUESTION if asks else None

    def text(self, key: str) -> str:
        """Return a field, empty where the agent sent none, or no text."""
        value = self.raw.get(key)
        return value if isinstance(value, str) else ""

    def questions(self) -> list[Value]:
        """Return the questions as the agent sent them, none where it sent no list."""
        given = self.raw.get("tool_input")
        listed = given.get("questions") if isinstance(given, dict) else None
        return listed if isinstance(listed, list) else []


def read(payload: bytes) -> HookInput:
    """Return the hook's input; without a name it is a Stop.  Raises HookInputError."""
    try:
        raw = parse_object(payload)
    except PayloadError as error:
        raise HookInputError(str(error)) from error
    name = raw.get(_NAME)
    if name in (None, ""):
        raw = {**raw, _NAME: "Stop"}
        return HookInput(raw, compact(raw).encode(), "Stop")
    if not isinstance(name, str):
        raise HookInputError(f'its "{_NAME}" is no text')
    return HookInput(raw, payload, name)


def answer(occasion: Occasion, finding: Finding) -> dict[str, Value]:
    """Return the JSON that tells the agent what was found.

    What the finding says in Claude Code's own words goes beside it, or in its
    place.  No opinion is an empty object on a question, which its user is then
    asked as ever; a stop has no other form for it than to be let go.
    """
    plain = _stop(finding) if occasion is Occasion.STOP else _question(finding)
    merged: dict[str, Value] = {**plain, **finding.output}
    specific, more = plain.get(_SPECIFIC), finding.output.get(_SPECIFIC)
    if isinstance(specific, dict) and isinstance(more, dict):
        merged[_SPECIFIC] = {**specific, **more}
    return merged


def _stop(finding: Finding) -> dict[str, Value]:
    may_stop = finding.allow is not False
    reason = finding.feedback or _WORDS[Occasion.STOP, may_stop]
    return {"reason": reason} if may_stop else {"decision": "block", "reason": reason}


def _question(finding: Finding) -> dict[str, Value]:
    if finding.allow is None:
        return {}
    specific: dict[str, Value] = {
        "hookEventName": _CALL,
        "permissionDecision": "allow" if finding.allow else "deny",
        "permissionDecisionReason": finding.feedback or _WORDS[Occasion.QUESTION, finding.allow],
    }
    return {_SPECIFIC: specific}
