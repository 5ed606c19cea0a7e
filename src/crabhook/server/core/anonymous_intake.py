"""The intake of requests without tickets: of JSON lines and of HTTP.

Such a request belongs to its connection. The intake makes a ticket for it, so that no client can
claim it.
"""

from secrets import token_hex
from typing import TYPE_CHECKING

from crabhook.model.card import Origin, Request, Stance
from crabhook.model.errors import PayloadError
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.server.core.deadlines import deadlines
from crabhook.server.core.intake import Intake
from crabhook.server.core.pending_call import PendingCall
from crabhook.server.core.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Callable

PLATFORM = "claude"
"""The platform of an input that names none."""

TAKEN_WITHIN = 5.0  # seconds for the other end to read an answer; a live one reads at once

_UNKNOWN = Event(PLATFORM, "?")


class AnonymousIntake:
    """Takes requests without tickets, and reports faults to the operator.

    `wait` is how many seconds a request may wait for the operator. `named` is this port's name for
    the operator. `followers` are called with the runner that requests go to from then on.
    """

    def __init__(self, runner: Runner, *, wait: float, named: str) -> None:
        self.wait, self._named = wait, named
        self.followers: list[Callable[[Runner], object]] = []
        self.switch_to(runner)

    def switch_to(self, runner: Runner) -> None:
        """Pass requests to this runner from now on."""
        self._runner, self._intake = runner, Intake(runner)
        for follow in self.followers:
            follow(runner)

    def __repr__(self) -> str:
        return f"<AnonymousIntake by the {self._named} to {self._runner!r}>"

    def read(self, payload: bytes, platform: str = PLATFORM) -> Event:
        """Return the event in an agent's hook input. Raises PayloadError, which is counted."""
        try:
            return PLATFORMS[platform].read(payload)
        except PayloadError:
            self._runner.witness.unread(platform)
            raise

    async def enter(
        self,
        event: Event,
        origin: Origin,
        size: int,
        *,
        stance: Stance = Stance.GATE,
        theirs: float = 0.0,
    ) -> PendingCall:
        """Pass on an event whose input had `size` bytes. Raises RefusedError.

        `theirs` is how many seconds its hook waits, 0 if unknown.
        """
        until = deadlines(self._runner.now(), self.wait, theirs)
        request = Request(
            id=token_hex(16),
            secret=token_hex(16),
            event=event,
            wait_until=until.wait_until,
            stance=stance,
            origin=origin,
            gives_up_at=until.gives_up_at,
            size=size,
        )
        return await self._intake.enter(request)

    def taken(self, pending: PendingCall) -> None:
        """Note that a connection has received a request's answer."""
        self._runner.confirm(pending.request.id, pending.request.secret)

    def observe(self, event: Event, text: str) -> None:
        """Show the operator a line about an event."""
        self._runner.observe(event, text)

    def complain(self, what: str) -> None:
        """Show the operator another program's mistake."""
        self.observe(_UNKNOWN, f"{self._named}: {what}")
