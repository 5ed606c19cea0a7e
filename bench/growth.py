"""How what an act costs grows with a size: the exponent of a log-log fit.

What grows with the waiting cards and the cards on the screen is taken from the sections that
measure it; rules and the record are measured here.
"""

import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from itertools import count, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from bench.figures import Goal, Measured, Series, exponent, last_exponent, table
from bench.inputs import (
    DECIDED_EVENT,
    RULED,
    calls_of_tools,
    crowded_rule_file,
    new_call,
    rule_file,
    sized,
)
from bench.process import BenchError
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.policy.context import Context
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rulefile import read_rules
from crabhook.store.change import Change, happened
from crabhook.store.interface import Query
from crabhook.store.opening import open_history, open_writer
from crabhook.store.record import Entry, RecordKind, Retention
from crabhook.store.verify import ENDS, verify

if TYPE_CHECKING:
    from crabhook.model.jsontext import Value

RULES = sized((10, 100, 1_000, 10_000), (10, 100))
RECORDS = sized((1_000, 5_000, 20_000, 80_000), (1_000, 2_000))
_ROUNDS = sized(20, 2)
_BATCH = 500  # records in a transaction while the record is made to grow
_ALONE = sized(300, 20)  # decisions recorded by themselves

FASTEST = Goal("the fastest growth, exponent of the two largest sizes", 1.15, "power")
GOALS = (FASTEST,)

_KEEP = Retention(days=1e5, size=1 << 50)


def measure(others: Sequence[Series]) -> Measured:
    """Measure what no other section does, and fit it all."""
    with TemporaryDirectory(prefix="bench-") as folder:
        record, bytes_each = _record(Path(folder))
    every = [*others, *_rules(), *record]
    steepest = max(every, key=lambda series: last_exponent(series.costs))
    text = (
        f"{_text(every)}\nThe fastest: {steepest.act}, with more {steepest.grows}. "
        f"A record takes {bytes_each:.0f} bytes on the disk.\n"
    )
    return Measured(text, {FASTEST: last_exponent(steepest.costs)}, every)


def _text(every: Sequence[Series]) -> str:
    header = ("with more", "this costs", "ms at sizes", "exponent", "of the last two")
    rows = [
        (
            series.grows,
            series.act,
            ", ".join(f"{size}: {cost * 1e3:.3g}" for size, cost in series.costs.items()),
            f"{exponent(series.costs):.2f}",
            f"{last_exponent(series.costs):.2f}",
        )
        for series in every
    ]
    return table(header, rows)


def _seconds(act: Callable[[], object]) -> float:
    started = perf_counter()
    act()
    return perf_counter() - started


def _interleaved(acts: Mapping[int, Callable[[], float]]) -> Mapping[int, float]:
    """Do the act of every size in every round, in an order drawn anew; return the medians."""
    took: dict[int, list[float]] = {size: [] for size in acts}
    for number in range(_ROUNDS + 1):
        for size in random.sample(list(acts), len(acts)):
            seconds = acts[size]()
            if number:  # caches were cold
                took[size].append(seconds)
    return {size: median(seconds) for size, seconds in took.items()}


def _policy(text: str) -> Policy:
    return Policy([read_rules(text, "rules.toml")], Protected(()))


def _judge(policy: Policy, events: Sequence[Event]) -> float:
    """Return the seconds of judging an event; raises BenchError where it is not allowed."""
    where = Context("/home/dev/project", "/home/dev", datetime.now(UTC), os.path.realpath)
    started = perf_counter()
    rulings = [policy.judge(event, where) for event in events]
    seconds = perf_counter() - started
    if any(ruling is None or ruling.verdict != "allow" for ruling in rulings):
        raise BenchError(f"{policy!r} does not allow what it should: {rulings!r}")
    return seconds / len(events)


def _rules() -> Iterator[Series]:
    """Judge the recorded calls, and a shell line about whose word are all rules; load the files."""
    recorded = [
        PLATFORMS["claude"].read(new_call(name, session=RULED)) for name in calls_of_tools()
    ]
    files = {size: rule_file(size) for size in RULES}
    policies = {size: _policy(text) for size, text in files.items()}
    crowded = {size: _policy(crowded_rule_file(size)) for size in RULES}
    line = [PLATFORMS["claude"].read(new_call(DECIDED_EVENT, session=RULED))]
    measured: Mapping[str, Mapping[int, Callable[[], float]]] = {
        "judging the recorded calls": {
            size: partial(_judge, policy, recorded) for size, policy in policies.items()
        },
        "judging a shell line, all rules about its word": {
            size: partial(_judge, policy, line) for size, policy in crowded.items()
        },
        "loading a file": {
            size: partial(_seconds, partial(_policy, text)) for size, text in files.items()
        },
    }
    for act, acts in measured.items():
        yield Series("rules", act, _interleaved(acts))


def _record(folder: Path) -> tuple[Sequence[Series], float]:
    """Write decisions into a record that grows, and open, search and verify it at each size.

    Returns their series, and the bytes that a record takes.
    """
    stream, size_before = _calls(), 0
    costs: dict[str, dict[int, float]] = {}
    for size in RECORDS:
        with closing(open_writer(folder, _KEEP)) as store:
            for _ in range(size_before, size, _BATCH):
                store.write(list(islice(stream, _BATCH)))
        started = perf_counter()
        with closing(open_writer(folder, _KEEP)) as store:
            opened = perf_counter() - started
            recorded = [_seconds(partial(store.write, [next(stream)])) for _ in range(_ALONE)]
        with open_history(folder) as history:
            last = partial(lambda history: list(history.find(Query(kinds=ENDS, last=100))), history)
            measured = {
                "recording it": median(recorded),
                "opening the record": opened,
                "finding the last 100 decisions": _seconds(last),
                "verifying the whole record": _seconds(partial(verify, history, [])),
            }
        size_before = size + _ALONE
        for act, cost in measured.items():
            costs.setdefault(act, {})[size] = cost
    on_disk = sum(file.stat().st_size for file in folder.glob("record.db*"))
    series = [Series("records", act, of_sizes) for act, of_sizes in costs.items()]
    return series, on_disk / size_before


def _calls() -> Iterator[Change]:
    """Return the changes of ever more calls as agents make them, each asked and then decided."""
    for number in count(1):
        path = f"/home/dev/project/src/module_{number % 400}/part_{number}.py"
        tool_input: Value = {"command": f"pytest -q tests/unit -k case {number} {path}"}
        asked: Mapping[str, Value] = {"fields": {"tool_input": tool_input}}
        decided: Mapping[str, Value] = {"input": tool_input, "by": "operator", "waited": 3.0}
        for kind, verdict, body in (
            (RecordKind.ASKED, "", asked),
            (RecordKind.DECIDED, "allow", decided),
        ):
            entry = Entry(
                kind,
                1_760_000_000.0 + number,
                platform="claude",
                session=f"{number // 4000:08x}-95df-4ba4-aff4-cdc28ce4e641",
                cwd="/home/dev/project",
                tool="Bash",
                tool_use_id=f"toolu_{number:024x}",
                request_id=f"{number:032x}",
                card=number,
                verdict=verdict,
                body=body,
            )
            yield happened(entry)
