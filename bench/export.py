"""What an hour without a receiver costs: decisions meanwhile, and how soon all has come.

The real server with an [export], and a receiver in a process of its own, which is dead while an
hour of decisions comes on record. These are decisions of that server, written again; the server
then starts on them. While the receiver is dead, the yardstick of a decision is a server without an
export. While the export catches up, it is the same server with the receiver frozen, so that nothing
is sent. Then a hundred decisions a second come until the receiver is level. It must have each
record once and in order.
"""

import os
import random
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from secrets import token_hex
from statistics import median
from time import monotonic, sleep, time

from bench.asking import ask_all, request_for
from bench.figures import Goal, Measured, Spread, ms, paired_ratios, spread, table
from bench.home import Home, headless, new_home
from bench.inputs import RULED, calls_of_tools, new_call, rule_file, sized
from bench.process import BenchError, Child, child, resident
from bench.receiver import HTTP, SYSLOG
from crabhook.store.change import happened
from crabhook.store.interface import Query
from crabhook.store.opening import open_history, open_writer
from crabhook.store.record import Entry, Record, RecordKind

RATE = 100  # decisions a second
WAITING = sized(3600 * RATE, 4_000)  # records of an hour
RULES = sized(1_000, 100)
ROUNDS = sized(40, 2)
CALLS = sized(100, 10)  # in a block
_BATCH = 500  # records in a transaction while the record is made to grow
_PATIENCE = 1200.0  # seconds
_LOOK_EVERY = 0.1
_SETTLES = 0.1  # seconds until a receiver that is frozen, or goes on, is felt
_LEVEL = 5 * RATE  # records: what comes meanwhile goes out once a second
_LIVE = sized(10, 1)  # seconds of decisions once it is level

NONE, DEAD, FROZEN, CATCHING = "no export", "dead", "frozen", "catching up"
_TO = {SYSLOG: "syslog://127.0.0.1:{}", HTTP: "http://127.0.0.1:{}/v1/traces"}
WAYS = tuple(_TO)

SPEED = {
    way: Goal(f"records exported after an outage, {way}", 10.0 * RATE, "a second", least=True)
    for way in WAYS
}
WHILE_DEAD = {
    way: Goal(f"a decision while the receiver is dead / {NONE}, {way}", 1.1) for way in WAYS
}
WHILE_CATCHING = {way: Goal(f"a decision while it catches up / not, {way}", 1.1) for way in WAYS}
MEMORY = {way: Goal(f"memory after an outage, {way}", 48.0, "MB more") for way in WAYS}
GOALS = (*SPEED.values(), *WHILE_DEAD.values(), *WHILE_CATCHING.values(), *MEMORY.values())

Blocks = Mapping[str, Sequence[float]]
"""The median seconds of a decision in each block, by the state of the receiver."""


@dataclass(frozen=True, slots=True)
class Came:
    """What a receiver counted: records, the first and last number, gaps and doubles."""

    records: int
    first: int
    last: int
    gaps: int
    doubles: int


@dataclass(frozen=True, slots=True)
class Outage:
    """What an outage cost: decisions, records a second after it, bytes of memory and of the log.

    `behind` is how many records the receiver lacked at most, once it was level.
    """

    blocks: Blocks
    speed: float
    memory: int
    log: int
    behind: int

    def ratio(self, candidate: str, yardstick: str) -> Spread:
        """Return how a decision of one state stands to that of another, round by round."""
        return spread(paired_ratios(self.blocks[candidate], self.blocks[yardstick]))


def measure() -> Measured:
    """Have an outage of each kind of receiver."""
    outages = {way: _outage(way) for way in WAYS}
    figures: dict[Goal, float] = {}
    for way, outage in outages.items():
        figures |= {
            SPEED[way]: outage.speed,
            WHILE_DEAD[way]: outage.ratio(DEAD, NONE).median,
            WHILE_CATCHING[way]: outage.ratio(CATCHING, FROZEN).median,
            MEMORY[way]: outage.memory / 1e6,
        }
    return Measured(table_of(outages), figures)


def _outage(way: str) -> Outage:
    with ExitStack() as stack:
        receiver = stack.enter_context(child("bench.receiver", way))
        (port,) = receiver.line("port")
        plain, exporting = (stack.enter_context(new_home()) for _ in range(2))
        for home in (plain, exporting):
            home.keep_rules(rule_file(RULES))
        settings = exporting.folder / "config" / "crabhook" / "settings.toml"
        settings.write_text(f'[export]\nto = "{_TO[way].format(port)}"\n', encoding="utf-8")
        _grow(exporting)
        stack.enter_context(headless(plain))
        server = stack.enter_context(headless(exporting))
        _until(lambda: b"NOT EXPORTED" in (exporting.folder / "log").read_bytes())
        for home in (plain, exporting):
            _decide(home, CALLS)  # so that the rules are read
        before = resident(server)
        blocks = _while_dead(plain, exporting)
        receiver.say("open")
        receiver.line("open")
        _until(lambda: _came(receiver).records)
        blocks |= _while_catching_up(exporting, receiver)
        speed, log = _catch_up(exporting, receiver)
        memory = resident(server) - before
        behind = _stay_level(exporting, receiver)
        _check(exporting, receiver)
    return Outage(blocks, speed, memory, log, behind)


def _record_of(home: Home) -> Path:
    return home.folder / "state" / "crabhook"


