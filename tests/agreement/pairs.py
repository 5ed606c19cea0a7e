"""What is compared: groups of rules, each with calls that are put to both sides.

    [[group]]
    title = "exact"
    allow = ["Bash(npm run build)"]          # and deny, ask: as in Claude Code's settings
    calls = [
      "npm run build",                       # a shell line
      { read = "@project@/a.md" },           # write, edit, fetch, search, agent, skill
      { tool = "mcp__notes__get", input = { name = "x" } },
      { run = "ls", differs = "read-only commands" },
    ]

`@project@`, `@home@` and `@outside@` are folders of the run. `differs` names the class of
disagreement (docs/reference/rules.md explains each) for a pair whose two verdicts are not the same.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "groups"
SENTENCES = ("deny", "ask", "allow")

_TOOLS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "run": ("Bash", "command", {"description": "Run a command"}),
    "read": ("Read", "file_path", {}),
    "write": ("Write", "file_path", {"content": "x\n"}),
    "edit": ("Edit", "file_path", {"old_string": "old", "new_string": "new"}),
    "fetch": ("WebFetch", "url", {"prompt": "what is there?"}),
    "search": ("WebSearch", "query", {}),
    "agent": ("Agent", "subagent_type", {"description": "look", "prompt": "look around"}),
    "skill": ("Skill", "skill", {}),
}
"""The short word for a tool -> its name, the input that the word's text is, the other inputs."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool; its input may hold the folders' placeholders."""

    tool: str
    input: Mapping[str, Any]
    differs: str = ""

    @property
    def text(self) -> str:
        """The call for a person: the shell line, or the tool with the input that matters."""
        if self.tool == "Bash":
            return str(self.input["command"])
        told = {key: value for key, value in self.input.items() if value not in _USUAL}
        values = (
            str(value) if key in _PRIMARY else f"{key}={value}" for key, value in told.items()
        )
        return f"{self.tool}({', '.join(values)})"


_PRIMARY = frozenset(key for _, key, _ in _TOOLS.values())
_USUAL = [value for _, _, more in _TOOLS.values() for value in more.values()]


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that hold together, and the calls that are judged by them.

    `rules` are by sentence: deny, ask, allow. `of_project`: they stand in the project's settings and
    not in the user's.
    """

    title: str
    rules: Mapping[str, Sequence[str]]
    calls: Sequence[Call]
    of_project: bool = False


def _call(given: str | Mapping[str, Any]) -> Call:
    table = {"run": given} if isinstance(given, str) else dict(given)
    differs = table.pop("differs", "")
    if "tool" in table:
        return Call(table["tool"], table.get("input", {}), differs)
    word = next(iter(table))
    tool, key, more = _TOOLS[word]
    return Call(tool, {key: table.pop(word), **more, **table}, differs)


def _group(table: Mapping[str, Any]) -> Group:
    rules = {sentence: tuple(table.get(sentence, ())) for sentence in SENTENCES}
    calls = tuple(map(_call, table["calls"]))
    return Group(table["title"], rules, calls, table.get("of_project", False))


def _read() -> Iterator[Group]:
    for file in sorted(FOLDER.glob("*.toml")):
        yield from map(_group, tomllib.loads(file.read_text(encoding="utf-8"))["group"])


@cache
def all_groups() -> Sequence[Group]:
    """Every group of every file, in order."""
    groups = tuple(_read())
    titles = [group.title for group in groups]
    assert len(set(titles)) == len(titles), "two groups of one title"
    for group in groups:
        texts = [call.text for call in group.calls]
        twice = {text for text in texts if texts.count(text) > 1}
        assert not twice, f"{group.title}: {twice}"
    return groups
