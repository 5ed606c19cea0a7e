"""The supervisor's hook as a process, with settings, a home and a reviewer of the test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.client import Answer, finished

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CRABHOOK = str(Path(sys.executable).with_name("crabhook"))

STOP = {
    "session_id": "s1",
    "hook_event_name": "Stop",
    "transcript_path": "/nowhere/s1.jsonl",
    "cwd": "/src",
    "stop_hook_active": False,
    "last_assistant_message": "All done.",
}
QUESTION = {
    "session_id": "s1",
    "hook_event_name": "PreToolUse",
    "cwd": "/src",
    "tool_name": "AskUserQuestion",
    "tool_use_id": "toolu_1",
    "tool_input": {
        "questions": [
            {
                "question": "Which library?",
                "header": "Library",
                "options": [
                    {"label": "attrs", "description": "old"},
                    {"label": "msgspec", "description": "fast"},
                ],
                "multiSelect": False,
            }
        ]
    },
}

_JUDGE = """
import json, os, sys
from pathlib import Path
folder = Path(sys.argv[0]).parent
review = json.load(sys.stdin)
guards = {name: value for name, value in os.environ.items() if name.endswith("SUPERVISOR_HOOK")}
with (folder / "reviews.jsonl").open("a") as out:
    print(json.dumps({"review": review, "guards": guards}), file=out)
verdicts = json.loads((folder / "verdicts.json").read_text())
print(json.dumps(verdicts[min(review["iteration"], len(verdicts)) - 1]))
"""


class Judge:
    """A reviewer's command that gives the n-th verdict of a list on the n-th event, then the last."""

    def __init__(self, folder: Path, *verdicts: Mapping[str, Any]) -> None:
        self._folder = folder / "judge"
        self._folder.mkdir()
        self.command = [sys.executable, str(self._folder / "judge.py")]
        (self._folder / "judge.py").write_text(_JUDGE, encoding="utf-8")
        (self._folder / "verdicts.json").write_text(json.dumps(verdicts), encoding="utf-8")

    def heard(self) -> list[dict[str, Any]]:
        """Each review it was given, with the guards in its environment."""
        file = self._folder / "reviews.jsonl"
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


class Supervised:
    """Starts the hook; its settings, its state and its home are in `folder`."""

    def __init__(self, folder: Path, *options: str, **settings: object) -> None:
        self.folder = folder
        self._options = options
        self.settings = folder / "settings.toml"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
        }
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        self.settings.write_text("\n".join(["[supervisor]", *lines, ""]), encoding="utf-8")

    @property
    def command(self) -> Sequence[str]:
        """The hook's command, as an agent's settings would name it."""
        return [CRABHOOK, "supervisor-hook", "--settings", str(self.settings), *self._options]

    def start(
        self, given: bytes | Mapping[str, Any] | None, **environment: str
    ) -> subprocess.Popen[bytes]:
        """Start the hook; its input ends unless it is None."""
        process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.environment, **environment},
        )
        if given is not None:
            assert process.stdin is not None
            # As an agent does: a hook that cannot work may end before it has read its input.
            with suppress(BrokenPipeError), process.stdin as there:
                there.write(given if isinstance(given, bytes) else json.dumps(given).encode())
            process.stdin = None
        return process

    def told(self, given: bytes | Mapping[str, Any], **environment: str) -> Answer:
        """Run the hook to its end."""
        return finished(self.start(given, **environment))

    def counted(self) -> int:
        """How many events of how ever many sessions were counted."""
        counts = (self.folder / "state").glob("crabhook/supervisor/*.count")
        return sum(file.stat().st_size for file in counts)
