"""Secrets known by what stands before them: headers, flags, addresses, key blocks, assignments.

A quoted value is a secret up to its closing quote, blanks and all.  What stands
there may be a mere reference (`assigned.is_reference`), and is then no secret.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from crabhook.secrets.assigned import assigned_in, is_reference
from crabhook.secrets.spans import Span, lowered, places
from crabhook.tables import tables

PRIVATE_KEY = "private-key"

_TO_COMMAND_END = re.compile(r"[^\n|;&]{0,300}")


def _value(bare: str = r"[^\s\"']", most: int = 400) -> str:
    """Return the pattern of a value: quoted, up to the same quote, or a run of `bare` letters."""
    closed = rf"(?P<quote>[\"'])(?!\s)(?=[^\r\n]{{1,{most}}}?(?P=quote))"
    inside = r"(?!(?P=quote))[^\r\n]"
    return rf"(?:{closed}|[\"']?)(?P<secret>(?(quote)(?:{inside})|{bare}){{1,{most}}})"


class Context:
    """Where secrets of a kind stand: a row of `context` in `kinds.toml`.

    To look for its `starts` first is what makes ordinary text cheap.
    """

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.kind: str = row["kind"]
        self.starts: list[str] = row["starts"].split()
        secret = f"(?P<secret>{row['secret']})" if "secret" in row else ""
        value = secret or _value(row["bare"], row["most"])
        pattern = row.get("before", "") + value + row.get("after", "")
        self._pattern = re.compile(pattern, 0 if row.get("exact") else re.IGNORECASE)

    def found_in(self, text: str, lower: str, start: str) -> Iterator[Span]:
        """Return the secrets in `text` after `start`; `lower` is the same in lower case."""
        end = 0
        for place in places(lower, start):
            if place >= end and (found := self._pattern.match(text, place)):
                end = found.end()
                if self.kind == PRIVATE_KEY or not is_reference(found["secret"]):
                    yield Span(*found.span("secret"), self.kind)


class Option:
    """An option of some programs that takes a secret: a row of `option`."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.kind: str = row["kind"]
        self.starts: list[str] = row["starts"].split()
        self._program = re.compile(rf"\b(?:{row['program']})\s")
        self._option = re.compile(rf"(?<=\s)(?:{row['option']})")
        self._value = re.compile(row.get("value", _value()))

    def found_in(self, text: str, lower: str, start: str) -> Iterator[Span]:
        """Return the secrets in `text` after a program whose name begins with `start`."""
        end = 0
        for place in places(lower, start):
            if place < end or not (program := self._program.match(text, place)):
                continue
            behind = program.end() - 1
            end = (_TO_COMMAND_END.match(text, behind) or program).end()
            for option in self._option.finditer(text, behind, end):
                found = self._value.match(text, option.end())
                if found and not is_reference(found["secret"]):
                    yield Span(*found.span("secret"), self.kind)


_KINDS = tables(__file__, "kinds")
_ALL: tuple[Context | Option, ...] = (
    *map(Context, _KINDS["context"]),
    *map(Option, _KINDS["option"]),
)
_BY_START = tuple((start, one) for one in _ALL for start in one.starts)


def secrets_in(text: str) -> Iterator[Span]:
    """Return where in `text` a secret is known by its context."""
    lower = lowered(text)
    for start, one in _BY_START:
        if start in lower:
            yield from one.found_in(text, lower, start)
    yield from assigned_in(text, lower)
