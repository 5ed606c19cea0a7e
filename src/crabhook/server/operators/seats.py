"""Who calls: the certificate and the signature that a call shows, looked up at each call."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from time import time
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from crabhook.server.metrics.tally import TurnedAway
from crabhook.server.token import Context
from crabhook.team.membership import Facts, Identified, Refused, Seat, Team, Verb
from crabhook.team.presence import HEADER, Call, opened_by
from crabhook.team.sshsig import LARGEST
from crabhook.v1 import operator_pb2 as pb

_LATEST = 1e11  # seconds: what fits the bytes that are signed


class Sent(NamedTuple):
    """A call's name, and its request as it came: what presence is signed over."""

    rpc: str
    request: bytes


class Seats:
    """Looks callers up; `team` returns who is in the team now, `now` the time on desks' clocks."""

    def __init__(self, team: Callable[[], Team | Refused], now: Callable[[], float]) -> None:
        self._team, self._now = team, now
        self.challenge = secrets.token_bytes(16)

    def __repr__(self) -> str:
        return f"<Seats of {self._team!r}>"

    def of(
        self, context: Context, verb: Verb, facts: Facts | None = None, sent: Sent | None = None
    ) -> Identified:
        """Return who calls, or why they may not do this; `sent` may have been signed."""
        team, shown = self._team(), context.auth_context().get("x509_pem_cert", ())
        if isinstance(team, Refused):
            return team

        def opened(seat: Seat) -> Identified:
            told = _shown_in(context) if sent and seat.closing else None
            if sent is None or told is None:
                return seat
            call = Call(team.id, seat.operator, self.challenge, *sent, told.at)
            return opened_by(told.signature, call, team, seat, self._now())

        return team.allows(next(iter(shown), b""), time(), verb, facts, opened)

    def turns_away(self, context: Context) -> TurnedAway:
        """Return what a call counts as that was refused."""
        team, shown = self._team(), context.auth_context().get("x509_pem_cert", ())
        if isinstance(team, Refused):
            return TurnedAway.TEAM
        known = not isinstance(team.identify(next(iter(shown), b""), time()), Refused)
        return TurnedAway.RIGHTS if known else TurnedAway.CERTIFICATE


def as_sent(message: Any, request: bytes) -> tuple[bytes, Any]:  # noqa: ANN401 - a message's class
    """Return a request as it came, and read."""
    return request, message.FromString(request)


def _shown_in(context: Context) -> pb.SignedPresence | None:
    """Return the signature that came with a call; None where none did, or nobody can read it."""
    for key, value in context.invocation_metadata() or ():
        if key == HEADER and isinstance(value, bytes) and len(value) <= 2 * LARGEST:
            with suppress(DecodeError):
                told = pb.SignedPresence.FromString(value)
                return told if 0 <= told.at < _LATEST else None  # which nan is not
    return None
