"""What counts as taken: only what a receiver has read whole, by TCP, TLS and HTTP."""

import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from crabhook.server.export import receivers
from crabhook.server.export.receivers import (
    HttpReceiver,
    NotTakenError,
    RecordsRefusedError,
    SyslogReceiver,
)
from tests.support.receivers import (
    LOOPBACK,
    HttpSink,
    SyslogSink,
    certified,
    http_sink,
    swallowing,
    syslog_sink,
)

CONTENT = b"1 x" * 100_000


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receivers, "WITHIN", 5.0)


@pytest.mark.parametrize("secure", [False, True])
async def test_what_a_receiver_of_syslog_has_read_is_taken(secure: bool, tmp_path: Path) -> None:
    theirs, ca = certified(tmp_path)
    ours = ssl.create_default_context(cafile=ca)
    async with syslog_sink(SyslogSink(), theirs if secure else None) as sink:
        receiver = SyslogReceiver(LOOPBACK, sink.port, ours if secure else None)
        await receiver.send(CONTENT)
        await receiver.send(CONTENT)
        assert sink.streams == [CONTENT, CONTENT]


@pytest.mark.parametrize(
    ("manner", "secure"),
    # Over TLS the receiver's library answers the end by itself, so that it cannot hang there.
    [
        ("leaves", False),
        ("half", False),
        ("hangs", False),
        ("deaf", False),
        ("leaves", True),
        ("half", True),
    ],
)
async def test_what_a_receiver_of_syslog_has_not_read_whole_is_not_taken(
    manner: str, secure: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receivers, "WITHIN", 0.5 if manner in ("hangs", "deaf") else 5.0)
    theirs, ca = certified(tmp_path)
    ours = ssl.create_default_context(cafile=ca)
    async with syslog_sink(SyslogSink(manner), theirs if secure else None) as sink:
        with pytest.raises(NotTakenError):
            await SyslogReceiver(LOOPBACK, sink.port, ours if secure else None).send(CONTENT)


async def test_nobody_on_the_way_can_swallow_what_is_sent_over_tls(tmp_path: Path) -> None:
    theirs, ca = certified(tmp_path)
    ours = ssl.create_default_context(cafile=ca)
    async with syslog_sink(SyslogSink(), theirs) as sink, swallowing(sink.port, 2000) as port:
        with pytest.raises(NotTakenError, match="close_notify"):
            await SyslogReceiver(LOOPBACK, port, ours).send(CONTENT)


async def test_a_receiver_has_to_prove_its_name(tmp_path: Path) -> None:
    theirs, ca = certified(tmp_path, "other.example")
    ours = ssl.create_default_context(cafile=ca)
    async with syslog_sink(SyslogSink(), theirs) as sink:
        with pytest.raises(NotTakenError, match="certificate"):
            await SyslogReceiver(LOOPBACK, sink.port, ours).send(b"3 abc")
        with pytest.raises(NotTakenError, match="certificate"):
            await SyslogReceiver(LOOPBACK, sink.port, ssl.create_default_context()).send(b"3 abc")
        assert sink.streams == []


async def test_nobody_there_is_said(tmp_path: Path) -> None:
    async with syslog_sink(SyslogSink()) as sink:
        pass
    with pytest.raises(NotTakenError, match=r"refused|Connect"):
        await SyslogReceiver(LOOPBACK, sink.port).send(b"3 abc")
    with pytest.raises(NotTakenError):
        await by_http(f"http://{LOOPBACK}:{sink.port}/v1/traces").send(b"{}")


def by_http(url: str, context: ssl.SSLContext | None = None) -> HttpReceiver:
    return HttpReceiver(url, "application/json", context, lambda: {"Authorization": "Bearer t"})


async def test_an_answer_of_http_says_whether_it_is_taken() -> None:
    cases: list[tuple[int, str, type[Exception] | None]] = [
        (200, "{}", None),
        (202, "", None),
        (200, '{"partialSuccess": {}}', None),
        (200, '{"partialSuccess": {"rejectedSpans": "2"}}', RecordsRefusedError),
        (200, "[" * 99_999, None),
        (400, "no such field", RecordsRefusedError),
        (413, "", RecordsRefusedError),
        (301, "", NotTakenError),
        (401, "", NotTakenError),
        (404, "", NotTakenError),
        (429, "", NotTakenError),
        (503, "", NotTakenError),
    ]
    async with http_sink(HttpSink()) as sink:
        for status, text, error in cases:
            sink.answers.append((status, text, {}))
            if error is None:
                await by_http(sink.url).send(b"{}")
                continue
            with pytest.raises(error, match=f"it answered {status}"):
                await by_http(sink.url).send(b"{}")
        assert {headers["Authorization"] for headers in sink.headers} == {"Bearer t"}


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("retry_after", "again"),
    [
        ("7", 7.0),
        (format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True), 600.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("99999999", 600.0),
        ("soon", 0.0),
    ],
)
async def test_a_receiver_says_when_it_wants_to_be_tried_again(
    status: int, retry_after: str, again: float
) -> None:
    async with http_sink(HttpSink([(status, "", {"Retry-After": retry_after})])) as sink:
        with pytest.raises(NotTakenError) as error:
            await by_http(sink.url).send(b"{}")
        assert error.value.again == again


async def test_a_receiver_of_http_that_never_answers_has_not_taken_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(receivers, "WITHIN", 0.5)
    async with http_sink(HttpSink(silent=True)) as sink:
        with pytest.raises(NotTakenError, match="did not answer"):
            await by_http(sink.url).send(b"{}")


async def test_http_has_tls_too(tmp_path: Path) -> None:
    theirs, ca = certified(tmp_path)
    async with http_sink(HttpSink(), theirs) as sink:
        await by_http(sink.url, ssl.create_default_context(cafile=ca)).send(b"{}")
        with pytest.raises(NotTakenError, match=r"certificate|SSL"):
            await by_http(sink.url).send(b"{}")
        assert sink.bodies == [b"{}"]
