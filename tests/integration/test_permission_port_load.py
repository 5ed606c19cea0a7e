"""Many hooks at once."""

import asyncio

import pytest

from crabhook.model.decision import Decision, Verdict
from crabhook.v1 import permission_pb2 as pb
from tests.support.port import BASH, Opened, new_call, opened, path_of, request
from tests.support.seat import seat


@pytest.mark.parametrize(
    ("many", "sessions"),
    [(300, 3), *(pytest.param(2000, number, marks=pytest.mark.thorough) for number in (2000, 20))],
)
async def test_many_on_connections_of_their_own_are_all_held_and_all_answered(
    many: int, sessions: int
) -> None:
    async with opened() as port:
        turns = asyncio.Semaphore(64)
        hooks = [
            asyncio.ensure_future(one_hook(port, number % sessions, number, turns))
            for number in range(many)
        ]
        cards, operator = await port.waiting(many), seat(port.runner)
        for card in cards:
            reason = card.event.text("tool_use_id")
            operator.answer(card.number, Decision(Verdict.DENY, reason=reason))
        heard = await asyncio.gather(*hooks)
    assert heard == [f"t{number}" for number in range(many)]


async def one_hook(port: Opened, session: int, number: int, turns: asyncio.Semaphore) -> str:
    """Ask over a connection of its own as crabhook's client does; return the reason heard."""
    call = new_call(request({**BASH, "session_id": f"s{session}", "tool_use_id": f"t{number}"}))
    async with turns:
        reader, writer = await asyncio.open_unix_connection(str(path_of(port)))
        writer.write(call.take())
        while not call.accepted:
            call.feed(await read(reader))
            writer.write(call.take())
    while call.status is None:
        call.feed(await read(reader))
        writer.write(call.take())
    writer.close()
    return pb.PermissionResponse.FromString(call.message).permission_decision_reason


async def read(reader: asyncio.StreamReader) -> bytes:
    """Return what came; a connection that ended is an error, not an empty read for ever."""
    if data := await reader.read(1 << 16):
        return data
    raise ConnectionResetError
