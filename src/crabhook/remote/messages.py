"""Which call carries a command, and which part of a Watch a piece of news."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from google.protobuf.message import Message

from crabhook.datatypes import Bounded
from crabhook.desk import commands, updates
from crabhook.model.card import Card, FeedEntry, Leg, State
from crabhook.model.jsontext import in_pieces
from crabhook.model.session import SessionView
from crabhook.remote.codec import WireError, json_of, own_input, to_message, to_value
from crabhook.v1 import operator_pb2 as pb

if TYPE_CHECKING:
    from crabhook.model.event import Event

CALLS: Mapping[str, Any] = {
    "Decide": commands.Decide,
    "Remember": commands.AllowWithRule,
    "Claim": commands.Claim,
    "Adjust": commands.Extend | commands.Snooze,
    "GiveOrder": commands.GiveOrder,
    "EndOrders": commands.EndOrders,
    "Steer": commands.Steer,
    "TakeBackNote": commands.TakeBackNote,
    "StopSession": commands.StopSession,
    "KeepRule": commands.KeepRule,
    "Offers": commands.AskOffers,
    "Context": commands.AskContext,
    "Objections": commands.AskObjections,
    "History": commands.AskHistory,
    "Entry": commands.AskEntry,
    "Desks": commands.AskDesks,
}
"""The calls of the service that carry a command, each with the command, or a union of them."""
READ: Mapping[type[commands.Ask], type[updates.News]] = {
    commands.AskOffers: updates.OffersReady,
    commands.AskContext: updates.ContextReady,
    commands.AskObjections: updates.ObjectionsReady,
    commands.AskHistory: updates.HistoryRead,
    commands.AskEntry: updates.EntryRead,
    commands.AskDesks: updates.DesksRead,
}
"""What is read for each command that asks."""
_CALL_OF = {kind: rpc for rpc, told in CALLS.items() for kind in getattr(told, "__args__", (told,))}

NEWS: Mapping[type, str] = {
    Card: "card",
    FeedEntry: "feed",
    updates.OrdersChanged: "orders",
    updates.SessionsChanged: "sessions",
    updates.SessionsSeen: "sessions_seen",
    updates.TroublesChanged: "troubles",
    updates.DesksChanged: "desks",
    updates.Claimed: "claimed",
    updates.HouseChanged: "house",
}
"""The news that are told to every desk, each with its part of a WatchEvent."""
_NEWS = {part: kind for kind, part in NEWS.items()}

INPUTS_KEPT = 1024  # legs
LONG_KEPT, LONG_BYTES = 64, 64 << 20  # inputs that are kept as JSON
PAYLOAD_LIMIT = 64 << 10  # bytes of an input that is sent with its card


# Commands, and what became of them.


def request_of(command: commands.Command) -> tuple[str, Any]:
    """Return the name of the call that carries a command, and its request; raises WireError."""
    rpc = _CALL_OF.get(type(command))
    if rpc is None:
        raise WireError(f"no call carries {type(command).__name__}")
    return rpc, to_message(command, getattr(pb, f"{rpc}Request"), CALLS[rpc])


def command_in(rpc: str, request: Message) -> commands.Command:
    """Return the command that a call carries; raises WireError."""
    command: commands.Command = to_value(request, CALLS[rpc])
    return command


def response_of(
    rpc: str, outcome: commands.Outcome, seq: int, read: updates.News | None = None
) -> Any:  # noqa: ANN401 - a response
    """Return what a call is answered: the outcome, the last news before it, and what was read."""
    message = getattr(pb, f"{rpc}Response")(
        outcome=to_message(outcome, pb.Outcome, commands.Outcome), seq=seq
    )
    if read is not None:
        message.read.CopyFrom(to_message(read, type(message.read)))
    return message


def outcome_in(response: Any) -> commands.Outcome:  # noqa: ANN401 - a response
    """Return what became of a command; raises WireError."""
    outcome: commands.Outcome = to_value(response.outcome, commands.Outcome)
    return outcome


def read_in(response: Any, asked: commands.Ask) -> updates.News | None:  # noqa: ANN401 - a response
    """Return what was read for a command that asked, if anything was; raises WireError."""
    news: updates.News | None = None
    if response.HasField("read"):
        news = to_value(response.read, READ[type(asked)])
    return news


def outcome_unknown(command: commands.Command) -> commands.Outcome:
    """Return what became of a command whose answer was lost."""
    number = getattr(command, "card", 0)
    where = f"look at #{number}" if number else "look at what the desk shows"
    return commands.Refused(
        f"the connection was lost, and whether it was done is not known: {where}"
    )


# News.


class Cursor(NamedTuple):
    """A place in a server's news: of which store, after which number, as seen with which rights."""

    store: bytes
    seq: int
    view: bytes

    def __str__(self) -> str:
        return f"{self.store.hex()}:{self.seq}:{self.view.hex()}"

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """Return the cursor that a text is; raises ValueError."""
        store, seq, view = text.split(":")
        return cls(bytes.fromhex(store), int(seq), bytes.fromhex(view))


NEVER = Cursor(b"", 0, b"")
"""The cursor of who has seen nothing."""


