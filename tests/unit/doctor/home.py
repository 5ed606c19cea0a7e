"""A person's home with crabhook in it, looked at by the doctor and mended by what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from crabhook.cli import main
from crabhook.doctor.examination import cases
from crabhook.doctor.facts import Case, DoctorTask, ThisMachine, machine
from crabhook.doctor.finding import Finding, Status
from tests.support.typist import Typist

BIN = Path(sys.executable).parent


class Home:
    """A home in a folder of the test's, which the process's own environment names.

    `install` and `look` are done here; what mends runs in a shell, as a
    person pastes it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.config = folder / ".config" / "crabhook"
        self.state = folder / ".local" / "state" / "crabhook"
        self.settings = folder / ".claude" / "settings.json"
        self.address = f"unix:{folder}/run/s"
        self.project.mkdir()
        (folder / "run").mkdir(mode=0o700)

    @property
    def environment(self) -> dict[str, str]:
        """What a person's shell has."""
        return {
            "HOME": str(self.folder),
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "PATH": f"{BIN}{os.pathsep}{os.defpath}",
            "LANG": "C.UTF-8",
        }

    def install(self, *options: str, agent: str = "claude", server: str = "") -> None:
        """Install our hooks; they ask the server of this home."""
        words = ("install", agent, "--server", server or self.address, *options)
        assert main(words) == 0

    def write(self, path: Path, content: object) -> Path:
        """Write a file; JSON unless it is text."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    def change(self, change: Callable[[dict[str, Any]], object], path: Path | None = None) -> None:
        """Change an agent's settings as some other program would."""
        settings = json.loads((path or self.settings).read_text("utf-8"))
        change(settings)
        (path or self.settings).write_text(json.dumps(settings), "utf-8")

    def handlers(self, event: str = "PreToolUse") -> list[dict[str, Any]]:
        """The handlers of an event."""
        groups = json.loads(self.settings.read_text("utf-8"))["hooks"][event]
        return [handler for group in groups for handler in group["hooks"]]

    def case(self, agent: str = "claude", **wish: Any) -> Case:
        """One agent as the doctor finds it."""
        (found,) = cases(DoctorTask(self.project, agent, **wish), os.environ)
        return found

    def machine(self, **wish: Any) -> ThisMachine:
        """The machine as the doctor finds it."""
        case = self.case(**wish)
        return machine(case.wish, [case])

    def look(self, check: Callable[[Case], Iterator[Finding]], **wish: Any) -> Finding:
        """The one thing that a check of an agent finds."""
        (finding,) = check(self.case(**wish))
        return finding

    def look_around(
        self, check: Callable[[ThisMachine], Iterator[Finding]], **wish: Any
    ) -> Finding:
        """The one thing that a check of the machine finds."""
        (finding,) = check(self.machine(**wish))
        return finding

    def mend(self, finding: Finding, *, editor: str = "false", typed: str = "") -> None:
        """Do what the finding says, in a shell; an editor is the command given."""
        assert finding.mend, f"nothing mends {finding}"
        if typed:
            with Typist(["/bin/sh", "-c", finding.mend], self.environment) as person:
                person.answer("[y/N] ", typed)
                assert person.finish()[0] == 0, person.shown
            return
        done = subprocess.run(
            ["/bin/sh", "-c", finding.mend],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=self.project,
            env=self.environment | {"EDITOR": editor},
        )
        assert done.returncode == 0, done.stderr


def typist(folder: Path, text: str) -> str:
    """An editor that opens a file at a line and leaves it with this text."""
    script = folder / "editor"
    content = folder / "typed"
    content.write_text(text, "utf-8")
    script.write_text(f'#!/bin/sh\nfor file; do :; done\ncat "{content}" > "$file"\n', "utf-8")
    script.chmod(0o755)
    return str(script)


def is_well(finding: Finding) -> bool:
    """Whether a finding says that all is well, and so nothing that mends."""
    return finding.status is Status.OK and not finding.mend


def contents(folder: Path) -> dict[Path, bytes]:
    """All files in a folder, as they are."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
