"""What a hook that its agent sends says of itself, and whether its server takes it."""

import asyncio
import socket
import threading

import pytest

from crabhook.doctor.entry import entry
from crabhook.doctor.processes import Knock, knock
from crabhook.model.card import Stance
from crabhook.model.json_source import as_json
from crabhook.platforms.claude.settings import groups
from crabhook.platforms.installation import Installation
from tests.unit.server.http.standing import TOKEN, standing


def written(**options: object) -> dict[str, object]:
    """The handler that is written for PreToolUse."""
    how = Installation("python", "stub", url="http://127.0.0.1:9", **options)  # type: ignore[arg-type]
    (handler,) = groups(how)["PreToolUse"]["hooks"]  # type: ignore[misc]
    read = as_json(handler)
    assert isinstance(read, dict)
    return read  # type: ignore[return-value]


def test_it_says_what_our_client_would_be_told() -> None:
    gate = written(stance=Stance.GATE, wait=70, fail_closed=True)
    one = entry("PreToolUse", gate)  # type: ignore[arg-type]
    assert one.url == "http://127.0.0.1:9/hooks/claude"
    assert (one.options.wait, one.given("--when-unreachable")) == (100, "deny")
    companion = entry("PreToolUse", written())  # type: ignore[arg-type]
    assert companion.arguments == ("--companion", "--wait", "86430")


def test_a_command_is_sent_nowhere() -> None:
    assert entry("Stop", {"type": "command", "command": "crabhook hook"}).url == ""


async def test_a_server_takes_the_token_or_wants_another_and_sees_nothing() -> None:
    async with standing() as door:
        url = f"{door.where}/hooks/claude"
        fits = await asyncio.to_thread(knock, url, TOKEN)
        assert fits[0] is Knock.FITS
        assert not door.runner.broker.feed()
        other = await asyncio.to_thread(knock, url, "another")
        assert other[0] is Knock.NO_TOKEN


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/hooks/claude", "https://[/hooks/claude"])
def test_where_nobody_is_nobody_answers(url: str) -> None:
    assert knock(url, "x")[0] is Knock.NOBODY


def test_another_program_is_told_from_a_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer() -> None:
            line, _ = other.accept()
            with line:
                line.recv(4096)
                line.sendall(b"HTTP/1.0 415 No\r\nContent-Length: 4\r\n\r\nsome")

        answering = threading.Thread(target=answer)
        answering.start()
        heard = knock(f"http://127.0.0.1:{other.getsockname()[1]}/hooks/claude", "x")
        answering.join(60)
    assert heard[0] is Knock.FOREIGN
