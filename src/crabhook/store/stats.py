"""What the record says of the work: who decided, how soon, about which tools."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil

from crabhook.model.actor import Nobody, Operator
from crabhook.store.actors import actor_in
from crabhook.store.record import Kind, Record

BY_RULE, BY_OPERATOR, BY_NOBODY = "rules", "operator", "nobody"
ENDS = (Kind.DECIDED.value, Kind.EXPIRED.value, Kind.WITHDRAWN.value)


@dataclass(slots=True)
class Share:
    """Some decisions: how many, by whom, and how long those the operator made had waited."""

    number: int = 0
    by: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Count a record of how a call ended."""
        told = record.told()
        who = _decider(record, told)
        self.number += 1
        self.by[who] += 1
        self.verdicts[record.verdict or record.kind] += 1
        waited = told.get("waited")
        if who == BY_OPERATOR and isinstance(waited, int | float):
            self.waits.append(float(waited))

    def percentile(self, percent: float) -> float | None:
        """Return the seconds that so many percent of the operator's decisions took at most."""
        if not self.waits:
            return None
        ranked = sorted(self.waits)
        return ranked[max(0, ceil(len(ranked) * percent / 100) - 1)]

    def values(self) -> dict[str, object]:
        """Return the figures for programs; seconds."""
        return {
            "decisions": self.number,
            "by": dict(self.by),
            "verdicts": dict(self.verdicts),
            "operator_median": self.percentile(50),
            "operator_p90": self.percentile(90),
        }


@dataclass(slots=True)
class Stats:
    """All decisions, and those about each tool, the most frequent first."""

    all: Share = field(default_factory=Share)
    tools: dict[str, Share] = field(default_factory=dict)

    def values(self) -> dict[str, object]:
        """Return the figures for programs."""
        return {"all": self.all.values(), "tools": {k: v.values() for k, v in self.tools.items()}}


def stats(records: Iterable[Record]) -> Stats:
    """Count the records of how calls ended; others do not matter."""
    found = Stats()
    for record in records:
        if record.kind in ENDS:
            found.all.add(record)
            found.tools.setdefault(record.tool, Share()).add(record)
    ranked = sorted(found.tools.items(), key=lambda item: (-item[1].number, item[0]))
    found.tools = dict(ranked)
    return found


def _decider(record: Record, told: dict[str, object]) -> str:
    if record.kind != Kind.DECIDED:
        return BY_NOBODY
    match actor_in(told):
        case Operator():
            return BY_OPERATOR
        case Nobody():
            return BY_NOBODY
        case _:
            return BY_RULE
