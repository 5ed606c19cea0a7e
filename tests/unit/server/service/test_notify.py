"""The service manager hears what sd_notify says, or nobody does and nothing differs."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from crabhook.server.service.activation import ServiceManager
from tests.support.port import short_folder
from tests.support.service import Manager


@pytest.fixture
def manager() -> Iterator[Manager]:
    with short_folder() as folder, Manager(f"{folder}/notify") as manager:
        yield manager


def test_the_variables_are_for_us_alone() -> None:
    environment = {"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "10", "WATCHDOG_PID": "1", "PATH": "/"}
    ServiceManager.named_in(environment).close()
    assert environment == {"PATH": "/"}


@pytest.mark.parametrize(
    ("usec", "pid", "seconds"),
    [
        ("2000000", "", 2.0),
        ("2000000", "own", 2.0),
        ("2000000", "1", 0.0),
        ("", "", 0.0),
        ("soon", "", 0.0),
    ],
)
def test_the_watchdog_counts_where_it_is_ours(usec: str, pid: str, seconds: float) -> None:
    environment = {
        "NOTIFY_SOCKET": "/x",
        "WATCHDOG_USEC": usec,
        "WATCHDOG_PID": str(os.getpid()) if pid == "own" else pid,
    }
    manager = ServiceManager.named_in(environment)
    assert manager.watchdog == seconds
    manager.close()


def test_what_is_ready_and_what_stops_is_said_with_its_status(manager: Manager) -> None:
    service = ServiceManager(manager.name)
    service.ready("listening on a\nREADY=0")
    assert manager.hears() == {"READY": "1", "STATUS": "listening on a READY=0"}
    service.stopping("so long")
    assert manager.hears() == {"STOPPING": "1", "STATUS": "so long"}
    service.close()
    service.ready("nobody hears that")


@pytest.mark.parametrize("address", ["", "vsock:2:1234", "/nowhere/at/all", "@nobody-is-here"])
def test_a_manager_that_cannot_be_told_changes_nothing(address: str) -> None:
    manager = ServiceManager.named_in({"NOTIFY_SOCKET": address})
    manager.ready("listening")
    manager.stopping("over")
    manager.close()


def test_a_manager_that_does_not_listen_holds_nobody_up(manager: Manager) -> None:
    service = ServiceManager(manager.name)
    for _ in range(10_000):  # more than any socket keeps
        service.ready("listening")
    service.close()


async def test_without_a_manager_nobody_is_informed() -> None:
    async with asyncio.timeout(60):
        await ServiceManager().keep_informed(lambda: "listening")


async def test_only_a_new_status_is_news_and_no_watchdog_is_fed_that_nobody_keeps(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crabhook.server.service.activation._LOOK_EVERY", 0.01)
    service, statuses = ServiceManager(manager.name), iter(["a", "a", "b", "b", "c"])
    service.ready("a")
    with pytest.raises(RuntimeError):  # a generator's end, within a coroutine
        await service.keep_informed(lambda: next(statuses))
    service.close()
    heard = [manager.hears() for _ in range(3)]
    assert [one["STATUS"] for one in heard] == ["a", "b", "c"]


async def test_the_watchdog_is_fed_twice_in_its_time(manager: Manager) -> None:
    service = ServiceManager(manager.name, watchdog=0.2)
    keeping = asyncio.ensure_future(service.keep_informed(lambda: ""))
    loop = asyncio.get_running_loop()
    for _ in range(3):
        assert await loop.run_in_executor(None, manager.hears) == {"WATCHDOG": "1"}
    keeping.cancel()
    service.close()
