"""Secrets known by what precedes them: headers, flags, addresses, key blocks, assignments.

A quoted value is a secret up to its closing quote. A mere reference (`$TOKEN`,
`os.environ["TOKEN"]`, `<your token>`) is none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from crabhook.tables import tables


class Span(NamedTuple):
    """Where a secret is: from, up to, and its kind; its first `shown` letters are public."""

    start: int
    stop: int
    kind: str
    shown: int = 0


def lowered(text: str) -> str:
    """Return `text` in lower case, every character in its own place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def places(text: str, word: str) -> Iterator[int]:
    """Return every place of `word` in `text`."""
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def united(spans: list[Span]) -> Iterator[Span]:
    """Return the spans in order, overlapping ones as one, of the kind listed first."""
    joined: list[tuple[int, int, int, str]] = []
    for start, stop, rank, kind in sorted(
        (span.start, span.stop, rank, span.kind) for rank, span in enumerate(spans)
    ):
        if joined and start < joined[-1][1]:
            before = joined.pop()
            best = min(before[2:], (rank, kind))
            joined.append((before[0], max(before[1], stop), *best))
        else:
            joined.append((start, stop, rank, kind))
    return (Span(start, stop, kind) for start, stop, _, kind in joined)


PRIVATE_KEY = "private-key"

_KINDS = tables(__file__, "kinds")
_REFERENCES = _KINDS["references"]
_BEFORE_KEY = "|".join(f"(?<={word})|(?<={word}[_-])" for word in _REFERENCES["keys"].split())

# What a name contains, and how it must continue (and what must precede it).
_CORES = ("pass", "pwd", "secret", "token", "key", "auth", "signature")
_NAME = (
    r"(?:pass(?:word|wd|phrase|code|wort)|(?<=[_-])pass|(?<=[_-])pwd|secret|token"
    rf"|(?:{_BEFORE_KEY})key|authtoken|(?<![a-z])(?<=_)auth|(?<=access)signature)"
)
_SUFFIX = r"(?:[_-](?:b64|base64|value|dev|prod|production|staging|test|live|old|new|\d+)|\d{1,2})?"
_ENDING = re.compile(_NAME + _SUFFIX)

_QUOTED = re.compile(
    r"\\?[\"']?\]?\s{0,8}(?:=>|:=|=|:)\s{0,8}(?P<quote>\\?[\"'`])"
    r"(?P<secret>(?:(?!(?P=quote))[^\n]){1,4096})(?P=quote)"
)
_BARE = re.compile(r"(?:=|:(?=\S))(?P<secret>[^\s\"'`;,&|)}\]<>\\]+)")
_TO_LINE_END = re.compile(
    r"[\"']?[ \t]{0,8}(?:=|:)[ \t]{1,8}(?P<secret>[^\s\"'#]+),?[ \t]*(?:#[^\n]*)?$", re.MULTILINE
)
_LINE_SO_FAR = re.compile(r"[ \t>|+-]{0,40}(?:(?:export|set|-)\s{1,4})?[\"']?[\w.-]{0,80}")

# Any environment variable that ends in KEY, save public ones.
_VARIABLE = re.compile(r"(?<!PUBLIC_)(?<![a-z])KEY=[\"']?(?P<secret>[^\s\"'`;,&|)}\]<>\\]{8,})")

# A shell's variable whose value is quoted, however long, with blanks and quotes in it.
_SHELL_VALUE = (
    r"=\$?(?:\"(?P<double>(?:\\.|[^\"\\]){1,4096})(?:\"|\Z)|'(?P<single>[^']{1,4096})(?:'|\Z)"
    r"|(?P<bare>(?:[^\s\"'`;&|<>()\\$]|\\.){1,4096}))"
)
_SHELL = tuple(
    (name, re.compile(f"{before}{name}{_SHELL_VALUE}", re.DOTALL))
    for before, names in _KINDS["shell_variables"].items()
    for name in names.split()
)
_TO_FILL_IN = re.compile(
    r"[$<{%].*|(?:your|insert|enter|change|replace|add|put|some|fake|dummy|example)[-_ ].*",
    re.IGNORECASE | re.DOTALL,
)


def assigned_in(text: str, lower: str) -> Iterator[Span]:
    """Return the secrets that are assigned to something named as one; `lower`: in lower case."""
    for core in _CORES:
        if core not in lower:
            continue
        for place in places(lower, core):
            if (name := _ENDING.match(lower, place)) and (span := _assigned(text, name)):
                yield Span(*span, "assigned")
    for shell_name, shell in _SHELL:
        for place in places(text, f"{shell_name}="):
            if (found := shell.match(text, place)) and not _is_to_fill_in(found):
                yield Span(*found.span(found.lastgroup or 0), "assigned")
    for place in places(text, "KEY="):
        if (found := _VARIABLE.match(text, place)) and not is_reference(found["secret"]):
            yield Span(*found.span("secret"), "assigned")


