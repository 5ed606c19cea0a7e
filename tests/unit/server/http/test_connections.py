"""Connections: strangers have a moment, friends an hour, and the silent are found out."""

import asyncio
import resource
import socket
from pathlib import Path

import pytest

from crabhook.server.http import connections
from tests.unit.server.http.standing import Standing, standing, until


async def test_a_stranger_who_says_nothing_is_let_go_and_a_friend_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "KNOWN_WITHIN", 1.0)
    monkeypatch.setattr(connections, "GONE_AFTER", 0.2)
    async with standing() as http:
        friend, stranger = await http.connect(), await http.connect()
        friend.send({"hook_event_name": "Stop"})
        assert (await friend.answer())[0] == 200
        stranger.writer.write(b"POST /hooks/claude HTTP/1.1\r\nHost:")
        assert await stranger.reader.read() == b""
        friend.send({"hook_event_name": "Stop"})
        assert (await friend.answer())[0] == 200
        await friend.close()
        await stranger.close()


async def test_where_strangers_crowd_the_oldest_that_is_overdue_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "MOST_STRANGERS", 2)
    monkeypatch.setattr(connections, "KNOWN_WITHIN", 0.1)
    async with standing() as http:
        friend, *overdue = [await http.connect() for _ in range(3)]
        friend.send({"hook_event_name": "Stop"})
        assert (await friend.answer())[0] == 200
        await asyncio.sleep(0.3)
        new = await http.connect()
        assert await overdue[0].reader.read() == b""
        for client in (friend, overdue[1], new):
            client.send({"hook_event_name": "Stop"})
            assert (await client.answer())[0] == 200


async def test_those_who_come_at_once_are_no_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_STRANGERS", 2)
    async with standing() as http:
        crowd = await asyncio.gather(*(http.connect() for _ in range(100)))
        for client in crowd:
            client.send({"hook_event_name": "Stop"})
        assert [(await client.answer())[0] for client in crowd] == [200] * 100


async def test_past_the_bound_nobody_more_is_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST", 1)
    async with standing() as http:
        first = await http.connect()
        for _ in range(2):
            first.send({"hook_event_name": "Stop"})
            assert (await first.answer())[0] == 200
            second = await http.connect()
            assert await second.reader.read() == b""
            await second.close()
        await first.close()
        await until(lambda: not _open(http))
        third = await http.connect()
        third.send({"hook_event_name": "Stop"})
        assert (await third.answer())[0] == 200
        await third.close()


async def test_past_the_bound_the_silent_give_way_to_those_who_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "MOST", 8)
    async with standing() as http:
        friend = await http.connect()
        friend.send()
        await until(http.runner.broker.waiting)
        silent = [await http.connect() for _ in range(20)]
        hook = await http.connect()
        hook.send({"hook_event_name": "Stop"})
        assert (await hook.answer())[0] == 200
        assert [await client.reader.read() for client in silent[:14]] == [b""] * 14
        assert http.runner.broker.waiting(), "whoever has shown the token stays"


def test_there_is_room_for_no_more_than_the_system_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, most in (
        (1024, 768),
        (10**6, connections.MOST),
        (resource.RLIM_INFINITY, connections.MOST),
    ):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        assert connections.room() == most


async def test_what_a_stranger_makes_us_keep_has_a_bound() -> None:
    async with standing() as http:
        for field in (b"X: " + b"a" * 2100, b"\r\n".join(b"X-%d: a" % n for n in range(40))):
            client = await http.connect()
            client.writer.write(b"POST /hooks/claude HTTP/1.1\r\n" + field + b"\r\n")
            assert b" 400 " in await client.reader.read()


def _open(http: Standing) -> bool:
    """Whether the server has any connection, as the system tells."""
    local = f"{http.where.address.port:04X}"
    table = Path("/proc/net/tcp").read_text(encoding="ascii")
    rows = [row.split() for row in table.splitlines()[1:]]
    return any(row[1].endswith(f":{local}") and row[3] in ("01", "08") for row in rows)


async def test_who_goes_on_sending_behind_a_request_that_waits_is_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "LOOK_EVERY", 0.05)
    async with standing() as http:
        client = await http.connect()
        client.send()
        await until(http.runner.broker.waiting)
        client.writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
        for _ in range(100):
            client.writer.write(b"x" * 10_000)
        await until(lambda: not http.runner.broker.waiting())
        await client.close()


async def test_a_small_request_behind_one_that_waits_is_no_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "LOOK_EVERY", 0.02)
    async with standing() as http:
        client = await http.connect()
        client.send()
        client.send({"hook_event_name": "Stop"})
        await until(http.runner.broker.waiting)
        await asyncio.sleep(0.2)  # ten looks
        assert http.runner.broker.waiting()
        await client.close()


def test_a_machine_that_went_silent_is_noticed_within_a_minute() -> None:
    with socket.socket() as line:
        connections.notice_silence(line)
        assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)

        def of(name: str) -> int:
            return line.getsockopt(socket.IPPROTO_TCP, getattr(socket, name))

        idle = "TCP_KEEPIDLE" if hasattr(socket, "TCP_KEEPIDLE") else "TCP_KEEPALIVE"
        assert of(idle) + of("TCP_KEEPINTVL") * of("TCP_KEEPCNT") <= 60
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            assert 0 < of("TCP_USER_TIMEOUT") <= 60_000


def test_a_connection_without_a_socket_is_left_alone() -> None:
    connections.notice_silence(None)
