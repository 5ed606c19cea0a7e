"""What it costs the server that requests wait, and what other calls cost meanwhile.

The real server, headless, its record on and a file of rules; a crowd of hooks in a process holds
the requests, each on a connection and in a session of its own. Meanwhile other calls are made one
after the other, each on a new connection: an event that is only observed, and a call that a rule
decides. And a request comes to wait and is withdrawn, which is measured in the server's own
processor time.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from operator import attrgetter

from bench.asking import Line, allowed, ask_all, request_for
from bench.figures import Goal, Measured, Series, ms, percentile, table
from bench.home import Home, headless, new_home
from bench.inputs import DECIDED_EVENT, OBSERVED_EVENT, RULED, new_call, rule_file, sized
from bench.process import BenchError, child, connections_that_fit, processor_time, resident

SIZES = sized((1, 1_000, 10_000), (1, 20, 40))
RULES = sized(1_000, 100)
_CALLS = sized(300, 10)
_COMINGS = sized(60, 3)

MEMORY = Goal("memory of each of 10 000 that wait", 48.0, "kB")
OTHER_CALL = Goal("another call while 10 000 wait, p99", 10.0, "ms")
GOALS = (MEMORY, OTHER_CALL)


@dataclass(frozen=True, slots=True)
class Load:
    """A server with `number` requests waiting; times in seconds, memory in bytes."""

    number: int
    until_all_wait: float
    memory: int
    memory_each: float
    observed: Sequence[float]
    ruled: Sequence[float]
    comes_and_goes_cpu: float


def measure() -> Measured:
    """Let so many requests wait, each number at a server of its own."""
    loads = [_let_wait(connections_that_fit(size)) for size in SIZES]
    acts: dict[str, Callable[[Load], float]] = {
        "another call, decided by a rule": lambda load: percentile(load.ruled, 50),
        "another event, observed": lambda load: percentile(load.observed, 50),
        "a card comes and goes, server's CPU": attrgetter("comes_and_goes_cpu"),
    }
    series = [
        Series("waiting cards", act, {load.number: cost(load) for load in loads})
        for act, cost in acts.items()
    ]
    taking_in = {load.number: load.until_all_wait / load.number for load in loads[1:]}
    series.append(Series("waiting cards", "taking a request in", taking_in))
    most = loads[-1]
    figures = {
        MEMORY: most.memory_each / 1e3,
        OTHER_CALL: percentile([*most.observed, *most.ruled], 99) * 1e3,
    }
    return Measured(_text(loads), figures, series)


def _let_wait(number: int) -> Load:
    with new_home() as home:
        home.keep_rules(rule_file(RULES))
        with headless(home) as server:
            _ask(home, DECIDED_EVENT, 50)  # so that the rules are read, and the server is warm
            _come_and_go(home, server)
            before = resident(server)
            with child("bench.asking", home.path, str(number)) as crowd:
                until_all_wait = float(crowd.line("waiting")[0])
                memory = resident(server)
                load = Load(
                    number=number,
                    until_all_wait=until_all_wait,
                    memory=memory,
                    memory_each=(memory - before) / number,
                    observed=_ask(home, OBSERVED_EVENT, _CALLS),
                    ruled=_ask(home, DECIDED_EVENT, _CALLS),
                    comes_and_goes_cpu=_come_and_go(home, server),
                )
        home.check_record(100 * number)
    return load


def _ask(home: Home, sample: str, times: int) -> Sequence[float]:
    """Ask so often, each time on a new connection; return the seconds each call took."""
    requests = [request_for(new_call(sample, session=RULED)) for _ in range(times)]
    due = _silent if sample == OBSERVED_EVENT else allowed
    return ask_all(home.path, requests, lines=1, fresh=True, due=due).each


def _silent(stdout: bytes) -> bool:
    return not stdout


def _come_and_go(home: Home, server: int) -> float:
    """Return the server's processor time for a request that comes to wait and is withdrawn."""
    before = processor_time(server)
    for _ in range(_COMINGS):
        with closing(Line(home.path)) as line:
            line.ask(request_for(new_call(DECIDED_EVENT)))
            while not line.accepted:
                if line.receive():
                    raise BenchError("a request was answered that should wait")
    return (processor_time(server) - before) / _COMINGS


def _text(loads: Sequence[Load]) -> str:
    waiting = ("requests waiting", "all wait after", "server's memory", "each")
    meanwhile = ("observed p50 / p99 ms", "by a rule p50 / p99 ms", "come and go, server's CPU ms")
    rows = [
        (
            str(load.number),
            f"{load.until_all_wait:.2f} s",
            f"{load.memory / 1e6:.0f} MB",
            # A single request takes less than the page or two that memory is counted in.
            f"{load.memory_each / 1e3:.1f} kB" if load.number > 1 else "-",
            f"{ms(percentile(load.observed, 50))} / {ms(percentile(load.observed, 99))}",
            f"{ms(percentile(load.ruled, 50))} / {ms(percentile(load.ruled, 99))}",
            ms(load.comes_and_goes_cpu),
        )
        for load in loads
    ]
    fewer = "".join(
        f"Note: this system's limit of files lets {load.number} wait, not {size}.\n"
        for load, size in zip(loads, SIZES, strict=True)
        if load.number < size
    )
    return table((*waiting, *meanwhile), rows) + fewer
