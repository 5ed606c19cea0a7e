"""How what a thing costs grows with its size: the exponent of a log-log fit.

What grows with the cards that wait, the rules and the cards on the screen is
taken from the sections that measure it; the size of an input and of the
record are measured here.
"""

import os
import random
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench import inputs
from bench.asking import Line, ask_all, written
from bench.deciding import allowed
from bench.errors import BenchError
from bench.events import DECIDED_EVENT, WRITING_EVENT, new_call
from bench.figures import exponent, last_exponent
from bench.found import Found, Series
from bench.lawbook import RULED, lawbook
from bench.record import KEEP, Call, asked_and_decided
from bench.served import headless, new_home
from bench.sizes import sized
from bench.table import table
from crabhook.platforms import PLATFORMS
from crabhook.policy.context import Context
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rulefile import read_rules
from crabhook.store.opening import open_writer
from crabhook.store.writer import Writer

# Characters of what a Write is to write, and of a shell line; past 8 KiB no
# line is parsed.
WRITTEN = sized((1_000, 10_000, 100_000, 1_000_000), (1_000, 10_000))
LINES = sized((100, 400, 1_600, 6_400), (100, 400))
RECORDS = sized((1_000, 5_000, 20_000, 80_000), (1_000, 2_000))
RULES = 100
_ROUNDS = sized(12, 2)
_LINE_OF = "echo some words\n"  # below 500 commands, and nothing in them is nested
_BATCH = 500  # records in a transaction while the record is made to grow
_DECISIONS = sized(300, 20)


def grown(others: Sequence[Series]) -> Found:
    """Measure what nobody else does, and fit it all."""
    with TemporaryDirectory(prefix="bench-") as folder:
        every = [*others, *inputs.measure(), *_writing(), _parsing(), *_recording(Path(folder))]
    return Found(growth_text(every), {"growth": [_values(one) for one in every]})


def growth_text(every: Sequence[Series]) -> str:
    """Return a row for each series: what it costs at its sizes, and the exponents."""
    header = ("with more", "this costs", "ms at sizes", "exponent", "of the last two")
    return table(header, [_row(one) for one in every])


def _row(one: Series) -> tuple[str, ...]:
    costs = ", ".join(f"{size}: {seconds * 1e3:.3g}" for size, seconds in one.costs.items())
    fits = (f"{exponent(one.costs):.2f}", f"{last_exponent(one.costs):.2f}")
    return one.grows, one.what, costs, *fits


def _values(one: Series) -> Mapping[str, object]:
    fits = {"exponent": exponent(one.costs), "last_exponent": last_exponent(one.costs)}
    return asdict(one) | fits


def _writing() -> Sequence[Series]:
    """Have a rule decide calls whose input is large, at the real server's socket."""
    took: dict[int, list[float]] = {size: [] for size in WRITTEN}
    with new_home() as home:
        home.keep_rules(lawbook(RULES))
        with headless(home):
            for number in range(_ROUNDS + 1):
                for size in random.sample(WRITTEN, len(WRITTEN)):
                    content = ("a line of text as people write it\n" * (size // 34 + 1))[:size]
                    event = new_call(WRITING_EVENT, session=RULED, tool_input={"content": content})
                    asked = ask_all(
                        partial(Line, home.path),
                        [written(event)],
                        lines=1,
                        fresh=False,
                        check=allowed,
                    )
                    if number:
                        took[size] += asked.each
    costs = {size: median(seconds) for size, seconds in took.items()}
    return [Series("characters of a file written", "a decision by a rule", costs)]


def _parsing() -> Series:
    """Judge shell lines of many simple commands."""
    policy = Policy([read_rules(lawbook(RULES), "rules.toml")], Protected(()))
    where = Context("/home/dev/project", "/home/dev", datetime.now(UTC), os.path.realpath)
    took: dict[int, list[float]] = {size: [] for size in LINES}
    for _ in range(_ROUNDS):
        for size in random.sample(LINES, len(LINES)):
            line = f"{_LINE_OF * (size // len(_LINE_OF))}echo done"
            told = {"command": line}
            event = PLATFORMS["claude"].read(
                new_call(DECIDED_EVENT, session=RULED, tool_input=told)
            )
            started = perf_counter()
            ruling = policy.judge(event, where)
            took[size].append(perf_counter() - started)
            if ruling is None or ruling.verdict != "allow":
                raise BenchError(f"a line of {size} characters is not allowed: {ruling!r}")
    costs = {size: median(seconds) for size, seconds in took.items()}
    return Series("characters of a shell line", "judging it", costs)


def _recording(folder: Path) -> Sequence[Series]:
    """Write decisions into a record that has grown, and open it anew."""
    stream, decided, opened = asked_and_decided(), {}, {}
    held = 0
    for size in RECORDS:
        with closing(open_writer(folder, KEEP)) as store:
            for _ in range(held, size, _BATCH):
                store.write(list(islice(stream, _BATCH)))
            held = size
        started = perf_counter()
        with closing(open_writer(folder, KEEP)) as store:
            opened[size] = perf_counter() - started
            decided[size] = median(_decisions(store, size))
    return [
        Series("records", "a decision recorded", decided),
        Series("records", "opening the record", opened),
    ]


def _decisions(store: Writer, size: int) -> Sequence[float]:
    """Keep requests and decide them, one by one; return the seconds of each decision."""
    calls = [Call(10_000_000 + size * _DECISIONS + number) for number in range(_DECISIONS)]
    took = []
    for call in calls:
        store.write([call.asks()])
        started = perf_counter()
        store.write([call.ends()])
        took.append(perf_counter() - started)
    return took
