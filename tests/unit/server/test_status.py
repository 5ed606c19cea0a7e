"""The file in which a server tells how it is."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from crabhook.app.status import ServerStatus
from crabhook.safe_open import write_own
from crabhook.server import unix_socket
from crabhook.server.unix_socket import StatusFile, read_status, status_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("lie", [None, '{"pid": 1}'])
async def test_what_another_program_does_to_the_file_right_after_it_was_written_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: str | None
) -> None:
    monkeypatch.setattr(unix_socket, "LOOK_EVERY", 0.01)
    socket, written = tmp_path / "s", []

    def write_and_lie(path: Path, content: bytes) -> None:
        write_own(path, content)
        written.append(content)
        if len(written) == 1:
            path.unlink() if lie is None else path.write_text(lie)

    monkeypatch.setattr(unix_socket, "write_own", write_and_lie)
    keeping = asyncio.ensure_future(
        StatusFile(socket, lambda: asdict(ServerStatus(os.getpid(), 2, 1, ()))).keep()
    )
    async with asyncio.timeout(60):
        while len(written) < 2:  # noqa: ASYNC110 - a file
            await asyncio.sleep(0.01)
    assert read_status(socket)["pid"] == os.getpid()
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


@pytest.mark.parametrize("lie", [None, '{"pid": 1}'])
async def test_what_another_program_does_to_the_file_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: str | None
) -> None:
    monkeypatch.setattr(unix_socket, "LOOK_EVERY", 0.01)
    socket = tmp_path / "s"
    keeping = asyncio.ensure_future(
        StatusFile(socket, lambda: asdict(ServerStatus(os.getpid(), 2, 1, ()))).keep()
    )

    async def told() -> None:
        async with asyncio.timeout(60):
            while read_status(socket).get("pid") != os.getpid():  # noqa: ASYNC110 - a file
                await asyncio.sleep(0.01)

    await told()
    file = status_file(socket)
    file.unlink() if lie is None else file.write_text(lie)
    await told()
    assert (read_status(socket)["waiting"], read_status(socket)["desks"]) == (2, 1)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    assert not file.exists()
