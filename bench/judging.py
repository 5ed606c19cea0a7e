"""How many calls the rules judge in a second, with few rules loaded and with many.

`Policy.judge` alone, in this process: the recorded calls of tools, each as an
agent sent it.  Every round judges all of them with every number of rules, in
an order drawn anew.
"""

import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from statistics import median
from time import perf_counter

from bench.errors import BenchError
from bench.events import DECIDED_EVENT, calls_of_tools, new_call
from bench.figures import paired_ratios, spread
from bench.found import Found, Series, Wishes
from bench.lawbook import RULED, crowded_lawbook, lawbook
from bench.sizes import sized
from bench.table import table
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.policy.context import Context
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rulefile import read_rules

SIZES = sized((10, 100, 1_000, 10_000), (10, 100))
FEW, MANY = SIZES[0], SIZES[-1]
ROUNDS = sized(60, 2)
_MIX, _SHELL, _OTHER = "the recorded calls", "shell lines", "other calls"
_CROWDED = "a shell line, all rules about its word"


@dataclass(slots=True)
class Book:
    """A number of rules in force; seconds to load them, and for a call of each sort."""

    size: int
    loaded: float
    policy: Policy
    crowded: Policy
    costs: dict[str, list[float]] = field(default_factory=dict)

    def judge(self, calls: Mapping[str, Sequence[Event]], where: Context) -> None:
        """Judge every call once, and keep what one of each sort took."""
        for sort, events in calls.items():
            policy = self.crowded if sort == _CROWDED else self.policy
            seconds = _seconds(lambda p=policy, e=events: [p.judge(one, where) for one in e])  # type: ignore[misc]
            self.costs.setdefault(sort, []).append(seconds / len(events))


def measure(_: Wishes) -> Found:
    """Judge with every number of rules."""
    calls = _calls()
    where = Context("/home/dev/project", "/home/dev", datetime.now(UTC), os.path.realpath)
    books = [_book(size) for size in SIZES]
    for book in books:
        _check(book, calls[_MIX], where)
    for _round in range(ROUNDS):
        for book in random.sample(books, len(books)):
            book.judge(calls, where)
    series = [
        Series("rules", f"judging {sort}", {book.size: median(book.costs[sort]) for book in books})
        for sort in (_MIX, _CROWDED)
    ]
    loading = Series("rules", "loading a file", {book.size: book.loaded for book in books})
    values = [{"rules": one.size, "loaded": one.loaded, "each": one.costs} for one in books]
    risks = _risks(books[0].policy, calls, where)
    told = (f"{sort} {median(each) * 1e3:.3f} ms" for sort, each in risks.items())
    text = f"{_text(books)}The risk of one of these (median): {', '.join(told)}.\n"
    return Found(text, {"rules": values, "risk": risks}, [*series, loading])


def _risks(
    policy: Policy, calls: Mapping[str, Sequence[Event]], where: Context
) -> dict[str, list[float]]:
    """Return what the risk of each call took at its best, in seconds, by the sort of the call."""
    return {
        sort: [min(_seconds(partial(policy.risk, one, where)) for _ in range(9)) for one in events]
        for sort, events in calls.items()
        if sort != _CROWDED
    }


def _calls() -> Mapping[str, Sequence[Event]]:
    mix = [PLATFORMS["claude"].read(new_call(name, session=RULED)) for name in calls_of_tools()]
    return {
        _MIX: mix,
        _SHELL: [event for event in mix if _is_shell(event)],
        _OTHER: [event for event in mix if not _is_shell(event)],
        _CROWDED: [PLATFORMS["claude"].read(new_call(DECIDED_EVENT, session=RULED))],
    }


def _is_shell(event: Event) -> bool:
    return event.tool is not None and event.tool.name == "Bash"


def _book(size: int) -> Book:
    started = perf_counter()
    policy = _policy(lawbook(size))
    return Book(size, perf_counter() - started, policy, _policy(crowded_lawbook(size)))


def _policy(text: str) -> Policy:
    return Policy([read_rules(text, "rules.toml")], Protected(()))


def _check(book: Book, calls: Sequence[Event], where: Context) -> None:
    """Raise BenchError unless the rules decide every call."""
    for event in calls:
        for policy in (book.policy, book.crowded):
            ruling = policy.judge(event, where)
            if ruling is None or ruling.verdict != "allow":
                raise BenchError(f"{book.size} rules do not allow {event!r}: {ruling!r}")


def _seconds(what: Callable[[], object]) -> float:
    started = perf_counter()
    what()
    return perf_counter() - started


def _text(books: Sequence[Book]) -> str:
    sorts = (_MIX, _SHELL, _OTHER, _CROWDED)
    header = ("rules", "loaded in", *(f"{sort}, a second" for sort in sorts))
    rows = [
        (
            str(book.size),
            f"{book.loaded * 1e3:.0f} ms",
            *(f"{1 / median(book.costs[sort]):.0f}" for sort in sorts),
        )
        for book in books
    ]
    costs = {book.size: book.costs[_MIX] for book in books}
    ratio = spread(paired_ratios(costs[MANY], costs[FEW]))
    return table(header, rows) + (
        f"{_MIX} with {MANY} rules / with {FEW}, within each round: "
        f"{ratio.median:.2f} ({ratio.low:.2f}-{ratio.high:.2f}).\n"
    )
