"""What a registered handler says: which tools its matcher hits, and which script it runs."""

import re
import shlex
import warnings
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from crabhook.datatypes import frozen
from crabhook.lint.configuration import protocols
from crabhook.lint.configuration.read import Configuration, Handler
from crabhook.lint.script import WAITING, waited
from crabhook.platforms.event_table import Protocol

_INTERPRETER = re.compile(r"(?:python(?:\d+(?:\.\d+)?)?|bash|sh|dash|zsh|ksh|node|uv|env)")
_WITH_VALUE = frozenset({"-W", "-X", "-o", "--rcfile", "--init-file"})
_NO_SCRIPT = frozenset({"-c", "-m", "-", "-s"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPERATOR = re.compile(r"[|&;<>()]+")
_PLACEHOLDER = re.compile(r"\$\{?([A-Z_]+)\}?")
_SCRIPT = re.compile(r".*\.(?:py|sh|bash|js|mjs|cjs|ts|rb|pl)")
_STUB = re.compile(r"(?:^|/)crabhook/hook/run\.py$")


@frozen
class Program:
    """The script that a command runs.

    `written`: its path as written. `path`: its real path, None if unknown here. `direct`: started
    without an interpreter. `relative`: found from the agent's folder.
    """

    written: str
    path: Path | None
    direct: bool
    relative: bool


def program(configuration: Configuration, handler: Handler) -> Program | None:
    """Return the script that a handler runs; None if no path names one."""
    script = _script(_started(handler))
    if script is None:
        return None
    written, direct = script
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
    """Return the words that a handler starts; none if unknown."""
    command, args = handler.command
    if handler.type != "command":
        return ()
    if args is not None:
        return [command, *args]
    if "$(" in command or "`" in command or "\n" in command.strip():
        return ()  # only a shell could tell
    return next(iter(commands(command)), ())


def commands(line: str) -> Sequence[Sequence[str]]:
    """Return the words of each command of a shell's line; none where a quote is not closed."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    parts: list[list[str]] = [[]]
    try:
        for word in lexer:
            if _OPERATOR.fullmatch(word):
                parts.append([])
            else:
                parts[-1].append(word)
    except ValueError:
        return ()
    return parts


def _script(words: Sequence[str]) -> tuple[str, bool] | None:
    """Return the script's path among these words, and whether it starts directly."""
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
    """Return a path with its placeholders filled; None if one is unknown."""
    placeholders = _placeholders(configuration)
    if any(name not in placeholders for name in _PLACEHOLDER.findall(written)):
        return None
    filled = _PLACEHOLDER.sub(lambda match: placeholders[match[1]], written)
    if filled.startswith("~/"):
        return str(Path.home() / filled[2:]) if _is_own(configuration) else None
    return None if "$" in filled or filled.startswith("~") or "*" in filled else filled


def _placeholders(configuration: Path) -> Mapping[str, str]:
    project, placeholders = project_of(configuration), {}
    if project is not None and project != Path.home():
        placeholders = {
            name: str(project) for protocol in protocols().values() for name in protocol.variables
        }
    if configuration.name == "hooks.json":
        parent = configuration.absolute().parent
        placeholders["CLAUDE_PLUGIN_ROOT"] = str(
            parent.parent if parent.name == "hooks" else parent
        )
    if _is_own(configuration):
        placeholders["HOME"] = str(Path.home())
    return placeholders


def project_of(configuration: Path) -> Path | None:
    """Return the project that a configuration belongs to: what its agent's folder lies in."""
    parent = configuration.absolute().parent
    folders = {protocol.folder for protocol in protocols().values()}
    if parent.name == "hooks" and parent.parent.name in (*folders, ".github"):  # as Copilot has it
        return parent.parent.parent
    return parent.parent if parent.name in folders else None


def _is_own(configuration: Path) -> bool:
    """Whether the configuration belongs to the linter's user: it is in their home."""
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


MAX_MATCHER = 2000  # characters; longer ones are not judged

_SERVER = re.compile(r"mcp__(?!.*__)[A-Za-z0-9_.-]+")
_FAULTS = ("nothing to repeat", "missing )", "unterminated", "unbalanced", "bad escape (end")
_REPEATS = re.compile(r"[*+{]")
_REPEATED_GROUP = re.compile(r"\)\s*[*+{]")
MAX_REPEATS = 4  # more, or a group that is repeated, may take for ever to try
_JS_GROUP = re.compile(r"\(\?<(?![=!])")


@frozen
class Matcher:
    """One matcher of tools' names; without `names` and `pattern` it matches all.

    `names` is None for a regular expression.
    """

    names: frozenset[str] | None = None
    pattern: re.Pattern[str] | None = None

    def hits(self, name: str) -> bool:
        """Whether it hits the tool of that name."""
        if self.names is not None:
            return name in self.names
        return self.pattern is None or self.pattern.search(name) is not None


class BrokenMatcherError(Exception):
    """A matcher is no regular expression; the message says why."""


def read_matcher(text: str | None, protocol: Protocol) -> Matcher | None:
    """Return what a matcher matches; None if unknown. Raises BrokenMatcherError."""
    if text is None or text in {"", "*"}:
        return Matcher()
    if len(text) > MAX_MATCHER:
        return None
    if protocol.names is not None and written_in(text, protocol.names):
        return Matcher(frozenset(names(text)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the pattern's own making
            pattern = re.compile(_JS_GROUP.sub("(?P<", text))
    except re.error as error:
        # What Python refuses, JavaScript may know: only what both refuse is certain.
        certain = any(fault in str(error) for fault in _FAULTS) and "[]" not in text
        if certain and "[^]" not in text:
            raise BrokenMatcherError(str(error)) from error
        return None
    except (RecursionError, OverflowError):
        return None
    slow = len(_REPEATS.findall(text)) > MAX_REPEATS or _REPEATED_GROUP.search(text)
    return None if slow else Matcher(pattern=pattern)


def written_in(text: str, others: str) -> bool:
    """Whether a text has no letters but those of English words, digits and the `others`."""
    return all(letter.isascii() and (letter.isalnum() or letter in others) for letter in text)


def names(text: str) -> list[str]:
    """Return the names in an exact matcher."""
    return [name for part in re.split(r"[|,]", text) if (name := part.strip())]


def misses(name: str, protocol: Protocol) -> str | None:
    """Return why a name surely matches no tool, and what would; None if it may."""
    if name in protocol.tools:
        return None
    if protocol.mcp.startswith("mcp__") and _SERVER.fullmatch(name):
        goes_on = f"{name} hits no tool, since a tool's name goes on"
        return f"{goes_on}: {name}__.* hits all of the server's"
    if name in protocol.elsewhere:
        return f"{protocol.title} has no {name}: what it has is called {protocol.elsewhere[name]}"
    near = None if name.startswith("mcp_") else near_name(name, protocol.tools)
    return f"{protocol.title} has no {name}, did you mean {near}?" if near else None


def listed(names_of: Iterable[str]) -> str:
    """Return names in one line, for a person."""
    return ", ".join(sorted(names_of))


def near_name(name: str, right_names: frozenset[str]) -> str | None:
    """Return the known name that a wrong name was most likely meant to be."""
    same = [right for right in sorted(right_names) if right.lower() == name.lower()]
    return next(iter(same or get_close_matches(name, sorted(right_names), 1, 0.8)), None)


def overlap(matcher: Matcher, other: Matcher, protocol: Protocol) -> bool:
    """Whether two matchers surely hit the same tool."""
    if matcher == other or Matcher() in (matcher, other):
        return True
    named = {*(matcher.names or ()), *(other.names or ()), *protocol.tools}
    return any(matcher.hits(name) and other.hits(name) for name in named)
