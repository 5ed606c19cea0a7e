"""The files that the calls are about: a home, a project in it, and a folder outside of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILES = (
    "project/a.md",
    "project/notes.txt",
    "project/Case.txt",
    "project/naïve.txt",
    "project/日本/a.md",
    "project/with space.txt",
    "project/brackets[1].txt",
    "project/src/main.py",
    "project/src/deep/x.py",
    "project/src/readme.md",
    "project/lib/src/x.py",
    "project/secret/key.txt",
    "project/sub/secret/key.txt",
    "project/.env",
    "project/.claude/skills/tidy/SKILL.md",
    "project/.claude/skills/tidy-all/SKILL.md",
    "notes/today.md",
)
"""Below the home folder; each holds the word `old`, a skill what a skill must say."""

OUTSIDE = ("target.txt", "deep/x.md", "secret/key.txt", "src/x.py", "a.md")

LINKS = {
    "home/project/link-in.py": "home/project/src/main.py",
    "home/project/link-out.txt": "outside/target.txt",
    "home/project/link-secret.txt": "home/project/secret/key.txt",
    "home/project/outdir": "outside",
    "outside/link-back": "home/project/src",
}

PROGRAMS = [
    *("rm", "rmdir", "sudo", "doas", "ssh", "crontab", "install"),
    *("npm", "make", "deploy", "build", "curl", "wget", "docker", "kubectl", "tool", "gh", "cargo"),
]
"""Programs of the scene's own that do nothing: what a rule allows really runs."""

SKILL = "---\nname: {name}\ndescription: Tidies.\nallowed-tools: Bash(tool)\n---\nSay that all is tidy.\n"


@dataclass(frozen=True, slots=True)
class Scene:
    """The folders of one run."""

    folder: Path

    @property
    def home(self) -> Path:
        """The home of the agent's user."""
        return self.folder / "home"

    @property
    def project(self) -> Path:
        """Where the agent works."""
        return self.home / "project"

    @property
    def programs(self) -> Path:
        """The folder that is first in PATH."""
        return self.folder / "bin"

    def lay_out(self) -> None:
        """Write every file, link and program."""
        outside = self.folder / "outside"
        for path in [*(self.home / name for name in FILES), *(outside / name for name in OUTSIDE)]:
            path.parent.mkdir(parents=True, exist_ok=True)
            is_skill = path.name == "SKILL.md"
            path.write_text(SKILL.format(name=path.parent.name) if is_skill else "old\n")
        for name, target in LINKS.items():
            (self.folder / name).symlink_to(self.folder / target)
        self.programs.mkdir()
        for name in PROGRAMS:
            program = self.programs / name
            program.write_text("#!/bin/sh\nexit 0\n")
            program.chmod(0o755)

    def fill(self, value: Any) -> Any:
        """Put the real folders where the placeholders are, however deep."""
        return _replaced(value, self._names())

    def blank(self, value: Any) -> Any:
        """Put the placeholders where the real folders are."""
        return _replaced(value, {path: mark for mark, path in self._names().items()})

    def _names(self) -> Mapping[str, str]:
        # The longer path first: the project is in the home.
        return {
            "@project@": str(self.project),
            "@home@": str(self.home),
            "@outside@": str(self.folder / "outside"),
        }


def _replaced(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for old, new in names.items():
            value = value.replace(old, new)
        return value
    if isinstance(value, Mapping):
        return {key: _replaced(item, names) for key, item in value.items()}
    return [_replaced(item, names) for item in value] if isinstance(value, list | tuple) else value
