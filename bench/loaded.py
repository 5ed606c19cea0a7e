"""What it costs that requests wait while the record is on and ten thousand rules are loaded.

The real server, headless, in a process of its own; the requests are held by
bench.holders.  Meanwhile other calls are made one after the other by the
hook's own client, each on a connection of its own: one event that is only
observed, and one call that a rule decides.  And a card comes and goes, for
which the server's own processor time is told.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache

from bench.asking import Line, written
from bench.errors import BenchError
from bench.events import DECIDED_EVENT, LEFT_WAITING, OBSERVED_EVENT, new_call
from bench.figures import percentile
from bench.found import Found, Series, Wishes
from bench.lawbook import RULED, lawbook
from bench.limits import connections_that_fit
from bench.outside import processor_time, resident
from bench.results import CALL_GOAL, MEMORY_GOAL, met
from bench.served import Home, headless, new_home
from bench.serving import child, plain_environment
from bench.sizes import sized
from bench.table import table
from bench.waiting import call_often

RULES = sized(10_000, 100)
SIZES = sized((1, 100, 1_000, 10_000), (1, 20, 40))
_CALLS = sized(300, 10)
_COMINGS = sized(60, 3)


@dataclass(frozen=True, slots=True)
class Load:
    """One server with `number` requests waiting; times in seconds, memory in bytes."""

    number: int
    until_all_wait: float
    memory: int | None
    memory_each: float | None
    observed_p50: float
    observed_p99: float
    ruled_p50: float
    ruled_p99: float
    comes_and_goes_cpu: float


def measure(_: Wishes) -> Found:
    """Let so many requests wait, each number at a server of its own."""
    loads = [_let_wait(connections_that_fit(size)) for size in SIZES]
    series = [
        Series("waiting cards", what, {one.number: getattr(one, name) for one in loads})
        for what, name in (
            ("another call, decided by a rule", "ruled_p50"),
            ("another event, observed", "observed_p50"),
            ("a card comes and goes, server's CPU", "comes_and_goes_cpu"),
        )
    ]
    taking_in = {one.number: one.until_all_wait / one.number for one in loads if one.number > 1}
    series.append(Series("waiting cards", "taking one in", taking_in))
    return Found(_text(loads), {"load": [asdict(one) for one in loads]}, series)


def _let_wait(number: int) -> Load:
    with new_home() as home:
        home.keep_rules(_rules())
        with headless(home) as server:
            call_often(home.address, "PreToolUse-Read", times=50, session=RULED)  # reads the rules
            _come_and_go(home, server)
            before = resident(server)
            arguments = (home.path, str(number))
            with child("bench.holders", *arguments, environment=plain_environment()) as crowd:
                until_all_wait = float(crowd.line("waiting")[0])
                memory = resident(server)
                observed = call_often(home.address, OBSERVED_EVENT, times=_CALLS)
                ruled = call_often(home.address, DECIDED_EVENT, times=_CALLS, session=RULED)
                comes_and_goes = _come_and_go(home, server)
        home.check_record(100 * number)
    return Load(
        number=number,
        until_all_wait=until_all_wait,
        memory=memory,
        memory_each=None if memory is None or before is None else (memory - before) / number,
        observed_p50=percentile(observed, 50),
        observed_p99=percentile(observed, 99),
        ruled_p50=percentile(ruled, 50),
        ruled_p99=percentile(ruled, 99),
        comes_and_goes_cpu=comes_and_goes,
    )


@cache
def _rules() -> str:
    return lawbook(RULES)


def _come_and_go(home: Home, server: int) -> float:
    """Return the server's processor time for a request that comes to wait and is withdrawn."""
    before = processor_time(server)
    for _ in range(_COMINGS):
        line = Line(home.path)
        try:
            line.ask(written(new_call(DECIDED_EVENT, LEFT_WAITING)))
            while not line.accepted:
                if line.receive():
                    raise BenchError("a request was answered that should wait")
        finally:
            line.close()
    return (processor_time(server) - before) / _COMINGS


def _text(loads: Sequence[Load]) -> str:
    header = ("requests waiting", "all wait after", "server's memory", "each")
    calls = ("observed p50 / p99 ms", "by a rule p50 / p99 ms", "come and go, server's CPU ms")
    most = max(loads, key=lambda one: one.number)
    memory = most.memory_each is None or most.memory_each <= MEMORY_GOAL
    slowest = max(most.observed_p99, most.ruled_p99)
    return table((*header, *calls), [_row(one) for one in loads]) + (
        f"With {RULES} rules and the record on, of {most.number}: at most {MEMORY_GOAL / 1e3:g} kB "
        f"each: {met(memory)}; another call's p99 at most {CALL_GOAL * 1e3:g} ms: "
        f"{met(slowest <= CALL_GOAL)}.\n"
    )


def _row(one: Load) -> tuple[str, ...]:
    known = one.memory_each is not None and one.number > 1  # one alone is less than a page or two
    return (
        str(one.number),
        f"{one.until_all_wait:.2f} s",
        "?" if one.memory is None else f"{one.memory / 1e6:.0f} MB",
        f"{one.memory_each / 1e3:.1f} kB" if known and one.memory_each is not None else "-",
        f"{one.observed_p50 * 1e3:.2f} / {one.observed_p99 * 1e3:.2f}",
        f"{one.ruled_p50 * 1e3:.2f} / {one.ruled_p99 * 1e3:.2f}",
        f"{one.comes_and_goes_cpu * 1e3:.2f}",
    )
