"""Who is revoked is told so at the desk that is open, and no verb waits for what never comes."""

from __future__ import annotations

import asyncio
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from crabhook.cli.commands import NOT_ALLOWED
from crabhook.cli.team.attaching import MayNotError
from crabhook.cli.verbs.attached import Attached, at_desk_of
from crabhook.cli.verbs.commands import _watch
from crabhook.desk.replica import Replica
from crabhook.desk.updates import LinkChanged
from crabhook.model.actor import Role
from crabhook.team.desk_keys import Credentials, DeskFacts, DeskFolder
from crabhook.team.edit_team import without_operator
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import sitting as plain_sitting
from tests.support.sitting import Sitting, call
from tests.support.team_port import SOON, team_port

if TYPE_CHECKING:
    from pathlib import Path

REVOKED = "laptop of ann was revoked on 2026-11-28"


@pytest.mark.parametrize("device", [None, "ann's"], ids=["the person", "a device"])
async def test_an_open_desk_hears_that_its_person_was_revoked(
    tmp_path: Path, device: str | None
) -> None:
    server = PlayedDesk()
    server.ask(call())
    async with (
        team_port(server.runner, tmp_path, ann=Role.DECIDER) as port,
        port.desk("ann") as desk,
    ):
        replica, links = Replica(desk, monotonic), list[LinkChanged]()
        replica.follow(lambda news: links.append(news) if isinstance(news, LinkChanged) else None)
        port.team.change(partial(without_operator, name="ann", device=device, at=1))
        await asyncio.wait_for(desk.refused.wait(), SOON)
        assert "was revoked" in replica.lost()
        assert replica.refused()
        # The first may say that the link is up, or on a busy machine that it broke.
        *_, last = (link.lost for link in links if link.lost)
        assert "was revoked" in last
        later = Replica(desk, monotonic)
        later.follow()
        assert later.refused()


async def test_a_desk_whose_role_has_changed_is_not_turned_away(tmp_path: Path) -> None:
    server = PlayedDesk()
    async with (
        team_port(server.runner, tmp_path, ann=Role.DECIDER) as port,
        port.desk("ann") as desk,
    ):
        replica = Replica(desk, monotonic)
        replica.follow()
        desk._lose("what this device may see has changed", refused=False)
        assert replica.lost()
        assert not replica.refused()


async def test_a_watch_ends_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = PlayedDesk()
    async with team_port(server.runner, tmp_path, ann=Role.DECIDER) as port:
        certificate, key = port.certificates["ann"]
        keys = Credentials(port.authority, key, certificate)
        watching = asyncio.ensure_future(_watch(f"127.0.0.1:{port.address.port}", keys, None))
        while '"snapshot"' not in capsys.readouterr().out:
            await asyncio.sleep(0.05)
            assert not watching.done()
        port.team.revoke("ann")
        with pytest.raises(MayNotError, match="was revoked") as ended:
            await asyncio.wait_for(watching, SOON)
        assert ended.value.exit_code == NOT_ALLOWED


async def test_a_verb_that_waits_ends_and_says_why(tmp_path: Path) -> None:
    server = PlayedDesk()
    async with team_port(server.runner, tmp_path, ann=Role.DECIDER) as port:
        certificate, key = port.certificates["ann"]
        keys = Credentials(port.authority, key, certificate)
        facts = DeskFacts(f"127.0.0.1:{port.address.port}", "t", "ann", "decider", "laptop")
        (tmp_path / "kept").mkdir(mode=0o700)
        folder, begun = DeskFolder(tmp_path / "kept").enter(facts), asyncio.Event()

        async def wait_for_a_card(here: Attached) -> None:
            begun.set()
            while not here.replica.waiting():
                here.changed.clear()
                await here.changed.wait()

        waiting = asyncio.ensure_future(at_desk_of(folder, keys, wait_for_a_card))
        await asyncio.wait_for(begun.wait(), SOON)
        port.team.revoke("ann")
        with pytest.raises(MayNotError, match="was revoked"):
            await asyncio.wait_for(waiting, SOON)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_the_full_screen_says_so_and_promises_nothing(columns: int, rows: int) -> None:
    sits = Sitting(columns=columns, rows=rows)
    sits.ask()
    sits.desk._publish(LinkChanged(REVOKED, refused=True))
    text = " ".join(sits.text().split())
    assert f"{REVOKED}: the server takes this desk no more" in text
    assert "turned away" in text
    assert "comes back" not in text
    sits.press("a")
    assert not sits.decided()


async def test_the_plain_desk_says_so() -> None:
    async with plain_sitting() as sits:
        sits.desk._publish(LinkChanged(REVOKED, refused=True))
        (line,) = await sits.look()
        assert line.startswith(f"! {REVOKED}: the server takes this desk no more")
