"""Answers in each platform's own words: only known keys, and never looser than given.

Each dialect is imported for an event of its platform only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.model.jsontext import compact
from crabhook.sdk.event import Answer, Platform, Reply
from crabhook.sdk.events import calls

if TYPE_CHECKING:
    from collections.abc import Callable

    from crabhook.sdk.event import Event

__all__ = ["Reply", "write"]


def write(event: Event, answer: Answer | None) -> Reply:
    """Return what the hook prints; None is no opinion.

    Raises TypeError for a wrong type, ValueError for another event's answer or for no JSON.
    """
    if answer is None:
        # Gemini reads standard error where standard output is blank
        return Reply({} if event.platform is Platform.GEMINI else None)
    _check(event, answer)
    lost: tuple[str, ...] = ()
    if answer.user_message and not isinstance(event, calls.TalksToUser):
        answer = answer._replace(user_message="")
        lost = (f"the message: {event.name} shows its user none",)
    if answer.suppress_output and not isinstance(event, calls.TalksToUser):
        answer = answer._replace(suppress_output=False)
        lost += (f"suppressOutput: {event.name} has no output to suppress",)
    reply = _dialect(event.platform)(event, answer)
    compact(reply.output)  # what cannot be printed has to fail here, where failing has an answer
    return reply._replace(unsaid=reply.unsaid + lost)


def _dialect(platform: Platform) -> Callable[[Event, Answer], Reply]:
    if platform is Platform.GEMINI:
        from crabhook.sdk.dialects import gemini  # a hook answers one agent

        return gemini.write
    if platform is Platform.QWEN:
        from crabhook.sdk.dialects import qwen  # likewise

        return qwen.write
    if platform is Platform.COPILOT:
        from crabhook.sdk.dialects import copilot  # likewise

        return copilot.write
    if platform is Platform.CODEX:
        from crabhook.sdk.dialects import codex  # likewise

        return codex.write
    from crabhook.sdk.dialects import claude  # likewise

    return claude.write


def _check(event: Event, answer: Answer) -> None:
    if not isinstance(answer, Answer):
        raise TypeError(
            f"a handler returned {answer!r}: it has to return an answer that the event makes, "
            "such as event.deny(...), or None"
        )
    for carried, fits, what in (
        (answer.verdict, answer.verdict in event.verdicts, f"take {answer.verdict}"),
        (answer.context, isinstance(event, calls.TakesContext), "take context"),
        (answer.halt, isinstance(event, calls.Haltable), "end the turn"),
        (answer.updated_input is not None,
         isinstance(event, calls.PreToolUse | calls.PermissionRequest), "take another input"),
        (answer.output is not None, isinstance(event, calls.PostToolUse), "take another output"),
    ):  # fmt: skip
        if carried and not fits:
            raise ValueError(f"{event.name} does not {what}: the answer is another event's")
