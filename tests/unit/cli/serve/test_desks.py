"""Which desk is opened: the one the settings ask for, and who leaves it lets go what waits."""

import asyncio
from dataclasses import replace

import pytest

from crabhook.cli.serve import desks
from crabhook.cli.serve.desks import open_desk
from crabhook.config import Settings
from crabhook.model.card import State
from crabhook.platforms import PLATFORMS
from crabhook.server.core.pending_call import PendingCall
from crabhook.server.core.runner import Runner
from tests.support.playbook import asking

SOON = 10.0


def ask(runner: Runner, ticket: str = "a") -> PendingCall:
    now = asyncio.get_running_loop().time()
    tool = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": ticket}
    return runner.enter(asking(ticket, "PreToolUse", wait=now + 60, **tool), None)


@pytest.mark.parametrize("plain", [False, True])
async def test_a_headless_desk_reads_no_line_and_draws_no_screen(plain: bool) -> None:
    runner, settings = Runner(PLATFORMS), Settings(headless=True, plain=plain, otherwise="deny")
    desk = asyncio.ensure_future(open_desk(runner, settings, "here", runner.close))
    async with asyncio.timeout(SOON):
        reply = await ask(runner).wait()
    assert b'"deny"' in reply.stdout
    desk.cancel()
    await asyncio.gather(desk, return_exceptions=True)


async def test_who_leaves_the_plain_desk_has_it_released_before_the_last_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async def no_lines():  # type: ignore[no-untyped-def]  # noqa: ANN202
        for _ in ():
            yield ""

    monkeypatch.setattr(desks, "standard_lines", no_lines)
    runner, settings = Runner(PLATFORMS), replace(Settings(), plain=True)
    ask(runner)
    async with asyncio.timeout(SOON):
        await open_desk(runner, settings, "unix:/here", runner.close)
    said = capfd.readouterr().out
    assert said.startswith("· listening on unix:/here\n")
    assert said.endswith("#1 WITHDRAWN the operator closed the desk\n")
    card = runner.broker.card(1)
    assert card
    assert card.state is State.WITHDRAWN
