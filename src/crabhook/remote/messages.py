"""Which call carries a command, and which part of a Watch a piece of news."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from google.protobuf.message import Message

from crabhook.desk import commands, updates
from crabhook.desk.updates import READ
from crabhook.model.card import Card, FeedEntry, State
from crabhook.model.session import SessionView
from crabhook.remote.codec import WireError, own_input, to_message, to_value
from crabhook.remote.inputs import PAYLOAD_LIMIT, Inputs
from crabhook.v1 import operator_pb2 as pb

CALLS: Mapping[str, Any] = {
    "Decide": commands.Decide,
    "Remember": commands.DecideWithRule,
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
_CALL_OF = {
    kind: rpc for rpc, command in CALLS.items() for kind in getattr(command, "__args__", (command,))
}

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
    for leg, leg_message, out in zip(card.requests, message.requests, long, strict=True):
        leg_message.payload_sha256 = inputs.sha256(leg)
        if out:
            leg_message.event.fields_json = inputs.json(leg)
            if (own := own_input(leg.event)) is not None:
                leg_message.event.tool.input_json = own
            elif leg_message.event.HasField("tool"):
                leg_message.event.tool.ClearField("input_json")
        if limit is not None and len(leg_message.event.fields_json) > limit:
            if leg.strict is not None:
                leg_message.strict.ClearField("payload")
            leg_message.event.ClearField("fields_json")
            leg_message.event.tool.ClearField("input_json")
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
        part_message = getattr(event, part)
        part_message.MergeFrom(to_message(news, type(part_message)))
    if part == "orders":
        _hide_newer(event.orders)
    return event


_NEWER = (pb.ORDER_KIND_LET_ONCE, pb.ORDER_KIND_DENY_AGAIN)


def _hide_newer(message: pb.State | pb.OrdersChanged) -> None:
    """Tell older desks only orders that they can read: after another they cannot read on."""
    orders = list(message.orders)
    older = [order for order in orders if order.kind not in _NEWER]
    if len(older) < len(orders):
        message.every_order.extend(orders)
        del message.orders[:]
        message.orders.extend(older)


def _show_newer(message: pb.State | pb.OrdersChanged) -> None:
    """Put orders of newer kinds back among the others."""
    if message.every_order:
        del message.orders[:]
        message.orders.extend(message.every_order)


def news_in(event: pb.WatchEvent) -> updates.News | None:
    """Return the news in an event; None if no screen needs it. Raises WireError."""
    part = event.WhichOneof("news") or ""
    kind = _NEWS.get(part)
    if part == "orders":
        _show_newer(event.orders)
    news: updates.News | None = None if kind is None else to_value(getattr(event, part), kind)
    return news


def events_of(
    snapshot: updates.Snapshot, limit: int = PAYLOAD_LIMIT, inputs: Inputs | None = None
) -> Iterator[pb.WatchEvent]:
    """Yield the events that tell all there is, each made when it is wanted, but for the last."""
    state = to_message(snapshot, pb.State)
    _hide_newer(state)
    yield pb.WatchEvent(state=state)
    for card in (*snapshot.waiting, *snapshot.ended):
        yield event_of(card, 0, limit, inputs)
    for entry in snapshot.feed:
        yield event_of(entry)
    for session in snapshot.live:
        yield event_of(updates.SessionsSeen((session,)))


def snapshot_of(state: pb.State, every_news: Iterable[updates.News]) -> updates.Snapshot:
    """Return all there is, of the news that `events_of` made; raises WireError."""
    cards, feed, live = list[Card](), list[FeedEntry](), list[SessionView]()
    for news in every_news:
        match news:
            case Card():
                cards.append(news)
            case FeedEntry():
                feed.append(news)
            case updates.SessionsSeen(changed):
                live += changed
    _show_newer(state)
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
