"""Raw bytes at the real port: whatever a peer sends, the server goes on, and lets nothing through."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from crabhook.hook.call import HookCall
from crabhook.hook.wire import MalformedBytes, read_reply
from crabhook.model.decision import Decision, Verdict
from tests.fuzz import corpus
from tests.fuzz.mutation import frames, messages
from tests.fuzz.payloads import MUTATION
from tests.fuzz.targets import client_frames
from tests.support.port import SOON, Opened, ask, connected, new_call, opened, path_of, request
from tests.support.seat import seat

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
TALKS = [84, pytest.param(240, marks=pytest.mark.thorough)]
AT_ONCE = 12
A_WORD = 0.3  # seconds in which the port says what it has to say to one that then says no more

_VARY_FRAMES = frames.of(len(PREFACE), client_frames.SPARE)
_VARY_CALLS = messages.of(MUTATION)


def talks(chance: Random, count: int) -> list[bytes]:
    """Whole exchanges of a client's, varied as frames or inside their messages, and no exchanges."""
    kept = [data[3:] for data in (*client_frames.seeds(), *corpus.inputs_of("client_frames"))]
    made = []
    for number in range(count):
        asked = request()
        if number % 3 == 0:
            row = messages.joined([(messages.ASK, asked.SerializeToString())])
            _, message = messages.split(_VARY_CALLS(row, chance) or row)[0]
            made.append(_said(message))
        elif number % 3 == 1:
            talk = new_call(asked).take()
            for _ in range(chance.randint(1, 3)):
                talk = _VARY_FRAMES(talk, chance)
            made.append(talk)
        else:
            made.append(PREFACE * chance.randint(0, 1) + chance.choice(kept))
    return made


def _said(message: bytes) -> bytes:
    """What a client says whose message is not what a client would write."""
    call = new_call(request())
    call._body = memoryview(b"\0" + len(message).to_bytes(4, "big") + message)
    return call.take()


async def said_to(path: Path, talk: bytes) -> bytes:
    """Say it all, hear what comes within a moment, and hang up."""
    reader, writer = await asyncio.open_unix_connection(path)
    heard = b""
    with suppress(OSError, TimeoutError):
        writer.write(talk)
        await writer.drain()
        async with asyncio.timeout(A_WORD):
            while more := await reader.read(1 << 16):
                heard += more
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return heard


def answered(talk: bytes, heard: bytes) -> bytes:
    """What a client would print of what it heard, if it heard an answer at all."""
    call = HookCall(b"", b"")
    with suppress(MalformedBytes):
        call.feed(heard)
        if call.status == 0:
            return read_reply(call.message).stdout
    return b""


@pytest.mark.slow
@pytest.mark.parametrize("count", TALKS)
async def test_any_bytes_at_the_port_are_outlived_and_allow_nothing(count: int) -> None:
    chance = Random(20261122)
    made = talks(chance, count)
    async with opened() as port:
        path = path_of(port)
        for at in range(0, len(made), AT_ONCE):
            some = made[at : at + AT_ONCE]
            heard = await asyncio.gather(*(said_to(path, talk) for talk in some))
            for talk, back in zip(some, heard, strict=True):
                assert b"allow" not in answered(talk, back), talk
        await port.until(lambda: not port.runner.broker.waiting())
        assert len(port.news) > count // 4  # many of them were heard as requests
        await _still_serves(port)


async def _still_serves(port: Opened) -> None:
    """An ordinary hook is shown, and hears what is decided."""
    async with connected(port.bound[0]) as channel:
        asked = asyncio.ensure_future(ask(channel, request()))
        (card,) = await port.waiting()
        seat(port.runner).answer(card.number, Decision(Verdict.ALLOW))
        async with asyncio.timeout(SOON):
            assert (await asked).permission_decision == "allow"


async def test_a_peer_that_says_nothing_more_keeps_nobody_out() -> None:
    async with opened() as port:
        half = new_call(request()).take()
        held = [socket.socket(socket.AF_UNIX) for _ in range(20)]
        try:
            for place, one in enumerate(held):
                one.setblocking(False)
                await asyncio.get_running_loop().sock_connect(one, str(path_of(port)))
                one.send(half[: 1 + place * len(half) // (len(held) + 1)])
            await _still_serves(port)
        finally:
            for one in held:
                one.close()
