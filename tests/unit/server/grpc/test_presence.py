"""Who may say that the operator is here or away, and what becomes of it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from crabhook.broker.orders import MAX_ORDERS
from crabhook.model.card import State
from crabhook.model.order import Order, OrderKind, Standing
from crabhook.model.wording import AWAY
from crabhook.server.address import TcpAddress
from crabhook.server.grpc.presence import (
    LONGEST,
    LONGEST_AWAY,
    OWNER_ELSEWHERE,
    TRIES,
    Passphrase,
    keep,
)
from crabhook.ui.commands import words
from crabhook.v1 import desk_pb2 as pb
from tests.support.port import ask, asking, connected, request
from tests.support.presence import RIGHT, WRONG, Door, away, door, here, say
from tests.support.seat import seat

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LOOPBACK = TcpAddress("127.0.0.1", 0)
STATUS = grpc.StatusCode


async def refused(call: Any) -> tuple[grpc.StatusCode, str]:
    """Return the status a call is refused with, and its words."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    return error.value.code(), error.value.details() or ""


def stands(opened: Door) -> list[Standing]:
    return [order for order in opened.runner.broker.orders() if order.kind is OrderKind.AWAY]


async def test_here_without_an_order_changes_nothing_and_says_so() -> None:
    async with door(passphrase=None) as opened, connected(opened.bound[0]) as channel:
        said = await say(channel, here())
        assert (said.presence, said.changed) == (pb.PRESENCE_HERE, False)
        assert not opened.news


async def test_here_needs_no_passphrase_and_ends_being_away_alone() -> None:
    async with door() as opened, connected(opened.bound[0]) as channel:
        seat(opened.runner).order(Order(OrderKind.AWAY))
        seat(opened.runner).order(Order(OrderKind.HOLD, "Stop"))
        said = await say(channel, here())
        assert (said.presence, said.changed) == (pb.PRESENCE_HERE, True)
        assert [order.kind for order in opened.runner.broker.orders()] == [OrderKind.HOLD]
        assert opened.told()[-2:] == ["crabhook here (said in another terminal)", "ended: away"]
        async with asking(channel, request()):
            await opened.waiting()


async def test_away_with_the_passphrase_lets_go_of_what_waits_and_what_comes() -> None:
    async with door() as opened, connected(opened.bound[0]) as channel:
        first = asyncio.ensure_future(ask(channel, request({"hook_event_name": "PreToolUse"})))
        (card,) = await opened.waiting()
        said = await say(channel, away(RIGHT))
        assert (said.presence, said.changed, said.released) == (pb.PRESENCE_AWAY, True, 1)
        assert not said.HasField("seconds")
        assert not (await first).reply.stdout
        assert not (await ask(channel, request())).reply.stdout
        ended = opened.runner.broker.card(card.number)
        assert ended is not None
        assert (ended.state, ended.why) == (State.WITHDRAWN, AWAY)
        (order,) = stands(opened)
        assert (order.kind, order.by) == (OrderKind.AWAY, OWNER_ELSEWHERE)
        assert opened.told()[:2] == [
            "crabhook away: the right passphrase",
            "away (said in another terminal)",
        ]
        assert RIGHT not in repr(opened.news)


async def test_away_for_a_while_stands_that_long_and_replaces_another_end() -> None:
    async with door() as opened, connected(opened.bound[0]) as channel:
        seat(opened.runner).order(Order(OrderKind.AWAY))
        before = opened.runner.now()
        said = await say(channel, away(RIGHT, seconds=7200))
        (order,) = stands(opened)
        assert (said.changed, said.seconds) == (False, 7200)
        assert order.until is not None
        assert before + 7200 <= order.until <= opened.runner.now() + 7200


async def test_away_without_a_passphrase_hears_what_it_needs_and_is_no_attempt() -> None:
    async with door() as opened, connected(opened.bound[0]) as channel:
        for _ in range(TRIES + 1):
            code, _ = await refused(say(channel, away()))
            assert code is STATUS.UNAUTHENTICATED
        assert not opened.news
        assert (await say(channel, away(RIGHT))).changed


