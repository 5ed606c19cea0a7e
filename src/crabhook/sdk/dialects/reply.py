"""What a hook's process gives its agent, and a platform's JSON in the making."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crabhook.model.jsontext import compact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.model.jsontext import Value
    from crabhook.sdk.event import Answer, Event


def text_of(output: Value) -> str:
    """Return an output as a text for the model."""
    return output if isinstance(output, str) else compact(output)


class Reply(NamedTuple):
    """One JSON object on standard output or nothing, words on standard error, an exit code.

    `unsaid` is what the answer held and this platform cannot be told on this
    event, in words for the hook's author.
    """

    output: Mapping[str, Value] | None = None
    stderr: str = ""
    exit_code: int = 0
    unsaid: tuple[str, ...] = ()


class Body:
    """The top level, the members of hookSpecificOutput, and how the process ends."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self.top: dict[str, Value] = {}
        self.specific: dict[str, Value] = {}
        self.stderr = ""
        self.exit_code = 0
        self._unsaid: list[str] = []

    def leave_out(self, what: str) -> None:
        """Note something that this platform cannot be told on this event."""
        self._unsaid.append(what)

    def go_beside(self, answer: Answer) -> None:
        """Say what an answer holds beside its verdict, at the top level."""
        if answer.halt:
            self.top |= {"continue": False, "stopReason": answer.halt}
        if answer.user_message:
            self.top["systemMessage"] = answer.user_message
        if answer.suppress_output:
            self.top["suppressOutput"] = True

    def reply(self, silence: Mapping[str, Value] | None = None) -> Reply:
        """Return the reply; `silence` is what is printed where nothing is said."""
        output = dict(self.top)
        if self.specific:
            output["hookSpecificOutput"] = {"hookEventName": self.event.name, **self.specific}
        return Reply(output or silence, self.stderr, self.exit_code, tuple(self._unsaid))
