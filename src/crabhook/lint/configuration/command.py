"""Which script a registered command runs, and where that is."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crabhook.lint.configuration import protocols
from crabhook.lint.configuration.read import Configuration, Handler
from crabhook.lint.script import WAITING, waited

_INTERPRETER = re.compile(r"(?:python(?:\d+(?:\.\d+)?)?|bash|sh|dash|zsh|ksh|node|uv|env)")
_WITH_VALUE = frozenset({"-W", "-X", "-o", "--rcfile", "--init-file"})
_NO_SCRIPT = frozenset({"-c", "-m", "-", "-s"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPERATOR = re.compile(r"[|&;<>()]+")
_PLACEHOLDER = re.compile(r"\$\{?([A-Z_]+)\}?")
_SCRIPT = re.compile(r".*\.(?:py|sh|bash|js|mjs|cjs|ts|rb|pl)")
_STUB = re.compile(r"(?:^|/)crabhook/hook/run\.py$")


@dataclass(frozen=True, slots=True)
class Program:
    """The script that a command runs.

    `written`: its path as it stands there.  `path`: where that is, or None
    where it cannot be known from here.  `direct`: it is started itself, by
    no interpreter.  `relative`: it is looked for from wherever the agent is.
    """

    written: str
    path: Path | None
    direct: bool
    relative: bool


def program(configuration: Configuration, handler: Handler) -> Program | None:
    """Return the script that a handler runs; None where it runs none that is named by a path."""
    found = _script(_started(handler))
    if found is None:
        return None
    written, direct = found
    filled = _filled(written, configuration.path)
    path = _located(filled, configuration.path) if filled is not None else None
    return Program(written, path, direct, relative=not written.startswith(("/", "~", "$")))


def own_wait(handler: Handler) -> tuple[float, str] | None:
    """Return how long a handler's command waits by its own words, in seconds, and by which."""
    words = _started(handler)
    for number, word in enumerate(words):
        name = "crabhook" if _STUB.search(word) else word.rpartition("/")[2]
        if name in WAITING:
            return waited(name, words[number + 1 :])
    return None


def _started(handler: Handler) -> Sequence[str]:
    """Return the words of what a handler starts; none where it starts nothing, or none is known."""
    command, args = handler.command
    if handler.type != "command":
        return ()
    return _words(command) if args is None else [command, *args]


def _words(command: str) -> Sequence[str]:
    """Return the words of a shell line's first command; none where that takes a shell to know."""
    if "$(" in command or "`" in command or "\n" in command.strip():
        return ()
    return next(iter(commands(command)), ())


def commands(line: str) -> Sequence[Sequence[str]]:
    """Return the words of each command of a shell's line; none where a quote is not closed."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    found: list[list[str]] = [[]]
    try:
        for word in lexer:
            if _OPERATOR.fullmatch(word):
                found.append([])
            else:
                found[-1].append(word)
    except ValueError:
        return ()
    return found


def _script(words: Sequence[str]) -> tuple[str, bool] | None:
    """Return the path of the script among these words, and whether it is started itself."""
    rest = list(words)
    while rest and _ASSIGNMENT.match(rest[0]):
        rest.pop(0)
    direct = True
    while rest and _INTERPRETER.fullmatch(rest[0].rpartition("/")[2]):
        uv = rest.pop(0).rpartition("/")[2] == "uv"
        if uv and rest[:1] != ["run"]:
            return None
        rest = rest[1:] if uv else rest
        direct = False
        while rest and (rest[0].startswith("-") or _ASSIGNMENT.match(rest[0])):
            option = rest.pop(0)
            if option in _NO_SCRIPT and not uv:
                return None
            if option in _WITH_VALUE and not uv and rest:
                rest.pop(0)
            if uv and option not in {"--script", "-s", "--quiet", "-q"}:
                return None
    if not rest or not ("/" in rest[0] or _SCRIPT.fullmatch(rest[0])):
        return None
    return (rest[0], direct) if direct is False or "/" in rest[0] else None


def _filled(written: str, configuration: Path) -> str | None:
    """Return a path with its placeholders filled in; None where one is not known."""
    known = _placeholders(configuration)
    if any(name not in known for name in _PLACEHOLDER.findall(written)):
        return None
    filled = _PLACEHOLDER.sub(lambda found: known[found[1]], written)
    if filled.startswith("~/"):
        return str(Path.home() / filled[2:]) if _is_own(configuration) else None
    return None if "$" in filled or filled.startswith("~") or "*" in filled else filled


def _placeholders(configuration: Path) -> Mapping[str, str]:
    project, known = project_of(configuration), {}
    if project is not None and project != Path.home():
        known = {name: str(project) for one in protocols().values() for name in one.variables}
    if configuration.name == "hooks.json":
        parent = configuration.absolute().parent
        known["CLAUDE_PLUGIN_ROOT"] = str(parent.parent if parent.name == "hooks" else parent)
    if _is_own(configuration):
        known["HOME"] = str(Path.home())
    return known


def project_of(configuration: Path) -> Path | None:
    """Return the project that a configuration belongs to: what its agent's folder lies in."""
    parent = configuration.absolute().parent
    folders = {one.folder for one in protocols().values()}
    return parent.parent if parent.name in folders else None


def _is_own(configuration: Path) -> bool:
    """Whether a configuration is of the person who runs the linter: it lies in their home."""
    return configuration.absolute().is_relative_to(Path.home())


def _located(filled: str, configuration: Path) -> Path | None:
    path = Path(filled)
    if path.is_absolute():
        return path
    project = project_of(configuration)
    if project == Path.home():
        return None  # the agent runs it in whatever project it is in
    if project is not None:
        return project / path
    beside = configuration.absolute().parent / path
    return beside if beside.is_file() else None
