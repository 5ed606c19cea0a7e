"""What is told of a desk is told to the letter, wherever the desk is; what is no value is refused."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any, get_args

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from crabhook.broker.pending import LIMITS
from crabhook.desk import commands, updates
from crabhook.desk.commands import Ask, Command, Decide, Outcome, TooLate
from crabhook.desk.updates import READ, SHARED, News, OrdersChanged, Snapshot
from crabhook.model.actor import OWNER
from crabhook.model.card import NO_REASON, Because, Brought, Card, Leg
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.model.order import Order, OrderKind, Standing
from crabhook.remote.codec import BOUNDED, WireError, json_of, to_value
from crabhook.remote.desk import CARD_AT_MOST
from crabhook.remote.inputs import LONG_BYTES, Inputs
from crabhook.remote.messages import (
    CALLS,
    NEWS,
    card_message,
    command_in,
    event_of,
    events_of,
    news_in,
    outcome_in,
    read_in,
    request_of,
    response_of,
    snapshot_of,
)
from crabhook.v1 import operator_pb2 as pb
from tests.support.examples import examples
from tests.support.values import exact, maker

ALONE = {updates.Snapshot, updates.Settled, updates.LinkChanged, *READ.values()}
TOLD = [one for one in get_args(News) if one not in ALONE]
EVERY = [
    kind
    for kind in vars(commands).values()
    if isinstance(kind, type) and issubclass(kind, Command) and kind not in (Command, Ask)
]

WHOLE = 2**62
SEEDS = st.integers(0, 2**32)


def sent(message: Any) -> Any:
    """A message as the other side has it."""
    return type(message).FromString(message.SerializeToString())


@pytest.mark.parametrize("kind", EVERY)
@examples(80)
@given(seed=SEEDS)
def test_a_command_arrives_to_the_letter(kind: type[Command], seed: int) -> None:
    command = maker(kind)(Random(seed))
    rpc, request = request_of(command)
    there = command_in(rpc, sent(request))
    if issubclass(kind, Ask):  # it changes nothing, so that its id stays with the desk
        there = replace(there, id=command.id)
    assert exact(there) == exact(command)


@pytest.mark.parametrize("kind", TOLD)
@examples(120)
@given(seed=SEEDS)
def test_news_arrive_to_the_letter(kind: type, seed: int) -> None:
    news = maker(kind)(Random(seed))
    assert exact(news_in(sent(event_of(news, limit=WHOLE)))) == exact(news)


@pytest.mark.parametrize("kind", READ)
@examples(60)
@given(seed=SEEDS)
def test_an_outcome_and_what_was_read_arrive_to_the_letter(kind: type[Ask], seed: int) -> None:
    draw = Random(seed)
    asked, outcome, read = maker(kind)(draw), maker(Outcome)(draw), maker(READ[kind])(draw)
    rpc, _ = request_of(asked)
    response = sent(response_of(rpc, outcome, 7, read))
    assert exact(outcome_in(response)) == exact(outcome)
    assert exact(read_in(response, asked)) == exact(read)
    assert response.seq == 7


@examples(60)
@given(SEEDS)
def test_all_there_is_arrives_to_the_letter(seed: int) -> None:
    snapshot = maker(Snapshot)(Random(seed))
    waits = [one for one in (*snapshot.waiting, *snapshot.ended) if one.state == "waiting"]
    over = [one for one in (*snapshot.waiting, *snapshot.ended) if one.state != "waiting"]
    snapshot = replace(snapshot, waiting=tuple(waits), ended=tuple(over), me=None)
    first, *rest = map(sent, events_of(snapshot, WHOLE))
    there = snapshot_of(first.state, [news for one in rest if (news := news_in(one))])
    assert exact(there) == exact(snapshot)


def test_every_kind_of_command_and_of_news_has_its_place() -> None:
    carried = {kind for one in CALLS.values() for kind in (get_args(one) or (one,))}
    assert carried == set(EVERY)
    assert set(NEWS) == SHARED == set(TOLD)
    assert set(TOLD) | ALONE == set(get_args(News))
    assert set(READ) == {kind for kind in EVERY if issubclass(kind, Ask)}


def test_a_long_input_is_left_out_and_is_the_same_when_it_is_asked_for() -> None:
    told = {"tool_input": {"command": "x" * 100_000}}
    event = Event("claude", "PreToolUse", tool=ToolCall("Bash", told["tool_input"]), fields=told)
    card = Card(1, (Leg("a", event, 5.0),), 1.0)
    brief = event_of(card).card
    assert brief.ByteSize() < 1_000
    assert brief.requests[0].payload_sha256 == Inputs().sha256(card.requests[0])
    whole = to_value(sent(card_message(card, Inputs())), Card)
    assert exact(whole) == exact(replace(card, requests=whole.requests))
    assert exact(whole.event.fields) == exact(told)
    assert whole.event.tool is not None
    assert whole.event.tool.input is whole.event.fields["tool_input"]  # and has it once


@pytest.mark.parametrize("part", BOUNDED["Because"])
def test_what_is_only_shown_is_cut_where_it_is_read(part: str) -> None:
    """A hostile server's words are shown on each card, each time that it is drawn."""
    brought = replace(Because(Brought.RULE, "w", "n", "o"), **{part: "x" * 100_000})
    card = Card(1, (Leg("a", Event("claude", "PreToolUse"), 5.0),), 1.0, reason=brought)
    read = to_value(sent(card_message(card, Inputs())), Card).reason
    assert getattr(read, part) == "x" * BOUNDED["Because"][part]


