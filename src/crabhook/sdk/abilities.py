"""What events can be told: one small class for each kind of answer, made into events by mixing.

A method returns an `Answer`; nothing is printed before the handler returns it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crabhook.sdk.event import Answer, Event, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping


_NO_REASON = "A hook refused this and did not say why."


def words(reason: object) -> str:
    """Return a reason that is never empty: Codex ignores a denial without one."""
    return str(reason or "").strip() or _NO_REASON


class TakesContext(Event):
    """An event on which the model can be told something."""

    def context(self, text: str) -> Answer:
        """Tell the model something, and decide nothing."""
        return Answer(context=text)


class TalksToUser(Event):
    """An event on which the agent's user can be shown something."""

    def tell_user(self, message: str) -> Answer:
        """Show the agent's user a message, and decide nothing."""
        return Answer(user_message=message)


class Haltable(Event):
    """An event on which the turn can be ended."""

    def halt(self, reason: str) -> Answer:
        """End the agent's turn; its user reads the reason."""
        return Answer(halt=words(reason))


class Deniable(Event):
    """An event that something can be denied on before it happens."""

    verdicts = frozenset({Verdict.DENY})

    def deny(self, reason: str) -> Answer:
        """Let it not happen; the model reads the reason."""
        return Answer(Verdict.DENY, words(reason))

    def refusal(self, reason: str) -> Answer | None:
        """Return the denial that a hook says when it fails and was told to deny then."""
        return self.deny(reason)


class Askable(Event):
    """An event on which the agent can be made to ask its own user."""

    verdicts = frozenset({Verdict.ASK})

    def ask(self, reason: str = "") -> Answer:
        """Have the agent ask its own user, who reads the reason.

        Codex cannot be told to: there it is a denial.  A headless Gemini ends
        instead of asking.
        """
        return Answer(Verdict.ASK, reason)


class Blockable(Event):
    """An event that can be blocked, in the platform's own sense of the word."""

    verdicts = frozenset({Verdict.DENY})

    def block(self, reason: str) -> Answer:
        """Block it, for this reason; the event's class says what that means."""
        return Answer(Verdict.DENY, words(reason))


class Preventable(Blockable):
    """An event that a block keeps from happening, so that a hook that fails may block it."""

    def refusal(self, reason: str) -> Answer | None:
        """Return the block that a hook says when it fails and was told to deny then."""
        return self.block(reason)


class Fillable(Event):
    """A form of an MCP server's."""

    verdicts = frozenset({Verdict.ACCEPT, Verdict.DECLINE, Verdict.CANCEL})

    def accept(self, content: Mapping[str, Any] | None = None) -> Answer:
        """Send the form back with these values, by property."""
        return Answer(Verdict.ACCEPT, content=content)

    def decline(self) -> Answer:
        """Send the form back, refused."""
        return Answer(Verdict.DECLINE)

    def cancel(self) -> Answer:
        """Close the form without an answer."""
        return Answer(Verdict.CANCEL)

    def refusal(self, _reason: str) -> Answer | None:
        """Return the refusal that a hook says when it fails and was told to deny then."""
        return Answer(Verdict.DECLINE)
