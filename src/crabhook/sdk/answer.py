"""What a hook says to its agent, not yet in any platform's words."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Verdict(StrEnum):
    """The kinds of decision, by the broker's names for them; a test holds the two together."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    DEFER = "defer"
    KEEP_GOING = "keep-going"
    RETRY = "retry"
    ACCEPT = "accept"
    DECLINE = "decline"
    CANCEL = "cancel"


class Answer(NamedTuple):
    """What the agent is told; made by the methods of the event, which offer what it can carry.

    `verdict`: None decides nothing.
    `reason`: why, or how to go on; the model reads it.
    `context`: further words for the model.
    `updated_input`: replaces the tool's whole input.
    `output`: replaces what the model is shown of a tool's result.
    `content`: a form's values, by property.
    `permissions`: permission updates to apply with an allow, in Claude Code's words.
    `interrupt`: a denial also ends the turn.
    `halt`: ends the turn, for this reason, whatever the verdict.
    `user_message`: shown to the agent's user.
    `suppress_output`: asks the agent not to show what the hook says.
    `specific`: what only this platform knows, in its own words.
    """

    verdict: Verdict | None = None
    reason: str = ""
    context: str = ""
    updated_input: Mapping[str, Any] | None = None
    output: Any = None
    content: Mapping[str, Any] | None = None
    permissions: tuple[Mapping[str, Any], ...] = ()
    interrupt: bool = False
    halt: str = ""
    user_message: str = ""
    suppress_output: bool = False
    specific: Mapping[str, Any] | None = None

    def telling_user(self, message: str) -> Answer:
        """Return the same answer with a message to the agent's user beside it."""
        return self._replace(user_message=message)

    def quietly(self) -> Answer:
        """Return the same answer, asking the agent not to show what the hook says."""
        return self._replace(suppress_output=True)
