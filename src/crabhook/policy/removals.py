"""Removals that no rule allows: of the home, the project, the system, or of all that is in them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from posixpath import basename, dirname

from crabhook.policy.named import expand_home
from crabhook.policy.paths import is_within, place
from crabhook.policy.shell.script import Command, Word
from crabhook.policy.shell.wrappers import unwrapped
from crabhook.policy.surroundings import Surroundings

_REMOVERS = frozenset({"rm", "rmdir"})
_EVERYTHING = re.compile(r"[*?.\[\]!^{},]*[*?\[][*?.\[\]!^{},]*")  # `*`, `.*`, `{*,.*}`
_BEGINS_UNKNOWN = re.compile(r"[\"']?\$(?!HOME\b|\{HOME\}|PWD\b|\{PWD\})[^/]*/[*.\"'/]*")
"""`"$X"/` and `$X/*`: all of the system where the variable is empty."""


def removal_trouble(
    commands: Iterable[Command], folders: Sequence[str], surroundings: Surroundings
) -> str:
    """Return why no rule may allow the line, if one of its commands removes too much."""
    for command in commands:
        words = unwrapped(command)[-1] if command.words else ()
        optioned = any(word.text.startswith("-") for word in words[1:])
        if command.hidden and not optioned:
            continue  # as `find -delete` removes: not what it is given
        if words and basename(words[0].text) in _REMOVERS:
            for word in words[1:]:
                if _BEGINS_UNKNOWN.fullmatch(word.raw):
                    return f"what {command.source} removes is only known when it runs"
                if any(_is_critical(name, folders, surroundings) for name in _targets(word)):
                    return f"it removes {word.raw}, which is too much to allow by rule"
    return ""


def _targets(word: Word) -> Iterator[str]:
    """Yield what a word may name; of wildcards that mean all of a folder, the folder."""
    for text in (*word.values, *word.parts):
        whole = text.rstrip("/") or text[:1]
        above, last = dirname(whole), basename(whole)
        everything = (word.glob or word.parts) and _EVERYTHING.fullmatch(last)
        yield (above or ".") if everything else whole


def _is_critical(name: str, folders: Sequence[str], surroundings: Surroundings) -> bool:
    if not name or "\0" in name or len(name) > 4096:
        return False
    home, project = surroundings.home, surroundings.project
    path = expand_home(name, home)
    for folder in folders:
        for where in place(path, folder, surroundings).both:
            kept = (home, project, folders[0])
            if dirname(where) == "/" or any(is_within(one, where) for one in kept):
                return True
    return False
