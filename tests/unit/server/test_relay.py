"""The folders of the listeners behind a relay."""

import os
import socket
import time
from pathlib import Path

import pytest

from crabhook.server.relay import BEHIND, folder_behind
from tests.support.port import short_folder


def made(place: Path, name: str, *, age: float = 3600.0, mode: int = 0o700) -> Path:
    """A folder with a socket in which nobody listens, so many seconds old."""
    folder = place / name
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(os.fspath(folder / BEHIND))
    folder.chmod(mode)
    os.utime(folder, (time.time() - age,) * 2)
    return folder


def test_the_folder_of_a_server_that_was_killed_is_removed_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with short_folder() as place, socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
        dead = made(place, "crabhook-dead")
        young = made(place, "crabhook-young", age=1.0)
        open_to_all = made(place, "crabhook-open", mode=0o755)
        others = made(place, "another-program")
        full = made(place, "crabhook-full")
        (full / "more").touch()
        os.utime(full, (0, 0))
        live = place / "crabhook-live"
        live.mkdir(0o700)
        listening.bind(os.fspath(live / BEHIND))
        listening.listen()
        os.utime(live, (0, 0))
        with folder_behind() as folder:
            assert Path(folder).parent == place
            assert not dead.exists()
            assert all((kept / BEHIND).exists() for kept in (young, open_to_all, others, live))
            assert (full / "more").exists()
