"""Decisions by a rule, end to end: from the client's socket through `crabhook serve` and back.

The real server in a process of its own, with nobody at its desk, the record on
and a file of rules; the client is bench.asking.  One warm connection is asked
on again and again, eight are all asked on at once; a fresh one carries one
call, one after the other or eight at once.  The same by HTTP, at a second
server, which then counts for Prometheus as well.  Beside them stands what
grpc.aio itself costs: the same calls to bench.bareserver, which does nothing
about them.  Recorded calls come again, and a ruling that is remembered is not
made anew: so there are the same calls with new words.  And the same with the
record in PostgreSQL, whose cluster syncs every commit to the disk; it is left
out where its programs are not installed.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from statistics import median
from typing import Any

from bench.asking import Asked, Connect, Line, ask_all, written
from bench.events import calls_of_tools, new_call
from bench.figures import paired_ratios, percentile, spread
from bench.found import Found, Wishes
from bench.httpclient import HttpClient, Posted
from bench.lawbook import RULED, lawbook
from bench.outside import processor_time
from bench.results import met
from bench.served import Home, headless, new_home
from bench.serving import child, plain_environment
from bench.sizes import sized
from bench.table import table
from tests.support.cluster import Cluster, programs

RULES = sized(1_000, 100)
ROUNDS = sized(12, 1)
CALLS = sized(200, 16)  # of one sort in one way, each round
LATENCY_GOAL = 0.001  # seconds, the median on one warm connection
WARM_GOAL, FRESH_GOAL = 3_000, 1_200  # decisions a second
SHARED_GOAL = 1_000  # decisions a second on eight warm connections


@dataclass(frozen=True, slots=True)
class Way:
    """On so many connections at once; `fresh`: a new one for every call."""

    name: str
    lines: int
    fresh: bool


ONE, EIGHT = Way("one warm connection", 1, fresh=False), Way("eight warm", 8, fresh=False)
FRESH, EIGHT_FRESH = Way("fresh, one at a time", 1, fresh=True), Way("eight fresh", 8, fresh=True)
WAYS = (ONE, EIGHT, FRESH, EIGHT_FRESH)

MIX, FLOOR = "the recorded calls", "nothing but grpc.aio"
NEW = "the recorded calls, each with new words"
BY_HTTP = "the recorded calls, by HTTP"
SHARED = "the recorded calls, in PostgreSQL"
_SORTS = {
    MIX: calls_of_tools(),
    NEW: calls_of_tools(),
    BY_HTTP: calls_of_tools(),
    SHARED: calls_of_tools(),
    "a shell line": ("PreToolUse-Bash",),
    "a file read": ("PreToolUse-Read",),
    FLOOR: calls_of_tools(),
}


@dataclass(frozen=True, slots=True)
class Server:
    """A server's process, how it is reached, and how a hook's input is written for it."""

    process: int
    connect: Connect
    write: Callable[[bytes], bytes] = written


@dataclass(frozen=True, slots=True)
class Block:
    """Some calls in a row: how they went, and the server's processor time for them."""

    asked: Asked
    server: float

    @property
    def rate(self) -> float:
        """Decisions a second."""
        return len(self.asked.each) / self.asked.whole


Blocks = Mapping[tuple[str, Way], list[Block]]


def measure(_: Wishes) -> Found:
    """Ask for every sort of call in every way, in blocks whose order is drawn anew each round.

    The blocks of a way follow each other, as their ratios are what counts: the speed of a machine
    changes within seconds.
    """
    there = programs()
    sorts = [sort for sort in _SORTS if there or sort != SHARED]
    blocks: Blocks = {(sort, way): [] for sort in sorts for way in WAYS}
    with ExitStack() as stack:
        homes = home, posted, bare, away = [stack.enter_context(new_home()) for _ in range(4)]
        for one in homes:
            one.keep_rules(lawbook(RULES))
        real = Server(stack.enter_context(headless(home)), partial(Line, home.path))
        servers = dict.fromkeys(_SORTS, real) | {
            BY_HTTP: stack.enter_context(_by_http(posted)),
            FLOOR: stack.enter_context(_bare(bare)),
        }
        if there:
            servers[SHARED] = stack.enter_context(_shared(away, there))
        for number in range(ROUNDS + 1):
            for way, sort in _in_some_order(sorts):
                block = ask(servers[sort], _events(sort), way)
                if number:  # the first reads the rules and finds caches cold
                    blocks[sort, way].append(block)
        home.check_record(100 * CALLS * ROUNDS * len(WAYS))
    return Found(decided_text(blocks), {"decisions": [_values(*one) for one in blocks.items()]})


def _in_some_order(sorts: Sequence[str]) -> Iterator[tuple[Way, str]]:
    for way in random.sample(WAYS, len(WAYS)):
        for sort in random.sample(sorts, len(sorts)):
            yield way, sort


@contextmanager
def _bare(home: Home) -> Iterator[Server]:
    path = f"{home.folder}/s"
    with child("bench.bareserver", path, environment=plain_environment()) as told:
        told.line("ready")
        yield Server(told.process.pid, partial(Line, path))


