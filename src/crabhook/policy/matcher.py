"""What one matcher of a rule matches, and its text.

`covers` serves allows: every part of a call must be covered. `hits` serves denials and questions:
one hit is enough. The text is Claude Code's permission syntax, `Tool` or `Tool(specifier)` (the
hook protocol's section 10).
"""

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.policy.calls import parts
from crabhook.policy.calls.parts import CommandPart, FilePart, NamePart, Part, Use
from crabhook.policy.command_pattern import CommandPattern, Wildcard, command_pattern, parse
from crabhook.policy.context import WILDCARDS
from crabhook.policy.paths import (
    Bases,
    PathPattern,
    PathSet,
    certain_parts,
    is_within,
    path_pattern,
)
from crabhook.policy.shell.programs import PRINTERS


@frozen
class ToolMatcher:
    """A tool as a whole, `Bash` or `mcp__server__*`."""

    name: Wildcard

    def covers(self, part: Part, _bases: Bases) -> bool:
        """Whether the part is the tool's own, and in no way that needs an exact rule."""
        if isinstance(part, CommandPart) and all(
            reading.exact and not reading.reads for reading in part.readings
        ):
            return False
        if isinstance(part, FilePart):
            return bool(part.places or part.by or part.made) and self._names(part.own)
        return self._names(part.tools)

    def hits(self, part: Part, _bases: Bases) -> bool:
        """Whether the part is the tool's own, or a write where the tool is Read."""
        writes = isinstance(part, FilePart) and part.use is Use.WRITE
        return self._names(part.tools) or (writes and self._names(_READ))

    def _names(self, tools: frozenset[str]) -> bool:
        if self.name.exact:
            return self.name.parts[0] in tools
        return any(map(self.name.matches, tools))


_READ = frozenset({"Read"})


@frozen
class CommandMatcher:
    """Shell commands, `Bash(npm run *)`."""

    pattern: CommandPattern

    def covers(self, part: Part, _bases: Bases) -> bool:
        """Whether one reading of the command fits; for a file it names, without a star."""
        if isinstance(part, FilePart):
            return part.by is not None and self.pattern.exact and self.covers(part.by, _bases)
        return isinstance(part, CommandPart) and any(map(self.pattern.covers, part.readings))

    def hits(self, part: Part, _bases: Bases) -> bool:
        """Whether any spelling of the command fits."""
        return isinstance(part, CommandPart) and any(map(self.pattern.hits_text, part.lines))


@frozen
class PathMatcher:
    """Files read, `Read(~/secrets/**)`, or written, `Edit(/src/**)`."""

    writes: bool
    pattern: PathPattern
    alone: PathSet

    def covers(self, part: Part, bases: Bases) -> bool:
        """Whether the pattern matches the file, wherever its name may lead."""
        use = Use.WRITE if self.writes else Use.READ
        if not isinstance(part, FilePart) or part.use is not use or part.glob:
            return False
        return bool(part.places) and all(self.pattern.covers(place, bases) for place in part.places)

    def hits(self, part: Part, bases: Bases) -> bool:
        """Whether the pattern may match the file.

        A rule on reading stops writing too. A file that a program is only given counts if the
        program is known to open or change it.
        """
        return (
            isinstance(part, FilePart)
            and self._concerns(part)
            and file_hit(self.alone, part, bases)
        )

    def may_hit(self, part: FilePart, bases: Bases) -> bool:
        """Whether the pattern may mean a file that only the running line knows."""
        return self._concerns(part) and may_be_meant(self.alone, part, bases)

    def _concerns(self, part: FilePart) -> bool:
        if part.program:
            return part.writes if self.writes else part.program not in PRINTERS
        return part.use is Use.WRITE or not self.writes


def may_be_meant(patterns: PathSet, part: FilePart, bases: Bases) -> bool:
    """Whether one of the patterns may mean a file of a part without a name of its own.

    A computed name may be any file. A repository holds what is in its folder, and what it is in.
    """
    if part.computed:
        return bool(patterns.patterns)
    folders = [name for place in part.places for name in place.both]
    named = [
        f"{base}/{'/'.join(certain_parts(pattern.pattern.strip('/')))}"
        for pattern in patterns.patterns
        if not pattern.loose
        for base in bases.of(pattern.anchor, pattern.up)
    ]
    return any(is_within(base, two) or is_within(two, base) for base in named for two in folders)


