"""Whoever puts another socket in the place of the server's is seen: on the screen and on record."""

import socket
from pathlib import Path

from tests.support.plain_desk import PlainDesk
from tests.support.service import Service


def usurp(path: Path) -> socket.socket:
    """Take the place of the socket at a path, as a process of the same user can."""
    path.unlink()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    return listener


def test_a_replaced_socket_is_said_on_the_screen() -> None:
    with PlainDesk() as desk, usurp(desk.folder / "s"):
        desk.wait_for(r"^! desk: THE SOCKET .* WAS REPLACED")


def test_a_replaced_socket_is_logged_and_recorded_where_nobody_looks() -> None:
    with Service("--headless") as service:
        with usurp(service.folder / "s"):
            service.wait_for(lambda line: "WAS REPLACED" in line)
        assert "WAS REPLACED" in service.audit("export")
