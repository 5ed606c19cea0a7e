"""The files that a call will change are found by where they lead, and no hook waits for another."""

import asyncio
import os.path
import threading
from pathlib import Path

import pytest

from crabhook.server.core import file_finder


async def test_no_other_agent_waits_for_a_folder_that_hangs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file system that hangs cannot be had here: what looks at it is held up instead."""
    let_go = threading.Event()

    def hangs(path: str) -> str:
        if path.startswith("/hangs"):
            let_go.wait(60)
        return os.path.realpath(path)

    monkeypatch.setattr(file_finder, "real_path", hangs)
    monkeypatch.setattr(file_finder, "LOOK_WITHIN", 0.2)
    finder = file_finder.FileFinder()
    try:
        many = [finder.found([f"/hangs/{n}/../a"], "") for n in range(file_finder.MOST_HANGING)]
        held = asyncio.gather(*many)
        assert await asyncio.wait_for(finder.found(["/b/../c"], ""), 60) == ("/c",)
        assert await held == [("/hangs/a",)] * file_finder.MOST_HANGING
        assert await finder.found(["/hangs/d"], "") == ("/hangs/d",)  # by its name, at once
    finally:
        let_go.set()


async def test_files_that_the_rules_have_looked_at_are_found_the_same_without_a_thread(
    tmp_path: Path,
) -> None:
    (tmp_path / "link").symlink_to("there")
    paths, finder = [f"{tmp_path}/link/a", f"{tmp_path}/link/../b", "\0"], file_finder.FileFinder()
    for some in (paths[:2], paths, []):
        assert await finder.found(some, "", looked=True) == await finder.found(some, "")
    far = await finder.found(paths[:1], "build1", looked=True)
    assert far == (f"build1:{tmp_path}/link/a",)
