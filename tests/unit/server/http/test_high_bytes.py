"""Bytes above 0x7f anywhere in a request end nothing at the HTTP door, and bring no call in."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING

import pytest

from crabhook.server.http.listener import Page
from tests.unit.server.http.standing import CALL, TOKEN, Standing, standing

if TYPE_CHECKING:
    from collections.abc import Iterator

WITHIN = 60.0  # seconds for the answer to a whole request
HIGH = [
    b"\xff", b"\x80", b"\xc3\xa9", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80",
    bytes(range(0x80, 0x100)),
]  # fmt: skip
PATHS = [b"/hooks/claude", b"/healthz", b"/metrics", b"/"]
HEADERS = [
    b"Host", b"Authorization", b"Content-Type", b"Content-Length", b"Content-Encoding", b"Expect",
    b"Transfer-Encoding", b"Connection", b"Upgrade", b"Origin", b"Sec-Fetch-Site", b"Cookie",
    b"X-Crabhook-Stance", b"X-Crabhook-Wait", b"X-Other", b"User-Agent", b"Accept-Encoding",
]  # fmt: skip
IGNORED = {
    b"Cookie", b"X-Other", b"User-Agent", b"Accept-Encoding", b"Connection", b"Expect", b"Upgrade",
}  # fmt: skip
"""What the door reads of no hook, so that a hook with it is let in."""
STOP = json.dumps(CALL | {"hook_event_name": "Stop"}).encode()


def request(place: str, path: bytes, changes: dict[bytes, bytes], method: bytes = b"") -> bytes:
    """A whole request for this path, some of its headers changed."""
    headers = {b"Host": place.encode(), b"Authorization": f"Bearer {TOKEN}".encode()}
    body = STOP if path.startswith(PATHS[0]) else b""
    if body:
        headers |= {b"Content-Type": b"application/json", b"Content-Length": b"%d" % len(body)}
    head = b"".join(b"%b: %b\r\n" % header for header in (headers | changes).items())
    way = method or (b"POST" if body else b"GET")
    return b"%b %b HTTP/1.1\r\n%b\r\n%b" % (way, path, head, body)


def requests(place: str, high: bytes) -> Iterator[tuple[bytes, bool]]:
    """Each request with these bytes in one place, and whether it may be let in."""
    for path in PATHS:
        own = path != PATHS[0]  # whoever asks for a page may send what they like
        for wrong in (path + high, path + b"/" + high, path + b"?" + high, b"/" + high + path):
            yield request(place, wrong, {}), own
        yield request(place, path, {}, b"P" + high), False
        yield request(place, path, {b"X-" + high: b"x"}), False
        for header, value in product(HEADERS, (high, b"1" + high)):
            yield request(place, path, {header: value}), own or header in IGNORED
    yield high + request(place, PATHS[0], {}), False
    yield request(place, PATHS[0], {}).replace(b"HTTP/1.1", b"HTTP/1.1" + high), False


async def status_of(door: Standing, sent: bytes) -> int:
    """Send a request; return the status of its answer, 0 where the connection just ended."""
    client = await door.connect()
    client.writer.write(sent)
    line = b""
    with suppress(ConnectionError):
        async with asyncio.timeout(WITHIN):
            line = await client.reader.readline()
    await client.close()
    door.clients.remove(client)
    return int(line.split()[1]) if line else 0


@pytest.mark.parametrize("high", HIGH, ids=lambda high: high[:6].hex())
async def test_no_byte_above_ascii_ends_the_door_or_lets_a_hook_in_that_may_not(
    high: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with standing(Page(lambda: b"numbers", "text/plain")) as door:
        place = str(door.where.address)
        for sent, let_in in requests(place, high):
            status = await status_of(door, sent)
            assert status < 500, sent
            assert let_in or status >= 400 or not status, sent
        for path in (b"/healthz", b"/metrics", PATHS[0]):
            assert await status_of(door, request(place, path, {})) == 200
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert not [record for record in caplog.records if record.exc_info]
