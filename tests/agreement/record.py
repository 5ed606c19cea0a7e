"""What was seen of both sides, kept as data: one line a pair, in the order of the groups."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.agreement.pairs import Call, Group

RECORD = Path(__file__).parent / "seen.json"


@dataclass(frozen=True, slots=True)
class Pair:
    """A call under a group's rules, and the two verdicts: allow, deny or ask.

    `input` is what Claude Code's hooks were told, where that is not what its model had sent.
    """

    group: str
    call: str
    claude: str
    ours: str
    input: Mapping[str, Any] | None = None

    @property
    def agrees(self) -> bool:
        """Whether both sides say the same."""
        return self.claude == self.ours

    @property
    def laxer(self) -> bool:
        """Whether we give more than Claude Code does."""
        order = ("allow", "ask", "deny")
        return order.index(self.ours) < order.index(self.claude)


@dataclass(frozen=True)
class Record:
    """Every pair, and the version of Claude Code that was asked."""

    version: str
    pairs: Sequence[Pair]

    def of(self, group: Group, call: Call) -> Pair:
        """Return the pair of a group's call; KeyError where it was never asked."""
        if pair := self._by_name.get((group.title, call.text)):
            return pair
        raise KeyError(f"{group.title}: {call.text}: run `make agreement`")

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], Pair]:
        return {(pair.group, pair.call): pair for pair in self.pairs}


def read_record() -> Record:
    """Return the record as it is kept."""
    kept = json.loads(RECORD.read_text(encoding="utf-8"))
    return Record(kept["version"], tuple(Pair(*row) for row in kept["pairs"]))


def write_record(record: Record) -> None:
    """Keep a record."""
    rows = [
        [one.group, one.call, one.claude, one.ours, *([one.input] if one.input else [])]
        for one in record.pairs
    ]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    text = f'{{"version": {json.dumps(record.version)}, "pairs": [\n{lines}\n]}}\n'
    RECORD.write_text(text, encoding="utf-8")
