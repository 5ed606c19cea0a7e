"""What is answered instead of a reply: a status that says whose fault it is, and why, in words.

No status blocks and none allows: to Claude Code each is a hook that failed,
which is a notice, or what `onFailure` makes of it.
"""

from collections.abc import Mapping
from http import HTTPStatus

from crabhook.broker.messages import Refusal
from crabhook.model.errors import CrabhookError

SERVER = {"Server": "crabhook"}
"""The header that says who answers, and not which library of which version."""

STATUS: Mapping[Refusal, HTTPStatus] = {
    Refusal.NOT_YOURS: HTTPStatus.CONFLICT,
    Refusal.SUPERSEDED: HTTPStatus.CONFLICT,
    Refusal.FULL: HTTPStatus.TOO_MANY_REQUESTS,
    Refusal.SESSION_FULL: HTTPStatus.TOO_MANY_REQUESTS,
    Refusal.UNRECORDED: HTTPStatus.SERVICE_UNAVAILABLE,
    Refusal.UNDECIDED: HTTPStatus.GATEWAY_TIMEOUT,
    Refusal.OVER: HTTPStatus.GONE,
    Refusal.CLOSED: HTTPStatus.SERVICE_UNAVAILABLE,
    Refusal.HANDED_OVER: HTTPStatus.SERVICE_UNAVAILABLE,
}


class TurnedAwayError(CrabhookError):
    """A request that gets no reply.

    `told`: the operator hears of it, in these words, which hold nothing that
    the other end sent.  `ends`: the connection ends with it.
    """

    def __init__(
        self,
        status: HTTPStatus,
        words: str,
        *,
        told: str = "",
        ends: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(words)
        self.status, self.told, self.ends = status, told, ends
        self.headers = dict(headers or {})


def turned_away(refusal: Refusal) -> TurnedAwayError:
    """Return how a request is turned away that the broker refused."""
    return TurnedAwayError(STATUS[refusal], refusal.value)