class Inputs:
    """The inputs of legs, and their names: a long one becomes JSON once, for all desks.

    `prepare` does that beside the loop, otherwise the first use does.
    """

    def __init__(self) -> None:
        self._names: Bounded[str, tuple[Event, bytes]] = Bounded(INPUTS_KEPT)
        self._long: Bounded[str, tuple[Event, bytes]] = Bounded(LONG_KEPT)
        self._turn = asyncio.Lock()

    async def prepare(self, card: Card) -> None:
        """Make the long inputs of a card into JSON in a thread, unless that was done."""
        for leg in card.requests:
            if leg.size > PAYLOAD_LIMIT and not _is_of(self._names.get(leg.id), leg):
                async with self._turn:
                    await asyncio.to_thread(self.sha256, leg)

    def sha256(self, leg: Leg) -> bytes:
        """Return what names a leg's input."""
        known = self._names.get(leg.id)
        if known is None or not _is_of(known, leg):
            known = leg.event, sha256(self.json(leg)).digest()
            self._names[leg.id] = known
        return known[1]

    def json(self, leg: Leg) -> bytes:
        """Return a leg's input as it is on the wire."""
        known = self._long.get(leg.id)
        if known is not None and _is_of(known, leg):
            return known[1]
        pieces = in_pieces(leg.event.fields)
        long = leg.size > PAYLOAD_LIMIT
        made = "".join(pieces).encode("ascii") if long else json_of(leg.event.fields)
        if PAYLOAD_LIMIT < len(made) <= LONG_BYTES:
            self._long[leg.id] = leg.event, made
            while sum(len(one) for _, one in self._long.values()) > LONG_BYTES:
                self._long.popitem(last=False)
        return made

    def seen(self, card: Card) -> bytes:
        """Return what names the inputs of all legs that are seen on a card."""
        return sha256(b"".join(map(self.sha256, card.requests))).digest()


def _is_of(known: "tuple[Event, bytes] | None", leg: Leg) -> bool:
    return known is not None and known[0] is leg.event


def card_message(card: Card, inputs: Inputs, limit: int | None = None) -> pb.Card:
    """Return a card, without inputs of more than `limit` bytes; raises WireError."""
    most = PAYLOAD_LIMIT if limit is None else min(limit, PAYLOAD_LIMIT)
    long = [leg.size > most for leg in card.requests]
    if any(long):  # they are made into JSON once, for all desks
        legs = zip(card.requests, long, strict=True)
        slim = (replace(leg, event=leg.event.slim()) if out else leg for leg, out in legs)
        message = to_message(replace(card, requests=tuple(slim)), pb.Card)
    else:
        message = to_message(card, pb.Card)
    for leg, told, out in zip(card.requests, message.requests, long, strict=True):
        told.payload_sha256 = inputs.sha256(leg)
        if out:
            told.event.fields_json = inputs.json(leg)
            if (own := own_input(leg.event)) is not None:
                told.event.tool.input_json = own
            elif told.event.HasField("tool"):
                told.event.tool.ClearField("input_json")
        if limit is not None and len(told.event.fields_json) > limit:
            told.event.ClearField("fields_json")
            told.event.tool.ClearField("input_json")
    return message


def event_of(
    news: updates.News, seq: int = 0, limit: int = PAYLOAD_LIMIT, inputs: Inputs | None = None
) -> pb.WatchEvent:
    """Return the event that tells a piece of news, long inputs left out; raises WireError."""
    event, part = pb.WatchEvent(seq=seq), NEWS.get(type(news))
    if part is None:
        raise WireError(f"no event tells {type(news).__name__}")
    if isinstance(news, Card):
        event.card.MergeFrom(card_message(news, inputs or Inputs(), limit))
    else:
        told = getattr(event, part)
        told.MergeFrom(to_message(news, type(told)))
    return event


def news_in(event: pb.WatchEvent) -> updates.News | None:
    """Return the news in an event; None if no screen needs it.  Raises WireError."""
    part = event.WhichOneof("news") or ""
    kind = _NEWS.get(part)
    news: updates.News | None = None if kind is None else to_value(getattr(event, part), kind)
    return news


def events_of(
    snapshot: updates.Snapshot, limit: int = PAYLOAD_LIMIT, inputs: Inputs | None = None
) -> Iterator[pb.WatchEvent]:
    """Yield the events that tell all there is, each made when it is wanted, but for the last."""
    yield pb.WatchEvent(state=to_message(snapshot, pb.State))
    for card in (*snapshot.waiting, *snapshot.ended):
        yield event_of(card, 0, limit, inputs)
    for entry in snapshot.feed:
        yield event_of(entry)
    for one in snapshot.live:
        yield event_of(updates.SessionsSeen((one,)))


def snapshot_of(state: pb.State, told: Iterable[updates.News]) -> updates.Snapshot:
    """Return all there is, of the news that `events_of` made; raises WireError."""
    cards, feed, live = list[Card](), list[FeedEntry](), list[SessionView]()
    for news in told:
        match news:
            case Card():
                cards.append(news)
            case FeedEntry():
                feed.append(news)
            case updates.SessionsSeen(changed):
                live += changed
    beside: updates.Snapshot = to_value(state, updates.Snapshot)
    return replace(
        beside,
        waiting=tuple(card for card in cards if card.state is State.WAITING),
        ended=tuple(card for card in cards if card.state is not State.WAITING),
        feed=tuple(feed),
        live=tuple(live),
    )


def read_by_grpc(message: Any) -> Any:  # noqa: ANN401 - messages
    """Return what gRPC has read; of bytes that are no such message it makes None."""
    if message is None:
        raise WireError("the server says what cannot be read")
    return message


def left_out(leg: pb.Leg) -> bool:
    """Whether a leg came without its input."""
    return not leg.event.HasField("fields_json")