def file_hit(patterns: PathSet, part: FilePart, bases: Bases) -> bool:
    """Whether one of the patterns may mean the file, in one of its places."""
    if any(patterns.hits(place, bases) for place in part.places):
        return True
    return part.glob and any(
        may_become(place.named, pattern, bases)
        for place in part.places
        for pattern in patterns.patterns
    )


def may_become(glob: str, pattern: PathPattern, bases: Bases) -> bool:
    """Whether a name with wildcards may become a file that the pattern names without wildcards.

    A part of wildcards alone names nothing.
    """
    fixed, anywhere = _fixed(pattern)
    if not fixed:
        return False
    globs = glob.strip("/").split("/")
    if anywhere:
        return any(_fits(globs[at:], fixed) for at in range(len(globs) - len(fixed) + 1))
    return any(
        _fits(globs, [part for part in [*folder.split("/"), *fixed] if part])
        for folder in bases.of(pattern.anchor, pattern.up)
    )


@lru_cache(maxsize=4096)
def _fixed(pattern: PathPattern) -> tuple[list[str], bool]:
    """Return a pattern's parts, none if it has wildcards, and whether any depth matches."""
    text, anywhere = pattern.pattern.removesuffix("/**").strip("/"), pattern.loose
    while text.startswith("**/"):  # as a name alone is
        text, anywhere = text[3:], True
    return [] if not WILDCARDS.isdisjoint(text) else text.split("/"), anywhere


def _fits(globs: list[str], names: list[str]) -> bool:
    if len(globs) < len(names):
        return False
    # Most names differ, or begin with a dot: that is told before wildcards are looked at.
    return all(
        glob.strip("*?") and (name[:1] != "." or glob[0] == ".") and fnmatchcase(name, glob)
        for name, glob in zip(names, globs, strict=False)
    )


@frozen
class DomainMatcher:
    """Hosts, `WebFetch(domain:*.example.com)`; a star stays between dots."""

    labels: tuple[Wildcard, ...]

    def covers(self, part: Part, _bases: Bases) -> bool:
        """Whether the pattern matches the host."""
        if not isinstance(part, parts.FetchPart):
            return False
        labels = part.host.split(".")
        if self.labels[0].parts == ("", "") and len(labels) > len(self.labels):
            labels = labels[len(labels) - len(self.labels) :]
        return len(labels) == len(self.labels) and all(
            bool(label) and wildcard.matches(label)
            for label, wildcard in zip(labels, self.labels, strict=True)
        )

    hits = covers


@frozen
class NameMatcher:
    """Agents and skills by name, `Agent(Explore)`, `Skill(review *)`."""

    tool: str
    pattern: CommandPattern

    def covers(self, part: Part, _bases: Bases) -> bool:
        """Whether the name, with the arguments, fits."""
        named = isinstance(part, NamePart) and self.tool in part.tools
        return named and self.pattern.hits_text(part.text)

    def hits(self, part: Part, bases: Bases) -> bool:
        """Whether the name fits, with any arguments."""
        if not isinstance(part, NamePart):
            return False
        alone = NamePart(part.name, part.name, part.tools)
        return self.covers(part, bases) or self.covers(alone, bases)


@frozen
class InputMatcher:
    """One scalar input of a tool, `Agent(model:opus)`; it never covers anything."""

    tool: Wildcard
    key: str
    value: Wildcard

    def covers(self, _part: Part, _bases: Bases) -> bool:
        """Whether it allows anything: no."""
        return False

    def hits(self, part: Part, _bases: Bases) -> bool:
        """Whether the tool has the input with the value."""
        if not isinstance(part, parts.ToolPart) or not any(map(self.tool.matches, part.tools)):
            return False
        value = part.inputs.get(self.key)
        if isinstance(value, bool):
            return self.value.matches(str(value).lower())
        return value is not None and self.value.matches(str(value))