async def test_a_wrong_passphrase_changes_nothing_and_is_told_at_the_desk() -> None:
    async with (
        door() as opened,
        connected(opened.bound[0]) as channel,
        asking(channel, request()),
    ):
        await opened.waiting()
        code, words = await refused(say(channel, away(WRONG)))
        assert code is STATUS.UNAUTHENTICATED
        assert "wrong passphrase (1 in a row)" in words
        assert opened.told() == ["crabhook away: wrong passphrase (1 in a row)"]
        assert len(opened.runner.broker.waiting()) == 1
        assert not stands(opened)


async def test_after_five_wrong_ones_even_the_right_one_is_not_looked_at() -> None:
    async with door() as opened, connected(opened.bound[0]) as channel:
        for _ in range(TRIES):
            assert (await refused(say(channel, away(WRONG))))[0] is STATUS.UNAUTHENTICATED
        assert opened.told()[-1].endswith("none is looked at for 60 s")
        for typed in (RIGHT, "", WRONG):
            code, words = await refused(say(channel, away(typed)))
            assert code is STATUS.RESOURCE_EXHAUSTED
            assert "none is looked at for" in words
        assert not stands(opened)
        assert len([line for line in opened.told() if "refused unseen" in line]) == 1
        seat(opened.runner).order(Order(OrderKind.AWAY))  # the desk's own key is another matter
        assert (await say(channel, here())).changed


async def test_many_guesses_at_once_are_still_five() -> None:
    async with door() as opened, connected(opened.bound[0]) as channel:
        ends = await asyncio.gather(*(refused(say(channel, away(WRONG))) for _ in range(40)))
        codes = [code for code, _ in ends]
        assert codes.count(STATUS.UNAUTHENTICATED) == TRIES
        assert codes.count(STATUS.RESOURCE_EXHAUSTED) == 40 - TRIES


class Context:
    """What gRPC says of a call on the socket; ours to cancel, as it cancels one that hung up."""

    def peer(self) -> str:
        return "unix:"


@asynccontextmanager
async def looked_at(opened: Door, typed: str) -> AsyncIterator[asyncio.Future[Any]]:
    """A call whose passphrase is being looked at, which takes until the end of the context."""
    busy = threading.Event()
    with ThreadPoolExecutor(1) as only:
        asyncio.get_running_loop().set_default_executor(only)
        only.submit(busy.wait, 20)
        try:
            call: Any = opened.presence.SetPresence(away(typed), Context())  # type: ignore[arg-type]
            call = asyncio.ensure_future(call)
            for _ in range(5):  # turns of the loop, until the thread is asked
                await asyncio.sleep(0)
            assert opened.presence._turn.locked()
            yield call
        finally:
            busy.set()
        await opened.until(lambda: bool(opened.told()))


async def test_others_are_served_while_a_passphrase_is_looked_at() -> None:
    async with (
        door() as opened,
        connected(opened.bound[0]) as channel,
        looked_at(opened, RIGHT) as call,
    ):
        assert not (await say(channel, here())).changed
        assert not call.done()
    assert (await call).changed


async def test_a_guess_counts_though_its_client_hangs_up() -> None:
    async with door() as opened:
        async with looked_at(opened, WRONG) as call:
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
        assert opened.told() == ["crabhook away: wrong passphrase (1 in a row)"]
        assert opened.presence._lockout.wrong == 1


async def test_the_right_passphrase_of_a_client_that_hung_up_opens_nothing() -> None:
    async with door() as opened:
        async with looked_at(opened, RIGHT) as call:
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
        assert opened.told() == ["crabhook away: the right passphrase"]
        assert not stands(opened)


