"""The units of our pages, run by systemd itself: what the pages promise of them holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.integration.test_service_manager import allowed, bash
from tests.integration.test_shared_record import cluster, url
from tests.support.client import Client
from tests.support.port import short_folder
from tests.support.systemd import UserManager, units, why_not, with_program

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["cluster", "url"]
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(bool(why_not()), reason=f"no systemd of our own here: {why_not()}"),
]
ALLOWS = '[[rule]]\nverdict = "allow"\nmatch = "Bash(npm run *)"\n'
SOCKET, SERVER = "crabhook.socket", "crabhook.service"


@pytest.fixture
def systemd() -> Iterator[UserManager]:
    with short_folder() as folder:
        with_program(folder)
        settings = folder / ".config/crabhook"
        settings.mkdir(parents=True)
        (settings / "rules.toml").write_text(ALLOWS, encoding="utf-8")
        with UserManager(folder) as manager:
            yield manager


@pytest.fixture
def address(systemd: UserManager) -> str:
    """Where agents ask, once the units of the page on service managers are there and enabled."""
    for name, text in zip((SOCKET, SERVER), units("service-manager.md"), strict=True):
        systemd.install(name, text)
    systemd.do("enable", "--now", SOCKET)
    return f"unix:{systemd.runtime}/crabhook/crabhook.sock"


def process(systemd: UserManager) -> str:
    """The number of the server's process, in the manager's own namespace."""
    return systemd.of(SERVER, "MainPID")


def test_the_first_hook_starts_the_server_and_a_restart_or_a_crash_loses_no_call(
    systemd: UserManager, address: str
) -> None:
    assert systemd.told("is-active", SERVER) == "inactive"
    assert allowed(address)
    systemd.wait_until(lambda: systemd.of(SERVER, "StatusText").startswith("listening on unix:"))
    first = process(systemd)
    systemd.do("restart", SERVER)
    assert allowed(address)
    second = process(systemd)
    assert second != first
    systemd.do("kill", "--kill-whom=main", "--signal=KILL", SERVER)
    assert allowed(address)
    assert process(systemd) not in {first, second}
    systemd.do("stop", SOCKET, SERVER)
    assert systemd.told("is-active", SERVER) == "inactive"
    assert Client(address, bash()).finish().silent


def test_a_server_that_lives_is_left_alone_and_one_that_stands_still_is_begun_anew(
    systemd: UserManager, address: str
) -> None:
    systemd.install(f"{SERVER}.d/soon.conf", "[Service]\nWatchdogSec=2\n")
    systemd.do("daemon-reload")
    assert allowed(address)
    first = process(systemd)
    with pytest.raises(AssertionError):
        systemd.wait_until(lambda: process(systemd) != first, seconds=5)
    systemd.do("kill", "--kill-whom=main", "--signal=STOP", SERVER)
    assert allowed(address)  # it was asked while nobody answered, and waited for the next server
    assert process(systemd) != first
    assert systemd.of(SERVER, "NRestarts") == "1"


def test_settings_that_are_wrong_are_said_and_let_the_agent_go(
    systemd: UserManager, address: str
) -> None:
    systemd.install(f"{SERVER}.d/said.conf", "[Service]\nStandardError=append:%h/said\n")
    systemd.do("daemon-reload")
    (systemd.folder / ".config/crabhook/settings.toml").write_text("[record]\nstroe = 1\n")
    assert not allowed(address)
    # Read in a single look: what the hook sent lies in the socket still, so it starts the server again.
    ended = {"ActiveState": "failed", "ExecMainStatus": "2", "NRestarts": "0"}
    systemd.wait_until(lambda: systemd.all_of(SERVER, *ended) == ended)
    assert "stroe" in (systemd.folder / "said").read_text()


def waits_at(systemd: UserManager, unit: str) -> None:
    """Wait until that server says that a hook waits there."""
    systemd.wait_until(lambda: " 1 waiting" in systemd.of(unit, "StatusText"))


def test_two_servers_of_one_record_are_restarted_one_after_the_other_and_a_hook_waits_on(
    systemd: UserManager, url: str
) -> None:
    (unit,) = units("cluster.md")
    names = "crabhook-a", "crabhook-b"
    for name in names:
        home = systemd.folder / name
        settings = home / ".config/crabhook/settings.toml"
        settings.parent.mkdir(parents=True)
        here = f"[server]\nlisten = [{json.dumps(f'unix:{home}/s')}]\n"
        settings.write_text(f"[record]\nstore = {json.dumps(url)}\n{here}", encoding="utf-8")
        own = unit.replace("User=crabhook\n", f"Environment=HOME={home} XDG_RUNTIME_DIR={home}\n")
        program = f"{systemd.folder}/.local/bin/"
        systemd.install(f"{name}.service", own.replace("/opt/crabhook/bin/", program))
        systemd.do("start", name)
    servers = ",".join(f"unix:{systemd.folder}/{name}/s" for name in names)
    hook = Client(servers, bash("make"), "--reconnect", "10")
    first, second = names
    waits_at(systemd, first)
    for leads, next_one in ((first, second), (second, first)):
        systemd.do("restart", leads)
        waits_at(systemd, next_one)
        assert systemd.of(leads, "StatusText").startswith("standing by on")
    assert hook.poll() is None
    systemd.do("stop", *names)
    assert hook.finish().silent
    assert {systemd.of(name, "Result") for name in names} == {"success"}
