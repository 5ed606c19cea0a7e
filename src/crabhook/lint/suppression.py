"""`# crabhook: ignore[CH003] why`: a person has looked at a line, and it is as it should be."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_COMMENT = re.compile(r"#\s*crabhook:\s*ignore\[(?P<ids>[^\]]*)\](?P<reason>.*)")


@dataclass(frozen=True, slots=True)
class Suppression:
    """The rules that a line is excused from, and whether it says why: else it does not count."""

    rules: frozenset[str]
    column: int
    reasoned: bool


def suppressions(text: str) -> Mapping[int, Suppression]:
    """Return the suppressions in a text, by line from 1."""
    found: dict[int, Suppression] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if "crabhook:" in line and (match := _COMMENT.search(line)):
            ids = frozenset(one.strip() for one in match["ids"].split(","))
            found[number] = Suppression(ids, match.start() + 1, bool(match["reason"].strip()))
    return found
