"""A hook's place: it hears once, leaves once, and a server that makes room loses nobody."""

import asyncio
from typing import Any

import pytest

from crabhook.broker.messages import Refusal
from crabhook.model.card import Request, State
from crabhook.model.decision import SILENCE
from crabhook.server.core.pending_call import PendingCall, RefusedError
from tests.support.playbook import asking
from tests.support.runners import bare_runner

LS: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}


def request(ticket: str = "a") -> Request:
    now = asyncio.get_running_loop().time()
    return asking(ticket, "PreToolUse", wait=now + 60, **LS)


async def test_whoever_is_cancelled_has_left() -> None:
    left: list[tuple[str, int]] = []
    place = PendingCall(lambda *who: left.append(who), request(), 3)
    waiting = asyncio.ensure_future(place.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert left == [("a", 3)]


async def test_the_first_word_counts() -> None:
    place = PendingCall(lambda *_: None, request(), 1)
    place.take(SILENCE, confirm=False)
    place.refuse(Refusal.SUPERSEDED)
    assert await place.wait() is SILENCE
    other = PendingCall(lambda *_: None, request(), 1)
    other.refuse(Refusal.SUPERSEDED)
    other.take(SILENCE, confirm=False)
    with pytest.raises(RefusedError, match="came back"):
        await other.wait()


async def test_a_server_that_makes_room_refuses_its_hooks_and_takes_none_to_have_left() -> None:
    runner = bare_runner()
    place = runner.enter(request(), None)
    waiting = asyncio.ensure_future(place.wait())
    await asyncio.sleep(0)
    runner.hand_over()
    with pytest.raises(RefusedError) as refused:
        await waiting
    place.leave()
    assert refused.value.refusal is Refusal.HANDED_OVER
    (card,) = runner.broker.waiting()
    assert card.state is State.WAITING


async def test_who_comes_while_it_makes_room_is_sent_to_the_next() -> None:
    runner = bare_runner()
    runner.hand_over()
    with pytest.raises(RefusedError) as refused:
        runner.enter(request(), None)
    assert refused.value.refusal is Refusal.HANDED_OVER
    assert not runner.broker.waiting()
