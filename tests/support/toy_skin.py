"""A second transport of OperatorService, for tests: a page's requests and server-sent events.

It is what a browser would have, without HTTP: JSON comes in, a status and words or a stream of
events go out. People sign in by their device's name, and open one call by a touch of this very call.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

from crabhook.desk.commands import BARE_DENIAL, AskHistory, Command, Decide
from crabhook.desk.updates import NEVER, Cursor
from crabhook.model.actor import ShownBy
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.server.operators.authentication import Sent
from crabhook.server.operators.refusals import (
    DeskRefusal,
    Forbidden,
    Gone,
    Malformed,
    NeedsPresence,
    NoRoom,
    StandsBy,
)
from crabhook.server.operators.service import (
    Bookmark,
    Gap,
    Hello,
    OperatorService,
    SubmittedCommand,
    VisibleChange,
    Watched,
    Whole,
)
from crabhook.team.call_signature import SignedCall
from crabhook.team.membership import Identified, Principal, Team, TeamRefusal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Hashable, Mapping
    from typing import Any

STATUS: Mapping[type[DeskRefusal], int] = {
    Forbidden: 403,
    NeedsPresence: 403,
    NoRoom: 429,
    Malformed: 400,
    Gone: 404,
    StandsBy: 503,
}

T = TypeVar("T")


@dataclass(frozen=True)
class SignedIn:
    """A person's session at a device, which only closes; `touch` opens the call it was made for."""

    operator: str
    name: str
    touch: bytes = b""
    address: str = "192.0.2.9"

    @property
    def device(self) -> Hashable:
        return self.operator, self.name

    def identify(self, team: Team, now: float) -> Identified:
        principal = team.principal(self.operator, self.name, now)
        return principal if isinstance(principal, TeamRefusal) else replace(principal, closing=True)

    def opened(
        self, principal: Principal, team: Team, sent: Sent, challenge: bytes, _now: float
    ) -> Identified:
        if not self.touch:
            return principal
        if self.touch != touch(team.id, self.operator, challenge, sent):
            return TeamRefusal("the touch is of another call")
        return replace(principal, closing=False, signed=True)

    def attends(self, principal: Principal) -> bool:
        return not principal.closing

    def shown_by(self, principal: Principal) -> ShownBy:
        return ShownBy.OPEN_KEY if principal.closing else ShownBy.SIGNATURE


def touch(team: str, operator: str, challenge: bytes, sent: Sent) -> bytes:
    """Return what a person's authenticator would say of a call."""
    return sha256(SignedCall(team, operator, challenge, *sent, 0.0).text).digest()


def command_of(body: Mapping[str, Any]) -> Command:
    if body["do"] == "history":
        return AskHistory(id=body["id"])
    reason = BARE_DENIAL if body["do"] == "deny" else ""
    decision = Decision(Verdict(body["do"]), reason)
    return Decide(body["card"], body["version"], decision, id=body["id"])


class Page:
    """What the toy's pages ask for."""

    def __init__(self, service: OperatorService) -> None:
        self._service = service

    async def post(self, caller: SignedIn, body: bytes) -> tuple[int, str]:
        """Carry out a command in JSON; return a status, and words or the outcome's name."""
        asked = json.loads(body)
        with self._service.open(caller) as call:
            if isinstance(call, DeskRefusal):
                return refused(call)
            seen = bytes.fromhex(asked.get("seen", ""))
            command = SubmittedCommand(command_of(asked), Sent("POST /do", body), seen)
            reply = await self._service.carry_out(call, command)
            if isinstance(reply, DeskRefusal):
                return refused(reply)
            return 200, f"{type(reply.outcome).__name__} {reply.outcome.why}".strip()

    async def get(self, caller: SignedIn, number: int) -> tuple[int, str]:
        """Return a card's input as it is on a page."""
        with self._service.open(caller) as call:
            if isinstance(call, DeskRefusal):
                return refused(call)
            card = await self._service.card(call, number)
            if isinstance(card, DeskRefusal):
                return refused(card)
            return 200, self._service.inputs.json(card.requests[0]).decode()

    async def events(self, caller: SignedIn, last_event_id: str = "") -> AsyncGenerator[str, None]:
        """Yield server-sent events; a refusal is the last."""
        with self._service.open(caller) as call:
            if isinstance(call, DeskRefusal):
                yield f"event: end\ndata: {refused(call)[0]}\n\n"
                return
            after = Cursor.parse(last_event_id) if last_event_id else NEVER
            async with aclosing(self._service.watch(call, after)) as parts:
                async for part in parts:
                    if isinstance(part, Hello):
                        after = part.cursor
                    yield event_of(part, after)


def refused(refusal: DeskRefusal) -> tuple[int, str]:
    return STATUS[type(refusal)], refusal.why


def event_of(part: Watched | DeskRefusal, hello: Cursor) -> str:
    """Return a part of a watch as an event, by whose id a page comes back to its place."""
    seq, kind, data = 0, type(part).__name__.lower(), ""
    match part:
        case Hello():
            data = part.principal.name
        case Gap():
            data = "all there is follows"
        case Whole(seq, snapshot):
            data = " ".join(f"#{card.number}" for card in snapshot.waiting)
        case VisibleChange():
            seq, kind = part.logged.seq, "change"
            data = (
                f"#{part.news.number}" if isinstance(part.news, Card) else type(part.news).__name__
            )
        case Bookmark(seq):
            data = "nothing new"
        case DeskRefusal():
            kind, data = "end", f"{STATUS[type(part)]} {part.why}"
    place = f"id: {hello._replace(seq=seq)}\n" if seq else ""
    return f"{place}event: {kind}\ndata: {data}\n\n"
