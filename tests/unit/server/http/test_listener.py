"""The HTTP door opens where it may, answers by its routes, and closes with all that is on it."""

import asyncio
from pathlib import Path

import pytest

from crabhook.model.decision import Decision, Verdict
from crabhook.server import repeats
from crabhook.server.address import GRACE, AddressError, PortError, Tls, Tokens
from crabhook.server.core.anonymous_intake import AnonymousIntake
from crabhook.server.core.runner import Runner
from crabhook.server.http import listener
from crabhook.server.http.connections import SERVER
from crabhook.server.http.listener import Opening, Page, open_http
from tests.support.runners import bare_runner
from tests.support.seat import seat
from tests.unit.server.http.standing import TOKEN, standing, until


def intake(runner: Runner) -> AnonymousIntake:
    return AnonymousIntake(runner, wait=60.0, named="HTTP door")


async def test_a_request_waits_for_its_decision_and_the_decision_is_delivered() -> None:
    async with standing() as http:
        client = await http.connect()
        client.send()
        await until(http.runner.broker.waiting)
        (card,) = http.runner.broker.waiting()
        seat(http.runner).answer(card.number, Decision(Verdict.DENY, reason="no"))
        status, body = await client.answer()
        assert (status, b'"deny"' in body) == (200, True)
        await until(lambda: http.runner.broker.ended()[0].delivered)
        await client.close()


async def test_an_answer_that_is_not_read_ends_the_connection_and_is_not_delivered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listener, "TAKEN_WITHIN", 0.2)
    monkeypatch.setattr("crabhook.server.core.runner.RECEIPT_WITHIN", 0.4)
    async with standing() as http:
        client = await http.connect()
        client.writer.transport.pause_reading()
        client.send()
        await until(http.runner.broker.waiting)
        (card,) = http.runner.broker.waiting()
        seat(http.runner).answer(card.number, Decision(Verdict.DENY, reason="x" * 30_000_000))
        await until(
            lambda: http.runner.broker.ended() and http.runner.broker.ended()[0].delivered is False
        )
        await until(
            lambda: any("not read in time" in entry.text for entry in http.runner.broker.feed())
        )
        await client.close()


async def test_metrics_are_for_those_with_the_token_and_health_for_all() -> None:
    page = Page(lambda: b"crabhook_up 1\n", "text/plain; version=0.0.4")
    async with standing(page) as http:
        for line, shown, said in (
            ("GET /metrics", f"Bearer {TOKEN}", (200, b"crabhook_up 1\n")),
            ("GET /healthz", None, (200, b"ok\n")),
        ):
            client = await http.connect()
            client.send(line=line, Authorization=shown)
            assert await client.answer() == said
            await client.close()
        client = await http.connect()
        client.send(line="GET /metrics", Authorization=None)
        assert (await client.answer())[0] == 401
        await client.close()


async def test_where_there_are_no_metrics_there_is_nothing() -> None:
    async with standing() as http:
        client = await http.connect()
        client.send(line="GET /metrics")
        assert (await client.answer())[0] == 404
        await client.close()


async def test_a_server_that_is_ending_is_not_well() -> None:
    async with standing() as http:
        client = await http.connect()
        http.runner.close()
        client.send(line="GET /healthz")
        assert await client.answer() == (503, b"closing\n")
        await client.close()


async def test_a_fault_of_ours_is_an_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> bytes:
        raise ZeroDivisionError

    async with standing(Page(broken, "text/plain")) as http:
        client = await http.connect()
        client.send(line="GET /metrics")
        status, body = await client.answer()
        assert (status, body) == (500, b"crabhook: a fault of crabhook's own\n")
        await client.close()
    assert "ZeroDivisionError" in caplog.text
    assert SERVER["Server"] == "crabhook"


async def test_a_fault_behind_an_answer_makes_no_second_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> bool:
        raise ArithmeticError

    async with standing() as http:
        monkeypatch.setattr(http.runner, "confirm", fails)
        client = await http.connect()
        client.send({"hook_event_name": "Stop"})
        assert (await client.answer())[0] == 200
        assert await client.reader.read() == b""
    assert "a request at the HTTP door was lost" in caplog.text


async def test_the_operator_is_told_the_same_again_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with standing() as http:
        for every, told in ((60.0, 1), (60.0, 1), (0.0, 2)):
            monkeypatch.setattr(repeats, "EVERY", every)
            client = await http.connect()
            client.send(Authorization=None)
            assert (await client.answer())[0] == 401
            await client.close()
            assert len(http.runner.broker.feed()) == told


async def test_closing_gives_the_answers_under_way() -> None:
    async with standing() as http:
        client = await http.connect()
        client.send()
        await until(http.runner.broker.waiting)
    status, said = await client.answer()
    assert (status, b"closed the desk" in said) == (503, True)
    assert await client.reader.read() == b""
    await client.close()


async def test_closing_does_not_wait_for_those_who_wait_for_nothing() -> None:
    async with asyncio.timeout(GRACE / 2):
        async with standing() as http:
            client = await http.connect()
            client.send({"hook_event_name": "Stop"})
            await client.answer()
        assert await client.reader.read() == b""
        await client.close()


async def test_localhost_is_where_hooks_look_for_it() -> None:
    runner = bare_runner()
    async with open_http(Opening("localhost:0", Tokens(TOKEN)), runner, intake(runner)) as here:
        assert str(here).rpartition(":")[0] == "http://127.0.0.1"


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
async def test_beyond_the_loopback_it_takes_tls(address: str) -> None:
    runner = bare_runner()
    with pytest.raises(PortError, match="--tls-cert and --tls-key"):
        async with open_http(Opening(address, Tokens(TOKEN)), runner, intake(runner)):
            pytest.fail("it stands open in the clear")


async def test_it_has_no_socket_file() -> None:
    runner = bare_runner()
    with pytest.raises(AddressError, match="HOST:PORT"):
        async with open_http(Opening("unix:/tmp/x", Tokens(TOKEN)), runner, intake(runner)):
            pytest.fail("it stands open")


async def test_a_certificate_that_is_none_is_said_and_the_port_is_free_again(
    tmp_path: Path,
) -> None:
    runner, files = bare_runner(), Tls(tmp_path / "cert", tmp_path / "key")
    with pytest.raises(PortError, match="the TLS files cannot be used"):
        async with open_http(
            Opening("127.0.0.1:0", Tokens(TOKEN), tls=files), runner, intake(runner)
        ):
            pytest.fail("it stands open")
