"""Whether the receiver of the export would take records, and who on the way could read them."""

import asyncio

from crabhook.doctor.checks.export import receives
from crabhook.doctor.finding import Status
from tests.support.receivers import HttpSink, SyslogSink, http_sink, syslog_sink
from tests.unit.doctor.home import Home, is_well


def wish(home: Home, *lines: str) -> None:
    home.write(home.config / "settings.toml", "\n".join(("[export]", *lines, "")))


async def test_a_receiver_that_would_take_records_is_well_and_is_sent_none(home: Home) -> None:
    async with syslog_sink(SyslogSink()) as syslog, http_sink(HttpSink()) as http:
        wish(home, f'to = "syslog://127.0.0.1:{syslog.port}"')
        assert is_well(await asyncio.to_thread(home.look_around, receives))
        wish(home, f'to = "{http.url}"')
        assert is_well(await asyncio.to_thread(home.look_around, receives))
    assert b"".join(syslog.streams) == b""
    assert http.spans == []


async def test_a_dead_receiver_is_a_fault_that_loses_nothing(home: Home) -> None:
    async with syslog_sink(SyslogSink()) as syslog:
        pass
    wish(home, f'to = "syslog://127.0.0.1:{syslog.port}"')
    finding = await asyncio.to_thread(home.look_around, receives)
    assert finding.status is Status.FAULT
    assert "Nothing is lost" in finding.means


def test_a_format_that_does_not_go_that_way_is_a_fault(home: Home) -> None:
    wish(home, 'to = "syslog://siem.example:514"', 'format = "otlp"')
    finding = home.look_around(receives)
    assert (finding.status, "does not start" in finding.means) == (Status.FAULT, True)


def test_without_an_export_there_is_nothing_to_look_at(home: Home) -> None:
    assert list(receives(home.machine())) == []