RULE = Because(Brought.RULE, "a rule", "Bash", "look", "rules.toml, line 3")
HOOK = Because(Brought.HOOK, "its hook asks")


@pytest.mark.parametrize(
    ("reason", "law", "came"), [(RULE, RULE.full, ""), (HOOK, "", HOOK.words), (NO_REASON, "", "")]
)
def test_an_older_desk_reads_a_reason_in_full(reason: Because, law: str, came: str) -> None:
    card = Card(1, (Leg("a", Event("claude", "PreToolUse"), 5.0),), 1.0, reason=reason)
    message = sent(card_message(card, Inputs()))
    assert (message.law, message.came) == (law.encode(), came.encode())
    assert to_value(message, Card).reason == reason


@pytest.mark.parametrize("part", ["law", "came"])
def test_an_older_server_tells_a_reason_in_words_alone(part: str) -> None:
    card = Card(1, (Leg("a", Event("claude", "PreToolUse"), 5.0),), 1.0)
    message = card_message(card, Inputs())
    setattr(message, part, b"it says so")
    assert to_value(sent(message), Card).reason == Because(None, "it says so")


ALLOW = Decision(Verdict.ALLOW)
SPOILT = [
    pytest.param(pb.DecideRequest(number=1), "Decide", id="no verdict"),
    pytest.param(
        pb.DecideRequest(decision=pb.Decision(verdict=99)),  # type: ignore[arg-type]
        "Decide",
        id="a verdict of a later version",
    ),
    pytest.param(
        pb.DecideRequest(decision=pb.Decision(verdict=pb.VERDICT_DENY, reason=b"\xff")),
        "Decide",
        id="text that is no text",
    ),
    pytest.param(
        pb.DecideRequest(decision=pb.Decision(verdict=pb.VERDICT_ALLOW, updated_input_json=b"[1]")),
        "Decide",
        id="an input that is no object",
    ),
    pytest.param(
        pb.DecideRequest(decision=pb.Decision(verdict=pb.VERDICT_ALLOW, output_json=b"[" * 5_000)),
        "Decide",
        id="JSON without end",
    ),
    pytest.param(
        pb.RememberRequest(
            decision=pb.Decision(verdict=pb.VERDICT_ALLOW),
            taken=pb.TakenOffer(expires="tomorrow"),
        ),
        "Remember",
        id="no date",
    ),
    pytest.param(pb.AdjustRequest(), "Adjust", id="nothing to adjust"),
    pytest.param(pb.GiveOrderRequest(), "GiveOrder", id="no kind of order"),
]


@pytest.mark.parametrize(("request_", "rpc"), SPOILT)
def test_what_is_no_command_is_refused_in_words(request_: Any, rpc: str) -> None:
    with pytest.raises(WireError, match=r"cannot be read|not known|nothing that|not an object"):
        command_in(rpc, sent(request_))


def spoilt(message: Any, draw: Random) -> Any:
    """A message some of whose bytes were changed, left out or put in; None where it is none."""
    data = bytearray(message.SerializeToString())
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(data) + 1)
        data[at : at + draw.randrange(3)] = draw.randbytes(draw.randrange(3))
    try:
        return type(message).FromString(bytes(data))
    except DecodeError:
        return None


