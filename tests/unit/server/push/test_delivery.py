"""Messages on their way to a push service, and what each answer means."""

import asyncio
import json
from contextlib import suppress
from time import time

import pytest
from aiohttp import web

from crabhook.proxies import proxy_for
from crabhook.server.push import delivery
from crabhook.server.push.delivery import (
    Carrier,
    Fate,
    PushMessage,
    ServiceAnswer,
    Urgency,
    answer_of,
)
from crabhook.server.push.endpoints import Services
from crabhook.server.push.sealing import BrowserKeys
from crabhook.server.push.server_key import ServerKey
from tests.support.push_service import Browser, PushService, push_service

MESSAGE = PushMessage(
    json.dumps({"notification": {"title": "x"}}).encode(), 60, Urgency.HIGH, "waits"
)


@pytest.fixture
def key(tmp_path_factory: pytest.TempPathFactory) -> ServerKey:
    return ServerKey.in_file(tmp_path_factory.mktemp("push") / "key.pem")


async def brought(key: ServerKey, service: PushService, browser: Browser) -> ServiceAnswer:
    endpoint = Services([service.address]).endpoint(browser.endpoint)
    keys, shows = BrowserKeys(browser.point, browser.secret), key.header(endpoint.origin, time())
    async with Carrier.opened() as carrier:
        return await carrier.bring(MESSAGE, endpoint, keys, shows)


async def test_a_message_comes_sealed_with_its_headers_and_token(key: ServerKey) -> None:
    async with push_service() as service:
        browser = service.browser()
        assert await brought(key, service, browser) == ServiceAnswer(Fate.ACCEPTED)
    (sent,) = browser.messages
    assert sent.notification == {"title": "x"}
    wanted = {"TTL": "60", "Urgency": "high", "Topic": "waits", "Content-Encoding": "aes128gcm"}
    assert wanted.items() <= sent.headers.items()
    assert "Cookie" not in sent.headers


async def test_a_browser_that_unsubscribed_is_gone(key: ServerKey) -> None:
    async with push_service() as service:
        gone = Browser(f"{service.origin}/wpush/v2/other")
        answer = await brought(key, service, gone)
    assert answer.fate is Fate.GONE
    assert "410" in answer.why


async def test_a_redirect_is_not_followed(key: ServerKey) -> None:
    async with push_service() as service, push_service() as other:
        browser = service.browser()
        for status in (301, 302, 303, 307, 308):
            service.answers.append((status, {"Location": other.browser().endpoint}))
            assert (await brought(key, service, browser)).fate is Fate.REFUSED
        assert not browser.messages
        assert not any(each.messages for each in other.browsers.values())


@pytest.mark.parametrize(
    ("status", "retry_after", "fate", "again"),
    [
        (200, "", Fate.ACCEPTED, 0),
        (201, "", Fate.ACCEPTED, 0),
        (202, "", Fate.ACCEPTED, 0),
        (204, "", Fate.ACCEPTED, 0),
        (404, "", Fate.GONE, 0),
        (410, "", Fate.GONE, 0),
        (400, "", Fate.REFUSED, 0),
        (401, "", Fate.REFUSED, 0),
        (403, "", Fate.REFUSED, 0),
        (413, "", Fate.REFUSED, 0),
        (408, "", Fate.LATER, 0),
        (429, "7", Fate.LATER, 7),
        (429, "", Fate.LATER, 0),
        (429, "0", Fate.LATER, 1),
        (429, "9" * 400, Fate.LATER, 3600),
        (429, "²", Fate.LATER, 0),
        (429, "-5", Fate.LATER, 0),
        (429, "Sun, 29 Nov 2026 09:00:00 GMT", Fate.LATER, 0),
        (500, "120", Fate.LATER, 120),
        (503, "", Fate.LATER, 0),
    ],
)
def test_each_answer_has_its_meaning(
    status: int, retry_after: str, fate: Fate, again: float
) -> None:
    answer = answer_of(status, retry_after, "in its\nown words")
    assert (answer.fate, answer.again) == (fate, again)
    assert (str(status) in answer.why) == (fate is not Fate.ACCEPTED)
    assert "\n" not in answer.why


async def test_a_service_that_is_silent_is_tried_later(
    key: ServerKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(_: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    monkeypatch.setattr(delivery, "WITHIN", 0.2)
    async with push_service(silent) as service:
        answer = await brought(key, service, service.browser())
    assert answer.fate is Fate.LATER


async def test_a_service_that_is_not_there_is_tried_later(key: ServerKey) -> None:
    async with push_service() as service:
        browser = service.browser()
    answer = await brought(key, service, browser)
    assert answer.fate is Fate.LATER
    assert answer.why


async def test_a_long_answer_is_not_read_to_its_end(key: ServerKey) -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        reply = web.StreamResponse(status=400)
        await reply.prepare(request)
        with suppress(ConnectionError):
            while True:
                await reply.write(b"x" * 65536)
        return reply

    async with push_service(endless) as service:
        answer = await brought(key, service, service.browser())
    assert answer.fate is Fate.REFUSED
    assert len(answer.why) < 200


async def test_the_service_itself_reads_nothing_of_the_message(key: ServerKey) -> None:
    heard = bytearray()

    async def hear(request: web.Request) -> web.Response:
        heard.extend(repr(request.raw_headers).encode() + await request.read())
        return web.Response(status=201)

    async with push_service(hear) as service:
        assert (await brought(key, service, service.browser())).fate is Fate.ACCEPTED
    assert b"aes128gcm" in heard
    assert b"title" not in heard


@pytest.mark.parametrize(
    ("url", "without", "used"),
    [
        ("https://fcm.googleapis.com/fcm/send/x", "", True),
        ("https://fcm.googleapis.com/fcm/send/x", "googleapis.com", False),
        ("https://web.push.apple.com/x", "*", False),
        ("http://127.0.0.1:8030/x", "", False),
    ],
)
def test_the_proxy_of_the_environment_is_for_what_has_tls(
    monkeypatch: pytest.MonkeyPatch, url: str, without: str, used: bool
) -> None:
    for name in ("https_proxy", "HTTP_PROXY", "ALL_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("HTTP_PROXY", "http://other.example:1")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:8080")
    monkeypatch.delenv("https_proxy")
    monkeypatch.delenv("no_proxy")
    monkeypatch.setenv("NO_PROXY", without)
    assert proxy_for(url) == ("http://proxy.example:8080" if used else None)


async def test_a_proxy_is_asked_for_a_tunnel_and_gets_nothing_of_the_message(
    key: ServerKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[bytes]()

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        asked.append(await reader.read(16))  # TLS begins: its first record
        writer.close()

    async with await asyncio.start_server(proxy, "127.0.0.1", 0) as server, push_service() as push:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        for name in ("https_proxy", "no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        browser = push.browser()
        endpoint = Services().endpoint("https://fcm.googleapis.com/fcm/send/secret-of-the-browser")
        keys = BrowserKeys(browser.point, browser.secret)
        shows = key.header(endpoint.origin, time())
        async with Carrier.opened() as carrier:
            answer = await carrier.bring(MESSAGE, endpoint, keys, shows)
    assert answer.fate is Fate.LATER
    connect, record = asked
    assert connect.startswith(b"CONNECT fcm.googleapis.com:443 HTTP/1.1\r\n")
    assert b"secret-of-the-browser" not in connect
    assert b"vapid" not in connect
    assert record[:1] == b"\x16"  # a handshake
