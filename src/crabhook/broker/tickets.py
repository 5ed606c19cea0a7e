"""Clients' tickets: who may take up a request again, and answers given but perhaps not received."""

from collections import OrderedDict
from dataclasses import dataclass
from hmac import compare_digest

from crabhook.broker.effects import Refusal
from crabhook.model.reply import Reply
from crabhook.model.request import Request

ANSWERS_KEPT = 4096  # the oldest are forgotten first
ANSWER_KEPT_FOR = 900.0  # seconds; longer than a client tries to come back


@dataclass(frozen=True, slots=True)
class _Given:
    secret: str
    answer: Reply | Refusal
    at: float


class Tickets:
    """Replies already given, by request id, for clients that lost the connection before theirs."""

    def __init__(self) -> None:
        self._given: OrderedDict[str, _Given] = OrderedDict()

    def __repr__(self) -> str:
        return f"<Tickets given={len(self._given)}>"

    def give(self, request_id: str, secret: str, answer: Reply | Refusal, now: float) -> None:
        """Keep the reply to a request, or that it got none, for who presents its ticket."""
        self._given[request_id] = _Given(secret, answer, now)
        while self._given:
            oldest = next(iter(self._given.values()))
            if len(self._given) <= ANSWERS_KEPT and now - oldest.at <= ANSWER_KEPT_FOR:
                return
            self._given.popitem(last=False)

    def given(self, request: Request) -> Reply | Refusal | None:
        """Return the answer kept for this very ticket, if there is one."""
        kept = self._given.get(request.id)
        return kept.answer if kept and same_secret(kept.secret, request.secret) else None

    def belongs_to_another(self, request: Request) -> bool:
        """Whether the id was answered under another secret."""
        kept = self._given.get(request.id)
        return kept is not None and not same_secret(kept.secret, request.secret)


def same_secret(one: str, other: str) -> bool:
    """Compare two secrets in a time that tells nothing about them."""
    return compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))