@pytest.mark.parametrize("said", [here(), away(), away(RIGHT)], ids=["here", "away", "right"])
@pytest.mark.parametrize("metadata", [None, (("authorization", "Bearer t0ken"),)])
async def test_over_tcp_nothing_is_said_even_with_the_token(
    said: pb.SetPresenceRequest, metadata: Any
) -> None:
    async with (
        door(LOOPBACK, token="t0ken") as opened,
        connected(opened.bound[0]) as channel,
    ):
        seat(opened.runner).order(Order(OrderKind.AWAY))
        news = list(opened.news)
        code, words = await refused(say(channel, said, metadata=metadata))
        assert code is STATUS.PERMISSION_DENIED
        assert "Unix socket" in words
        assert [order.kind for order in opened.runner.broker.orders()] == [OrderKind.AWAY]
        assert opened.news == news


async def test_a_passphrase_swapped_under_a_running_server_changes_nothing() -> None:
    async with door() as opened, connected(opened.bound[0]) as channel:
        keep(opened.kept, Passphrase.of(WRONG))
        assert (await refused(say(channel, away(WRONG))))[0] is STATUS.UNAUTHENTICATED
        opened.kept.unlink()
        assert (await say(channel, away(RIGHT))).changed


async def test_a_passphrase_set_under_a_server_that_had_none_opens_nothing() -> None:
    async with door(passphrase=None) as opened, connected(opened.bound[0]) as channel:
        keep(opened.kept, Passphrase.of(RIGHT))
        for typed in ("", RIGHT, RIGHT):
            code, words = await refused(say(channel, away(typed)))
            assert code is STATUS.FAILED_PRECONDITION
            assert "no passphrase was set when the server started" in words
            assert "crabhook passphrase" in words
        assert not stands(opened)
        assert len(opened.told()) == 1


async def test_a_passphrase_file_that_cannot_be_used_is_no_passphrase() -> None:
    async with door() as opened:
        opened.kept.chmod(0o644)
        presence = type(opened.presence)(opened.runner, opened.kept)
        refusal = await presence._look_at(RIGHT)
        assert refusal is not None
        assert refusal[0] is STATUS.FAILED_PRECONDITION
        assert f"chmod 600 {opened.kept}" in refusal[1]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (pb.SetPresenceRequest(passphrase=RIGHT), "neither here nor away"),
        (pb.SetPresenceRequest(presence=7, passphrase=RIGHT), "neither here nor away"),  # type: ignore[arg-type]
        (away(RIGHT, seconds=0), "seconds must be"),
        (away(RIGHT, seconds=LONGEST_AWAY + 1), "seconds must be"),
        (away("x" * (LONGEST + 1)), f"more than {LONGEST}"),
    ],
    ids=repr,
)
async def test_what_nobody_can_mean_is_refused_before_a_passphrase_is_looked_at(
    wrong: pb.SetPresenceRequest, words: str
) -> None:
    async with door() as opened, connected(opened.bound[0]) as channel:
        code, said = await refused(say(channel, wrong))
        assert code is STATUS.INVALID_ARGUMENT
        assert words in said
        assert not opened.news


async def test_an_order_the_broker_refuses_is_refused_in_its_words() -> None:
    async with door() as opened, connected(opened.bound[0]) as channel:
        for number in range(MAX_ORDERS):
            seat(opened.runner).order(Order(OrderKind.HOLD, "Stop", session=f"s{number}"))
        code, words = await refused(say(channel, away(RIGHT)))
        assert code is STATUS.FAILED_PRECONDITION
        assert f"{MAX_ORDERS} orders" in words


def test_nobody_is_away_longer_than_at_the_desk() -> None:
    assert LONGEST_AWAY == words.LONGEST


async def test_every_attempt_is_in_the_feed_that_a_screen_reads_when_it_likes() -> None:
    async with door() as opened, connected(opened.bound[0]) as channel:
        await refused(say(channel, away(WRONG)))
        await say(channel, away(RIGHT))
        assert [entry.text for entry in opened.runner.broker.feed()] == opened.told()
        assert opened.told() == [
            "crabhook away: wrong passphrase (1 in a row)",
            "crabhook away: the right passphrase",
            "away (said in another terminal)",
        ]
