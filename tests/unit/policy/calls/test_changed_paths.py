"""Which files a call of a file tool changes, for all agents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crabhook.platforms import PLATFORMS
from crabhook.policy.calls.read import MOST_CHANGED, changed_paths
from crabhook.server.core.file_finder import FileFinder
from tests.support.rows import every_row

if TYPE_CHECKING:
    from pathlib import Path

PATCH = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: /q/b\n*** End Patch\n"


def changed(platform: str, event: str, tool: str, given: Any) -> tuple[str, ...]:
    said = {"hook_event_name": event, "cwd": "/p", "tool_name": tool, "tool_input": given}
    return changed_paths(PLATFORMS[platform].read(json.dumps(said).encode()))


@every_row(
    "platform, tool, given, paths",
    [
        ("claude", "Write", {"file_path": "/p/a", "content": "x"}, ("/p/a",)),
        ("claude", "Edit", {"file_path": "a"}, ("/p/a",)),
        ("claude", "MultiEdit", {"file_path": "/p/a"}, ("/p/a",)),
        ("claude", "NotebookEdit", {"notebook_path": "/p/n.ipynb"}, ("/p/n.ipynb",)),
        ("gemini", "write_file", {"file_path": "a"}, ("/p/a",)),
        ("gemini", "replace", {"file_path": "/p/a"}, ("/p/a",)),
        ("codex", "apply_patch", {"command": PATCH}, ("/p/a", "/q/b")),
        ("claude", "Read", {"file_path": "/p/a"}, ()),
        ("claude", "Bash", {"command": "echo > /p/a"}, ()),
        ("claude", "Write", {"file_path": 7}, ()),
        ("claude", "Write", "no object", ()),
    ],
)
def test_the_files_that_a_call_changes_are_named_from_the_root_on(
    platform: str, tool: str, given: Any, paths: tuple[str, ...]
) -> None:
    assert changed(platform, "PreToolUse", tool, given) == paths


def test_of_a_patch_of_very_many_files_some_are_looked_at() -> None:
    lines = "".join(f"*** Add File: f{number}\n+x\n" for number in range(MOST_CHANGED + 5))
    patch = f"*** Begin Patch\n{lines}*** End Patch\n"
    assert len(changed("codex", "PreToolUse", "apply_patch", {"command": patch})) == MOST_CHANGED


async def test_files_are_known_by_where_they_really_are_and_those_elsewhere_by_their_machine(
    tmp_path: Path,
) -> None:
    file, link = tmp_path / "a", tmp_path / "b"
    file.touch()
    link.symlink_to(file)
    finder = FileFinder()
    assert await finder.found([str(link), str(file)], "") == (str(file.resolve()),)
    assert await finder.found(["/p/../q"], "laptop") == ("laptop:/q",)
    assert await finder.found(["/p/\0"], "") == ()  # which no file is called
    assert await finder.found(["/p/\0", str(link)], "") == (str(file.resolve()),)