Matcher: TypeAlias = (
    ToolMatcher | CommandMatcher | PathMatcher | DomainMatcher | NameMatcher | InputMatcher
)


_RULE = re.compile(r"(?P<tool>[\w*.:-]+)(?:\((?P<specifier>.*)\))?", re.DOTALL)
_INPUT = re.compile(r"(?P<key>[A-Za-z_]\w*):(?P<value>.+)", re.DOTALL)
_MCP_PREFIX = re.compile(r"mcp__[\w.-]*[\w.-]__[^*]*\*+")
_UNCONSULTED = {"Write": "Edit", "MultiEdit": "Edit", "NotebookEdit": "Edit"}
_UNCONSULTED |= {"Glob": "Read", "Grep": "Read", "NotebookRead": "Read", "LS": "Read"}
_WHOLE = frozenset({"WebSearch"})


def parse_matcher(text: str, *, restricts: bool) -> Matcher:
    """Return the matcher that `text` writes.

    `restricts`: its rule denies or asks, and may use more forms. Raises ValueError, in words for a
    person, for what Claude Code would ignore or we cannot read.
    """
    if any(not letter.isprintable() for letter in text):
        raise ValueError("holds a character that cannot be seen")
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise ValueError("is not of the form Tool or Tool(specifier)")
    tool, specifier = parts.canonical(match["tool"]), match["specifier"]
    if specifier is None or specifier.strip() in {"", "*"}:
        return _whole_tool(tool, restricts=restricts)
    if "*" in tool:
        if restricts and (named_input := _INPUT.fullmatch(specifier)):
            return InputMatcher(parse(tool), named_input["key"], parse(named_input["value"]))
        raise ValueError("has a star in the tool's name and a specifier")
    return _specified(tool, specifier.strip(), restricts=restricts)


def _whole_tool(tool: str, *, restricts: bool) -> Matcher:
    if "*" in tool and not restricts and not _MCP_PREFIX.fullmatch(tool):
        raise ValueError(
            "allows by a star in the tool's name, which only mcp__SERVER__… may have. "
            "Name each of the tools"
        )
    if re.fullmatch(r"mcp__(?:(?!__)[\w.-])+", tool):
        return ToolMatcher(Wildcard((f"{tool}__", "")))  # a server alone is all its tools
    return ToolMatcher(parse(tool))


def _specified(tool: str, specifier: str, *, restricts: bool) -> Matcher:
    if tool == "Bash":
        return CommandMatcher(command_pattern(specifier))
    if tool in {"Read", "Edit"}:
        pattern = path_pattern(specifier)
        return PathMatcher(tool == "Edit", pattern, PathSet((pattern,)))
    if tool == "WebFetch" and specifier.startswith("domain:"):
        host = specifier.removeprefix("domain:").strip().lower()
        if not re.fullmatch(r"[a-z0-9*.:\[\]-]+", host):
            raise ValueError("names no host")
        return DomainMatcher(tuple(map(parse, host.rstrip(".").split("."))))
    named_input = _INPUT.fullmatch(specifier)
    if (
        restricts
        and named_input
        and named_input["key"] not in parts.PRIMARY_KEYS
        and specifier[-2:] != ":*"
    ):
        return InputMatcher(parse(tool), named_input["key"], parse(named_input["value"].strip()))
    if tool in {"Agent", "Skill"}:
        return NameMatcher(tool, command_pattern(specifier))
    raise ValueError(_refusal(tool, has_input=named_input is not None))


def _refusal(tool: str, *, has_input: bool) -> str:
    if tool in _UNCONSULTED:
        other = _UNCONSULTED[tool]
        return f"would never be consulted: path rules for {tool} are written {other}(…)"
    if tool == "WebFetch":
        return "must be written WebFetch(domain:…)"
    if tool in _WHOLE:
        return f"has a specifier, but {tool} is allowed or denied as a whole"
    if has_input:
        return "matches an input, which only rules that deny or ask may do"
    return f"has a specifier that {tool} does not have"
