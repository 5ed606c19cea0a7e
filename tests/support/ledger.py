"""What the record says in the end, and the laws it has to keep whatever was killed."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from typing import TYPE_CHECKING, Any

from crabhook.store.opening import open_history
from crabhook.store.record import Record, RecordKind
from crabhook.store.verify import verify

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tests.support.fleet import Ends


class Ledger:
    """The record in a state folder, read once."""

    def __init__(self, folder: Path) -> None:
        with open_history(folder) as history:
            kept = history.kept_head()
            self.records = list(history.find())
            self.verified = verify(history, [kept] if kept else [])
        with closing(sqlite3.connect(f"file:{folder}/record.db?mode=ro", uri=True)) as database:
            self.waiting = database.execute("SELECT request_id, card FROM waiting").fetchall()
            self.miscounted = miscounted(self.waiting, database.execute("SELECT session FROM halt"))

    def __repr__(self) -> str:
        return ", ".join(
            f"{many} {kind}" for kind, many in Counter(r.kind for r in self.records).items()
        )

    def of(self, kind: RecordKind) -> list[Record]:
        """Return the records of one kind, in their order."""
        return [record for record in self.records if record.kind == kind]

    def decisions(self) -> dict[str, list[Record]]:
        """Return the decisions about each call, by its name."""
        found = defaultdict[str, list[Record]](list)
        for record in self.of(RecordKind.DECIDED):
            found[record.tool_use_id].append(record)
        return found

    def fates(self) -> dict[str, list[bool]]:
        """Return, by request, whether its client was said to have its answer: each time it was."""
        found = defaultdict[str, list[bool]](list)
        for record in self.of(RecordKind.DELIVERED):
            found[record.request_id].append(told(record)["whole"])
        return found

    def broken_laws(self, ends: Ends) -> list[str]:
        """Return every law that the record or the hooks' ends break, in words."""
        return [*self.of_the_record(), *self._of_the_hooks(ends)]

    def of_the_record(self) -> list[str]:
        """Return the laws that the record breaks by itself."""
        broken = [f"the chain: record {one.seq}: {one.what}" for one in self.verified.faults]
        broken += [f"{request} still waits, on card {card}" for request, card in self.waiting]
        decided = Counter(leg for one in self.of(RecordKind.DECIDED) for leg in legs_of(one))
        broken += [f"{leg} was decided {n} times" for leg, n in decided.items() if n > 1]
        asked = Counter(one.request_id for one in self.of(RecordKind.ASKED))
        asked.subtract(
            one.request_id for one in self.of(RecordKind.LEFT)
        )  # who comes back asks again
        broken += [f"{leg} was asked {n} times" for leg, n in asked.items() if n > 1]
        calls = defaultdict[int, set[str]](set)
        for one in self.records:
            if one.card is not None and one.tool_use_id:
                calls[one.card].add(one.tool_use_id)
        stayed_open = {one.card for one in self.of(RecordKind.UNDECIDED)}  # and may be asked again
        broken += [
            f"card {card} had {names}"
            for card, names in calls.items()
            if len(names) > 1 and card not in stayed_open
        ]
        cards = defaultdict[str, set[int]](set)
        for card, names in calls.items():
            for name in names:
                cards[name].add(card)
        broken += [f"{name} had the cards {had}" for name, had in cards.items() if len(had) > 1]
        return broken

    def _of_the_hooks(self, ends: Ends) -> list[str]:
        decisions, fates = self.decisions(), self.fates()
        broken = [f"{call} ended as none should: {answer}" for call, answer in ends.wrong.items()]
        for call, said in ends.answered.items():
            reasons = [told(one)["reason"] for one in decisions.get(call, [])]
            if said != call or reasons != [call]:
                broken.append(f"{call} was told {said!r}; the record says {reasons}")
        for call, found in decisions.items():
            fate = fates.get(found[0].request_id, [])
            if not fate:
                broken.append(f"{call}: nothing says whether its decision was delivered")
            elif fate.count(True) > 1 or fate.count(False) > 1:
                broken.append(f"{call}: its delivery was told more than once: {fate}")
            elif fate[-1] and call not in ends.answered:
                broken.append(f"{call}: delivered, says the record, but nobody has it")
        return broken


def miscounted(waiting: Iterable[Sequence[Any]], rows: Iterable[Sequence[Any]]) -> list[int]:
    """Return the cards that are kept as having stayed open, and wait no more."""
    cards = {card for _, card in waiting}
    keys = [json.loads(key) for (key, *_) in rows if key.startswith("{")]
    counted = [int(key["asked"]) for key in keys if "asked" in key]
    return [card for card in counted if card not in cards]


def told(record: Record) -> dict[str, Any]:
    """Return a record's body."""
    body: dict[str, Any] = json.loads(record.body)
    return body


def legs_of(decision: Record) -> list[str]:
    """The requests that a decision answered; of a single one the column tells alone."""
    return told(decision).get("legs") or [decision.request_id]
