"""Who speaks no HTTP is told so, and neither what they said nor what we are made of."""

import pytest

from crabhook.model.decision import Decision, Verdict
from tests.support.seat import seat
from tests.unit.server.http.standing import standing, until


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"GET /<script> FOO\r\n\r\n", id="no HTTP"),
        pytest.param(b"GET / HTTP/1.1\r\nX: \x01<script>\r\n\r\n", id="no header"),
        pytest.param(b"GET / HTTP/1.1\r\nX: " + b"<script>" * 300 + b"\r\n\r\n", id="too long"),
        pytest.param(b"GET / HTTP/1.1\r\n" + b"X: <script>\r\n" * 33 + b"\r\n", id="too many"),
        pytest.param(b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03<script>", id="TLS"),
    ],
)
async def test_what_is_no_http_is_answered_in_our_own_words(sent: bytes) -> None:
    async with standing() as http:
        client = await http.connect()
        client.writer.write(sent)
        said = await client.reader.read()
        assert b" 400 Bad Request\r\nServer: crabhook\r\n" in said
        assert said.endswith(b"\r\n\r\ncrabhook: this is no HTTP, or its head is too long\n")
        assert b"script" not in said
        assert b"aiohttp" not in said


async def test_what_comes_behind_a_hook_that_waits_takes_nothing_from_its_answer() -> None:
    async with standing() as http:
        client = await http.connect()
        client.send()
        await until(http.runner.broker.waiting)
        client.writer.write(b"this is no HTTP\r\n\r\n")
        seat(http.runner).answer(1, Decision(Verdict.DENY, reason="no"))
        status, body = await client.answer()
        assert (status, b"deny" in body) == (200, True)
        assert (await client.answer())[0] == 400
        assert await client.reader.read() == b""