def _is_to_fill_in(found: re.Match[str]) -> bool:
    """Whether a shell's value is a reference, or a hint for the person who fills it in."""
    value = found[found.lastgroup or 0]
    if found["bare"] is not None and "\\" not in value:
        return True  # another check below decides this
    words = len(value.split()) > 1
    return _TO_FILL_IN.fullmatch(value) is not None if words else is_reference(value)


def _assigned(text: str, name: re.Match[str]) -> tuple[int, int] | None:
    end = name.end()
    found = _QUOTED.match(text, end) or _BARE.match(text, end)
    if not found and _begins_its_line(text, name.start()):
        found = _TO_LINE_END.match(text, end)
    return found.span("secret") if found and not is_reference(found["secret"]) else None


def _begins_its_line(text: str, place: int) -> bool:
    """Whether a setting's name, and not prose, ends at `place`."""
    begun = text.rfind("\n", max(0, place - 200), place) + 1
    return _LINE_SO_FAR.fullmatch(text, begun, place) is not None


# Names of JSON fields whose value, whatever it looks like, is a secret.
_FIELD = re.compile(
    rf"[\w.-]*?{_NAME}{_SUFFIX}|.*\bpass(?:word|phrase)\b.*|pwd|pass|authorization|(?:set-)?cookie",
    re.DOTALL,
)


@lru_cache(maxsize=4096)
def names_a_secret(field: str) -> bool:
    """Whether a field of this name holds a secret."""
    return len(field) <= 200 and _FIELD.fullmatch(field.lower()) is not None


_REFERENCE = re.compile("|".join(_REFERENCES["patterns"]), re.IGNORECASE | re.DOTALL)
_PATH = re.compile(r"(?:~|\.{1,2})?(?:/[\w.@+-]+)+/?")
_IDENTIFIER = re.compile(r"(?:[a-z]+|[A-Z]+)(?:_[a-zA-Z]+)+|[a-z]+(?:[A-Z][a-z]+)+|[A-Za-z_]+::\w+")


def is_reference(value: str) -> bool:
    """Whether a value only says where the secret is to come from, or is no value at all."""
    bare = value.strip().rstrip(",;")
    if not bare or _REFERENCE.fullmatch(bare):
        return True
    return bool(_PATH.fullmatch(bare) and len(bare) < 200) or bool(_IDENTIFIER.fullmatch(bare))


_TO_COMMAND_END = re.compile(r"[^\n|;&]{0,300}")


def _value(bare: str = r"[^\s\"']", most: int = 400) -> str:
    """Return the pattern of a value: quoted, up to the same quote, or a run of `bare` letters."""
    closed = rf"(?P<quote>[\"'])(?!\s)(?=[^\r\n]{{1,{most}}}?(?P=quote))"
    inside = r"(?!(?P=quote))[^\r\n]"
    return rf"(?:{closed}|[\"']?)(?P<secret>(?(quote)(?:{inside})|{bare}){{1,{most}}})"


class Context:
    """Where secrets of a kind occur: a row of `context` or `option` in `kinds.toml`.

    Searching for its `starts` first makes ordinary text cheap.
    """

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.kind: str = row["kind"]
        self.starts: list[str] = row["starts"].split()
        self._row = row

    # Compiled at the first need: most texts have none of the starts, and the server starts sooner.

    @cached_property
    def _begins(self) -> re.Pattern[str]:
        row = self._row
        if "option" in row:
            return re.compile(rf"\b(?:{row['program']})\s")
        secret = f"(?P<secret>{row['secret']})" if "secret" in row else ""
        value = secret or _value(row["bare"], row["most"])
        pattern = row.get("before", "") + value + row.get("after", "")
        return re.compile(pattern, 0 if row.get("exact") else re.IGNORECASE)

    @cached_property
    def _option(self) -> re.Pattern[str] | None:
        option = self._row.get("option")
        return re.compile(rf"(?<=\s)(?:{option})") if option else None

    @cached_property
    def _value(self) -> re.Pattern[str]:
        return re.compile(self._row.get("value", _value()))

    def found_in(self, text: str, lower: str, start: str) -> Iterator[Span]:
        """Return the secrets in `text` after `start`; `lower` is the same in lower case."""
        end = 0
        for place in places(lower, start):
            if place < end or not (begun := self._begins.match(text, place)):
                continue
            found: Iterable[re.Match[str] | None] = (begun,)
            end = begun.end()
            if self._option:
                behind = end - 1
                end = (_TO_COMMAND_END.match(text, behind) or begun).end()
                options = self._option.finditer(text, behind, end)
                found = (self._value.match(text, option.end()) for option in options)
            for one in filter(None, found):
                if self.kind == PRIVATE_KEY or not is_reference(one["secret"]):
                    yield Span(*one.span("secret"), self.kind)


_BY_START = tuple(
    (start, one)
    for one in map(Context, (*_KINDS["context"], *_KINDS["option"]))
    for start in one.starts
)


def secrets_in(text: str) -> Iterator[Span]:
    """Return the secrets in `text` that their context reveals."""
    lower = lowered(text)
    for start, one in _BY_START:
        if start in lower:
            yield from one.found_in(text, lower, start)
    yield from assigned_in(text, lower)
