"""A server is asked whether it is there: it tells, and nothing else happens at all."""

import asyncio
import socket
import threading
from pathlib import Path

from crabhook.doctor.processes import NO_PLATFORM, ServerAnswer, ask
from crabhook.hook import Options
from crabhook.platforms import CLIENTS
from crabhook.server.address import TcpAddress
from tests.support.port import opened


def at(server: str, token: str = "") -> Options:
    options = Options()
    options.server, options.token = server, token
    return options


async def asked(server: str, token: str = "") -> ServerAnswer:
    return await asyncio.to_thread(ask, at(server, token))


async def test_a_server_tells_that_it_is_there_and_which_agents_it_knows() -> None:
    async with opened() as port:
        answer = await asked(str(port.bound[0]))
        assert answer.there
        assert set(answer.platforms) == set(CLIENTS)
        assert 0 < answer.seconds < 6


async def test_to_be_asked_makes_no_card_no_event_and_no_news() -> None:
    async with opened() as port:
        await asked(str(port.bound[0]))
        assert (port.news, list(port.runner.broker.waiting())) == ([], [])


async def test_the_token_is_looked_at_first() -> None:
    async with opened(TcpAddress("127.0.0.1", 0), token="hush") as port:
        server = str(port.bound[0])
        without, with_it = await asked(server), await asked(server, "hush")
        assert (without.there, without.no_token) == (False, True)
        assert "--token-file" in without.words
        assert (with_it.there, with_it.no_token) == (True, False)


def test_nobody_there_is_said_in_words(tmp_path: Path) -> None:
    answer = ask(at(f"unix:{tmp_path}/none"))
    assert (answer.there, answer.kind) == (False, "unreachable")
    assert "No such file" in answer.words


def test_somebody_else_there_is_not_taken_for_a_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            line, _ = listening.accept()
            with line:
                line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=hang_up)
        thread.start()
        answer = ask(at(f"127.0.0.1:{listening.getsockname()[1]}"))
        thread.join(60)
    assert not answer.there
    assert "does not speak HTTP/2" in answer.words


def test_no_platform_of_ours_has_the_probes_name() -> None:
    assert NO_PLATFORM not in CLIENTS


def test_the_options_asked_with_stay_as_they_were(tmp_path: Path) -> None:
    options = at(f"unix:{tmp_path}/none")
    before = dict(vars(options))
    ask(options)
    assert vars(options) == before