@examples(400)
@given(SEEDS)
def test_whatever_bytes_come_they_are_a_value_or_refused_in_words(seed: int) -> None:
    draw = Random(seed)
    rpc, request = request_of(maker(draw.choice(EVERY))(draw))
    event = event_of(maker(draw.choice(TOLD))(draw), limit=WHOLE)
    with suppress(WireError):
        if (other := spoilt(request, draw)) is not None:
            request_of(command_in(rpc, other))  # what was taken in can be sent on
    with suppress(WireError):
        if (changed := spoilt(event, draw)) is not None and (news := news_in(changed)) is not None:
            event_of(news, limit=WHOLE)


@pytest.mark.parametrize("seconds", [float("inf"), -1e308, float("nan"), 1.1e10])
def test_what_is_no_time_is_refused_in_words(seconds: float) -> None:
    with pytest.raises(WireError, match="is no time"):
        command_in("Adjust", pb.AdjustRequest(extend=pb.Extend(seconds=seconds)))
    with pytest.raises(WireError, match="is no time"):
        news_in(pb.WatchEvent(feed=pb.FeedEntry(at=seconds)))


def test_what_a_later_version_adds_is_ignored_where_nothing_depends_on_it() -> None:
    _, request = request_of(Decide(1, 2, ALLOW, id="x"))
    with_more = type(request).FromString(request.SerializeToString() + b"\xfa\x7f\x01x")
    assert command_in("Decide", with_more) == Decide(1, 2, ALLOW, id="x")
    assert news_in(pb.WatchEvent()) is None


def test_what_no_message_can_carry_is_refused_in_words() -> None:
    with pytest.raises(WireError, match="Decide cannot be sent"):
        request_of(Decide(-1, 0, ALLOW))
    with pytest.raises(WireError, match="no call carries Command"):
        request_of(Command())
    with pytest.raises(WireError, match="no event tells Settled"):
        event_of(updates.Settled("x", TooLate("")))


class Counted(dict[str, Any]):
    """An input that knows how often it was made into JSON."""

    times = 0

    def items(self) -> Any:
        self.times += 1
        return super().items()


async def test_a_long_input_is_made_into_json_once_for_all_desks_and_all_versions() -> None:
    told = Counted(message="x" * 200_000)
    leg = Leg("a", Event("claude", "Notification", fields=told), 5.0, size=200_000)
    card, inputs = Card(1, (leg,), 1.0), Inputs()
    await inputs.prepare(card)
    for revision in range(1, 4):
        shown = event_of(replace(card, revision=revision), inputs=inputs).card
        assert not shown.requests[0].event.HasField("fields_json")
        whole = card_message(card, inputs)
        assert to_value(sent(whole), Card).event.fields == told
    assert told.times == 1


def test_of_long_inputs_as_json_no_more_is_kept_than_there_is_room_for() -> None:
    inputs = Inputs()
    for number in range(4):
        told = {"message": "x" * (LONG_BYTES // 3)}
        leg = Leg(f"{number}", Event("claude", "Stop", fields=told), 5.0, size=LONG_BYTES // 3)
        assert len(inputs.json(leg)) > LONG_BYTES // 3
    assert sum(len(one) for _, one in inputs._long.values()) <= LONG_BYTES


def test_a_card_with_all_that_a_session_lets_wait_is_not_too_long_for_a_desk() -> None:
    for letters in ("\x7f", "\u00e9", "\u65e5", "\U0001f600", "x"):
        sent = json_of({"a": letters * 1000})
        assert len(sent) <= 6 * len(letters.encode()) * 1000 + 10
    assert 6 * LIMITS.session_size < CARD_AT_MOST


def test_an_older_desk_is_not_sent_the_orders_whose_kind_it_cannot_read() -> None:
    event = Event("claude", "PermissionDenied", "s", tool=ToolCall("Bash", {"command": "ls"}))
    orders = (Order.letting_run(event, 9.0, 1), Order(OrderKind.HOLD_ALL, session="s"))
    standing = tuple(Standing.of(order, place, OWNER) for place, order in enumerate(orders, 1))
    message = sent(event_of(OrdersChanged(standing)))
    assert [order.kind for order in message.orders.orders] == [pb.ORDER_KIND_HOLD_ALL]
    assert news_in(message) == OrdersChanged(standing)
