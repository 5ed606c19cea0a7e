"""Decisions by a rule, from the client's socket through `crabhook serve` and back.

The real server in a process of its own, with nobody at its desk, the record on and a file of rules.
Beside it stands what grpc.aio itself costs: the same calls to bench.grpc_floor, which does nothing
about them. A recorded call comes again, and a ruling may be remembered: so there are the same calls
with new words. And the same with the record in PostgreSQL, whose cluster syncs every commit to the
disk; it is left out where its programs are not installed.
"""

import random
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from statistics import median

from bench.asking import Asked, ask_all, request_for
from bench.figures import Goal, Measured, Spread, ms, paired_ratios, percentile, spread, table
from bench.home import Home, headless, new_home
from bench.inputs import RULED, calls_of_tools, new_call, rule_file, sized
from bench.process import child, processor_time
from tests.support.cluster import Cluster, programs

RULES = sized(1_000, 100)
ROUNDS = sized(12, 1)
CALLS = sized(200, 16)  # in a block: of a kind, in a way, in a round


@dataclass(frozen=True, slots=True)
class Way:
    """On so many connections at once; `fresh`: a new connection for every call."""

    name: str
    lines: int
    fresh: bool


EIGHT = Way("eight warm", 8, fresh=False)
WAYS = (
    Way("one warm connection", 1, fresh=False),
    EIGHT,
    Way("fresh, one at a time", 1, fresh=True),
    Way("eight fresh", 8, fresh=True),
)
SQLITE, NEW_WORDS = "the recorded calls", "the recorded calls, each with new words"
POSTGRESQL, FLOOR = "the recorded calls, in PostgreSQL", "nothing but grpc.aio"
KINDS = (SQLITE, NEW_WORDS, POSTGRESQL, FLOOR)

TO_FLOOR = {way: Goal(f"a decision's CPU / that of {FLOOR}, {way.name}", 4.0) for way in WAYS}
SHARED_RATE = Goal("decisions in PostgreSQL, eight warm", 500.0, "a second", least=True)
GOALS = (*TO_FLOOR.values(), SHARED_RATE)


@dataclass(frozen=True, slots=True)
class Server:
    """A server's process, and the socket where it listens."""

    process: int
    path: str


@dataclass(frozen=True, slots=True)
class Block:
    """Some calls in a row: how they went, and the server's processor time for them."""

    asked: Asked
    server_cpu: float

    @property
    def rate(self) -> float:
        """Decisions a second."""
        return len(self.asked.each) / self.asked.whole


Blocks = Mapping[tuple[str, Way], list[Block]]


def measure() -> Measured:
    """Ask for every kind of call in every way, in blocks whose order is drawn anew each round.

    The blocks of a way follow each other, as their ratios are what counts: the speed of a machine
    changes within seconds.
    """
    database = programs()
    kinds = [kind for kind in KINDS if database or kind != POSTGRESQL]
    blocks: Blocks = {(kind, way): [] for kind in kinds for way in WAYS}
    with ExitStack() as stack:
        local, shared, bare = (stack.enter_context(new_home()) for _ in range(3))
        for home in (local, shared):
            home.keep_rules(rule_file(RULES))
        real = Server(stack.enter_context(headless(local)), local.path)
        servers = {SQLITE: real, NEW_WORDS: real, FLOOR: stack.enter_context(_floor(bare))}
        if database:
            servers[POSTGRESQL] = stack.enter_context(_shared(shared, database))
        for number in range(ROUNDS + 1):
            for way in random.sample(WAYS, len(WAYS)):
                for kind in random.sample(kinds, len(kinds)):
                    block = _decided(servers[kind], kind, way)
                    if number:  # the first reads the rules and finds caches cold
                        blocks[kind, way].append(block)
        local.check_record(100 * CALLS * ROUNDS * len(WAYS))
    figures = {goal: to_floor(blocks, SQLITE, way).median for way, goal in TO_FLOOR.items()}
    if database:
        figures[SHARED_RATE] = median(block.rate for block in blocks[POSTGRESQL, EIGHT])
    note = "" if database else "Left out: PostgreSQL, whose programs are not here.\n"
    return Measured(table_of(blocks) + note, figures)


@contextmanager
def _floor(home: Home) -> Iterator[Server]:
    path = f"{home.folder}/s"
    with child("bench.grpc_floor", path) as floor:
        floor.line("ready")
        yield Server(floor.process.pid, path)


@contextmanager
def _shared(home: Home, database: Path) -> Iterator[Server]:
    cluster = Cluster(database, ("fsync=on", "full_page_writes=on"))
    try:
        cluster.make()
        with headless(home, "--store", cluster.url()) as process:
            yield Server(process, home.path)
    finally:
        cluster.remove()


def _decided(server: Server, kind: str, way: Way) -> Block:
    """Have a block of calls decided; raises BenchError where a call is not allowed."""
    samples = calls_of_tools()
    requests = [
        request_for(
            new_call(
                samples[number % len(samples)],
                session=RULED,
                tool_input={"description": token_hex(6)} if kind == NEW_WORDS else None,
            )
        )
        for number in range(CALLS)
    ]
    before = processor_time(server.process)
    asked = ask_all(server.path, requests, lines=way.lines, fresh=way.fresh)
    return Block(asked, processor_time(server.process) - before)


def to_floor(blocks: Blocks, kind: str, way: Way) -> Spread:
    """Return how often the processor time of grpc.aio alone a decision takes, round by round."""
    decided, floor = ([block.server_cpu for block in blocks[name, way]] for name in (kind, FLOOR))
    return spread(paired_ratios(decided, floor))


def table_of(blocks: Blocks) -> str:
    """Return a row for each kind of call in each way."""
    ask = ("decided by a rule", "connections", "a second", "median ms", "p99 ms")
    cpu = ("server's CPU ms", "client's", f"CPU / {FLOOR}", "quartiles")
    rows = []
    for (kind, way), of_kind in blocks.items():
        each = [seconds for block in of_kind for seconds in block.asked.each]
        ratio = to_floor(blocks, kind, way)
        rows.append(
            (
                kind,
                way.name,
                f"{median(block.rate for block in of_kind):.0f}",
                ms(median(each)),
                ms(percentile(each, 99)),
                ms(sum(block.server_cpu for block in of_kind) / len(each)),
                ms(sum(block.asked.own_cpu for block in of_kind) / len(each)),
                f"{ratio.median:.2f}",
                f"{ratio.low:.2f}-{ratio.high:.2f}",
            )
        )
    return table((*ask, *cpu), rows)
