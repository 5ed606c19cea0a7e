"""A platform's JSON in the making, and what of the answer was left out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.sdk.dialects.reply import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.model.jsontext import Value
    from crabhook.sdk.event import Event


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

    def reply(self, silence: Mapping[str, Value] | None = None) -> Reply:
        """Return the reply; `silence` is what is printed where nothing is said."""
        output = dict(self.top)
        if self.specific:
            output["hookSpecificOutput"] = {"hookEventName": self.event.name, **self.specific}
        return Reply(output or silence, self.stderr, self.exit_code, tuple(self._unsaid))
