"""A socket that is no longer ours is said, once; so is its return."""

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from crabhook.server import unix_socket
from crabhook.server.unix_socket import SocketWatch


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # a socket's path has to be short
    return Path("s")


@pytest.fixture
def ours(place: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        yield listener


def replace(place: Path) -> None:
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as another:
        another.bind(str(place))


@pytest.mark.usefixtures("ours")
def test_a_replaced_socket_is_said_once(place: Path) -> None:
    watch = SocketWatch([place])
    assert watch.look() == []
    replace(place)
    (said,) = watch.look()
    assert "WAS REPLACED" in said
    assert watch.look() == []
    assert watch.trouble == said  # which stays on the status line


@pytest.mark.usefixtures("ours")
def test_one_that_was_put_back_in_time_and_inode_is_known_for_another(place: Path) -> None:
    watch, before = SocketWatch([place]), place.lstat()
    for _ in range(50):  # until the file system gives the same inode again, where it does
        replace(place)
        os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
        if place.lstat().st_ino == before.st_ino:
            break
    assert len(watch.look()) == 1


@pytest.mark.usefixtures("ours")
def test_a_socket_that_is_gone_is_said_and_so_is_its_return(place: Path) -> None:
    watch, aside = SocketWatch([place]), place.with_name("aside")
    place.rename(aside)
    replace(place)
    assert ["WAS REPLACED" in one for one in watch.look()] == [True]
    place.unlink()
    assert ["IS GONE" in one for one in watch.look()] == [True]


@pytest.mark.usefixtures("ours")
async def test_it_looks_again_and_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unix_socket, "LOOK_EVERY", 0.005)
    told: asyncio.Queue[str] = asyncio.Queue()
    keeping = asyncio.ensure_future(SocketWatch([place]).keep(told.put_nowait))
    await asyncio.sleep(0.02)
    replace(place)
    assert "WAS REPLACED" in await asyncio.wait_for(told.get(), 60)
    keeping.cancel()


async def test_without_a_socket_there_is_nothing_to_look_at() -> None:
    await SocketWatch([]).keep(print)
