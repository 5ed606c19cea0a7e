"""The supervisor's contract: a hook's input, a review, a finding, a hook's output; pure.

Hook protocol of Claude Code, sections 2, 6 and 7. The errors are the other ways out, each with a
line for the agent's process and an exit code.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum
from time import monotonic
from typing import ClassVar

from crabhook.datatypes import frozen
from crabhook.model.errors import CrabhookError, PayloadError
from crabhook.model.jsontext import Value, compact, object_at, parse_object, text_at
from crabhook.sdk.event import Event, Platform
from crabhook.sdk.events.calls import PreToolUse
from crabhook.sdk.events.session import Stop, SubagentStop
from crabhook.sdk.running import read_event

QUESTION_TOOL = "AskUserQuestion"
_NAME = "hook_event_name"
_SPECIFIC = "hookSpecificOutput"


class SupervisorError(CrabhookError):
    """There is no answer. The line on standard error says why, the exit code what kind of why."""

    line: ClassVar[str] = "{}"

    def __str__(self) -> str:
        return self.line.format(super().__str__())


class HookInputError(SupervisorError):
    """Standard input is not what a hook is given."""

    exit_code = 2
    line = "failed to parse hook input: {}"


class NoSessionError(SupervisorError):
    """The session is unknown, so its iterations cannot be counted."""

    exit_code = 2


class ReviewerError(SupervisorError):
    """The reviewer gave no verdict, or none that can be read; the agent goes on by itself."""

    line = "supervisor SDK failed: {}"


class OutOfTimeError(SupervisorError):
    """The time is over; the agent goes on by itself."""

    exit_code = 124
    line = "hook execution timeout"

    def __init__(self) -> None:
        super().__init__("")


class Deadline:
    """So many seconds from now, on the monotonic clock."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    def left(self) -> float:
        """Return the seconds that are left, more than 0; raise OutOfTimeError when none are."""
        left = self._end - self._clock()
        if left <= 0:
            raise OutOfTimeError
        return left


class Occasion(Enum):
    """What an agent is about to do when the supervisor is asked; the value is for a log."""

    STOP = "stop"
    QUESTION = "question"


# What the agent reads where a reviewer found no words.
_WORDS = {
    (Occasion.STOP, True): "The supervisor lets it stop.",
    (Occasion.STOP, False): "The supervisor wants you to go on.",
    (Occasion.QUESTION, True): "The supervisor lets the question through.",
    (Occasion.QUESTION, False): "The supervisor does not want this asked: decide it and go on.",
}


def read(payload: bytes) -> Event:
    """Return the hook's input; without a name it is a Stop. Raises HookInputError."""
    try:
        raw = parse_object(payload)
        if raw.get(_NAME) in (None, ""):
            payload = compact({**raw, _NAME: "Stop"}).encode()
        elif not isinstance(raw[_NAME], str):
            raise HookInputError(f'its "{_NAME}" is no text')
        return read_event(payload, Platform.CLAUDE)
    except PayloadError as error:
        raise HookInputError(str(error)) from error


def occasion_of(event: Event) -> Occasion | None:
    """Return what to review; None for an event that the supervisor ignores."""
    if isinstance(event, Stop | SubagentStop):
        return Occasion.STOP
    asks = isinstance(event, PreToolUse) and event.tool_name == QUESTION_TOOL
    return Occasion.QUESTION if asks else None


@frozen
class Review:
    """An agent that wants to stop, or to ask its user.

    `iteration` counts this session's events from 1; the last reviewed one is `limit`.
    """

    asked: Event
    occasion: Occasion
    session_id: str
    iteration: int
    limit: int

    def as_json(self) -> bytes:
        """Return it for a reviewer's command; a field that the agent did not send is empty."""
        asked = self.asked
        questions = object_at(asked.raw, "tool_input").get("questions")
        members: dict[str, Value] = {
            "event": asked.name,
            "session_id": self.session_id,
            "iteration": self.iteration,
            "limit": self.limit,
            "last_assistant_message": text_at(asked.raw, "last_assistant_message"),
            "transcript_path": asked.transcript_path,
            "cwd": asked.cwd,
            "questions": questions if isinstance(questions, list) else [],
            "hook_input": dict(asked.raw),
        }
        return f"{compact(members)}\n".encode()


@frozen
class ReviewResult:
    """A reviewer's opinion.

    `allow`: whether the agent may stop, or ask; None is no opinion. `feedback`: why, or how to go
    on, for the model. `output`: additions to the answer, in Claude Code's own words.
    """

    allow: bool | None
    feedback: str = ""
    output: Mapping[str, Value] = field(default_factory=dict)


def answer(occasion: Occasion, finding: ReviewResult) -> dict[str, Value]:
    """Return the JSON that tells the agent the finding.

    The finding's own output goes beside it, or replaces it. No opinion on a question is an empty
    object, and the user is asked as ever; a stop without opinion is allowed.
    """
    plain: dict[str, Value] = {}
    if occasion is Occasion.STOP:
        may_stop = finding.allow is not False
        reason = finding.feedback or _WORDS[occasion, may_stop]
        plain = {"reason": reason} if may_stop else {"decision": "block", "reason": reason}
    elif finding.allow is not None:
        of_the_call: dict[str, Value] = {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow" if finding.allow else "deny",
            "permissionDecisionReason": finding.feedback or _WORDS[occasion, finding.allow],
        }
        plain = {_SPECIFIC: of_the_call}
    merged: dict[str, Value] = {**plain, **finding.output}
    specific, more = plain.get(_SPECIFIC), finding.output.get(_SPECIFIC)
    if isinstance(specific, dict) and isinstance(more, dict):
        merged[_SPECIFIC] = {**specific, **more}
    return merged
