"""A body is read whole, or refused; a slow one ends."""

import pytest

from crabhook.server.http import bodies, listener
from tests.unit.server.http.standing import TOKEN, standing, until


@pytest.mark.slow
async def test_a_body_that_does_not_come_ends_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bodies, "READ_WITHIN", 0.1)
    async with standing() as http:
        client = await http.connect()
        client.send(Content_Length="100000")
        status, body = await client.answer()
        assert status == 408
        assert b"did not come within" in body
        assert await client.reader.read() == b""
        await client.close()
    assert not http.runner.broker.ended()


async def test_a_body_that_breaks_off_is_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    async with standing() as http:
        client = await http.connect()
        client.send(Content_Length=None, Transfer_Encoding="chunked")
        client.writer.write(b"this is no chunk\r\n")
        status, _ = await client.answer()
        assert status == 400
        await client.close()
    assert not http.runner.broker.ended()


async def test_a_bound_that_is_met_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "MAX_REQUEST", 30)
    async with standing() as http:
        for fields, status in (({"hook_event_name": "Stop"}, 200), ({"x": "y" * 30}, 413)):
            client = await http.connect()
            client.send(fields)
            assert (await client.answer())[0] == status
            await client.close()


async def test_who_speaks_an_older_http_is_not_told_to_go_on() -> None:
    async with standing() as http:
        client = await http.connect()
        body = b'{"hook_event_name": "Stop"}'
        head = f"POST /hooks/claude HTTP/1.0\r\nHost: {http.where.address}\r\n"
        head += f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
        client.writer.write(head.encode() + body)
        assert (await client.reader.read()).startswith(b"HTTP/1.0 200 ")


@pytest.mark.parametrize(("token", "machine"), [(TOKEN, ""), ("a-machines-own", "build1")])
async def test_a_card_knows_the_machine_whose_own_token_was_shown(token: str, machine: str) -> None:
    async with standing() as http:
        client = await http.connect()
        client.send(Authorization=f"Bearer {token}")
        await until(http.runner.broker.waiting)
        (card,) = http.runner.broker.waiting()
        assert card.requests[0].origin.machine == machine
        await client.close()