def _grow(home: Home) -> None:
    """Begin the export to a receiver that is dead, and write what waits for it."""
    record = _record_of(home)
    with headless(home):
        _decide(home, CALLS)
        _until((record / "export.cursor").exists)
    with open_history(record) as history:
        stream = cycle(list(map(_entry, history.find(Query(kinds=(RecordKind.DECIDED,))))))
    with closing(open_writer(record)) as writer:
        for _ in range(0, WAITING, _BATCH):
            again = [replace(each, request_id=token_hex(16)) for each in islice(stream, _BATCH)]
            writer.write([happened(*again)])
            writer.anchor()  # as a server does once a second


def _entry(record: Record) -> Entry:
    return Entry(RecordKind(record.kind), time(), *record[3:13], body=record.data())


def _while_dead(plain: Home, exporting: Home) -> dict[str, list[float]]:
    """Have decisions of both servers in every round, in an order drawn anew."""
    blocks: dict[str, list[float]] = {NONE: [], DEAD: []}
    homes = {NONE: plain, DEAD: exporting}
    for _ in range(ROUNDS):
        for state in random.sample(list(homes), len(homes)):
            blocks[state].append(_decide(homes[state], CALLS))
    return blocks


def _while_catching_up(home: Home, receiver: Child) -> dict[str, list[float]]:
    """Have decisions in every round with the receiver frozen, and with one that takes records."""
    blocks: dict[str, list[float]] = {FROZEN: [], CATCHING: []}
    for _ in range(ROUNDS):
        for state in random.sample(list(blocks), len(blocks)):
            with _frozen(receiver, is_so=state == FROZEN):
                sleep(_SETTLES)
                blocks[state].append(_decide(home, CALLS))
    return blocks


@contextmanager
def _frozen(receiver: Child, *, is_so: bool) -> Iterator[None]:
    if is_so:
        os.kill(receiver.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(receiver.process.pid, signal.SIGCONT)


def _catch_up(home: Home, receiver: Child) -> tuple[float, int]:
    """Have live decisions until the receiver is level.

    Returns how many records it took a second, and the most bytes of SQLite's log.
    """
    log, most = _record_of(home) / "record.db-wal", 0
    began, before = monotonic(), _came(receiver).records
    while True:
        _decide_for(home, 0.1)
        most = max(most, log.stat().st_size)
        came = _came(receiver)
        if _last(home) - came.last < _LEVEL:
            return (came.records - before) / (monotonic() - began), most
        if monotonic() - began > _PATIENCE:
            raise BenchError(f"the receiver has not caught up: {came}")


def _stay_level(home: Home, receiver: Child) -> int:
    """Have live decisions for a while; return how many records the receiver lacked at most."""
    behind = 0
    for _ in range(10 * _LIVE):
        _decide_for(home, 0.1)
        behind = max(behind, _last(home) - _came(receiver).last)
    return behind


def _decide_for(home: Home, seconds: float) -> None:
    """Have live decisions in that time, RATE a second."""
    until = monotonic() + seconds
    _decide(home, round(RATE * seconds))
    sleep(max(0.0, until - monotonic()))


def _check(home: Home, receiver: Child) -> None:
    """Raise BenchError unless the receiver gets the record's end, and got all in order, once."""
    _until(lambda: _came(receiver).last >= _last(home))
    came = _came(receiver)
    if came.records < WAITING or came.gaps or came.doubles:
        raise BenchError(f"the receiver has not got each record once and in order: {came}")


def _last(home: Home) -> int:
    with open_history(_record_of(home)) as history:
        return next(history.find(Query(last=1))).seq


def _came(receiver: Child) -> Came:
    receiver.say("count")
    return Came(*map(int, receiver.line("came")))


def _until(true: Callable[[], object]) -> None:
    by = monotonic() + _PATIENCE
    while not true():
        if monotonic() > by:
            raise BenchError(f"nothing came in {_PATIENCE:g} s")
        sleep(_LOOK_EVERY)


def _decide(home: Home, number: int) -> float:
    """Have so many calls decided one after the other; return the median of their seconds."""
    samples = calls_of_tools()
    requests = [
        request_for(new_call(samples[number % len(samples)], session=RULED))
        for number in range(number)
    ]
    return median(ask_all(home.path, requests, lines=1, fresh=False).each)


def table_of(outages: Mapping[str, Outage]) -> str:
    """Return a row for each kind of receiver."""
    header = (
        f"{WAITING} records wait for",
        "records a second",
        "an hour's take s",
        f"decision ms: {NONE}, {DEAD}, {FROZEN}, {CATCHING}",
        f"{DEAD} / {NONE}",
        f"{CATCHING} / {FROZEN}",
        "memory MB more",
        "log MB at most",
        "then behind at most",
    )
    rows = []
    for way, outage in outages.items():
        ratios = outage.ratio(DEAD, NONE), outage.ratio(CATCHING, FROZEN)
        rows.append(
            (
                way,
                f"{outage.speed:.0f}",
                f"{3600 * RATE / outage.speed:.0f}",
                ", ".join(ms(median(outage.blocks[s])) for s in (NONE, DEAD, FROZEN, CATCHING)),
                *(f"{r.median:.2f} ({r.low:.2f}-{r.high:.2f})" for r in ratios),
                f"{outage.memory / 1e6:.0f}",
                f"{outage.log / 1e6:.0f}",
                str(outage.behind),
            )
        )
    return table(header, rows)