@contextmanager
def _by_http(home: Home) -> Iterator[Server]:
    with headless(home, "--http", "127.0.0.1:0") as process:
        client = HttpClient(home.http_port(), home.authorization())
        yield Server(process, partial(Posted, client), client.written)


@contextmanager
def _shared(home: Home, there: Path) -> Iterator[Server]:
    cluster = Cluster(there, ("fsync=on", "full_page_writes=on"))
    try:
        cluster.make()
        with headless(home, "--store", cluster.url()) as process:
            yield Server(process, partial(Line, home.path))
    finally:
        cluster.remove()


def _events(sort: str) -> Sequence[bytes]:
    samples = _SORTS[sort]
    chosen = [samples[number % len(samples)] for number in range(CALLS)]
    words = [{"description": f"call {token_hex(6)}"} if sort == NEW else None for _ in chosen]
    both = zip(chosen, words, strict=True)
    return [new_call(sample, session=RULED, tool_input=new) for sample, new in both]


def ask(server: Server, events: Sequence[bytes], way: Way) -> Block:
    """Have all of them decided; raises BenchError where one is not allowed."""
    requests = [server.write(event) for event in events]
    before = processor_time(server.process)
    asked = ask_all(server.connect, requests, lines=way.lines, fresh=way.fresh, check=allowed)
    return Block(asked, processor_time(server.process) - before)


def allowed(stdout: bytes) -> bool:
    """Whether that is what a hook prints for a call that is allowed."""
    return b'"permissionDecision":"allow"' in stdout.replace(b" ", b"")


def decided_text(blocks: Blocks) -> str:
    """Return what a decision costs in every way, and how that stands to the goals."""
    header = ("decided by a rule", "connections", "a second", "median ms", "p99 ms")
    cpu = ("server's CPU ms", "client's")
    return table((*header, *cpu), [_row(*one) for one in blocks.items()]) + _judged(blocks)


def _row(key: tuple[str, Way], blocks: Sequence[Block]) -> tuple[str, ...]:
    sort, way = key
    each, count = _each(blocks), len(_each(blocks))
    return (
        sort,
        way.name,
        f"{_rate(blocks):.0f}",
        _ms(median(each)),
        _ms(percentile(each, 99)),
        _ms(sum(block.server for block in blocks) / count),
        _ms(sum(block.asked.own_cpu for block in blocks) / count),
    )


def _judged(blocks: Blocks) -> str:
    latency = median(_each(blocks[MIX, ONE]))
    warm, fresh = _rate(blocks[MIX, EIGHT]), _rate(blocks[MIX, EIGHT_FRESH])
    both = [
        (sort, way)
        for sort in (MIX, NEW)
        for way in WAYS
        if {(sort, way), (FLOOR, way)} <= set(blocks)
    ]
    floor = "".join(_above_the_floor(blocks, *one) for one in both)
    return (
        f"Of {MIX}, with {RULES} rules: median on one warm connection at most "
        f"{LATENCY_GOAL * 1e3:g} ms: {met(latency <= LATENCY_GOAL)}; "
        f"at least {WARM_GOAL} a second on eight warm ones: {met(warm >= WARM_GOAL)}; "
        f"{FRESH_GOAL} on fresh ones: {met(fresh >= FRESH_GOAL)}.\n{_shared_met(blocks)}{floor}"
    )


def _shared_met(blocks: Blocks) -> str:
    """Return whether a record in PostgreSQL keeps up, where it was measured."""
    if (SHARED, EIGHT) not in blocks:
        return ""
    reached = met(_rate(blocks[SHARED, EIGHT]) >= SHARED_GOAL)
    return f"In PostgreSQL, at least {SHARED_GOAL} a second on eight warm ones: {reached}.\n"


def _above_the_floor(blocks: Blocks, sort: str, way: Way) -> str:
    """Return how much more processor time than grpc.aio alone a decision takes, round by round."""
    ours, floor = ([block.server for block in blocks[one, way]] for one in (sort, FLOOR))
    ratio = spread(paired_ratios(ours, floor))
    return (
        f"{way.name}: server's CPU of {sort} / of {FLOOR}, within each round: "
        f"{ratio.median:.2f} ({ratio.low:.2f}-{ratio.high:.2f}).\n"
    )


def _each(blocks: Sequence[Block]) -> list[float]:
    return [seconds for block in blocks for seconds in block.asked.each]


def _rate(blocks: Sequence[Block]) -> float:
    return median(block.rate for block in blocks)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f}"


def _values(key: tuple[str, Way], blocks: Sequence[Block]) -> dict[str, Any]:
    sort, way = key
    return {
        "sort": sort,
        "way": asdict(way),
        "median": median(_each(blocks)),
        "p99": percentile(_each(blocks), 99),
        "rates": [block.rate for block in blocks],
        "server_cpu": [block.server / CALLS for block in blocks],
        "client_cpu": [block.asked.own_cpu / CALLS for block in blocks],
    }
