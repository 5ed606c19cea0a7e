"""The metrics for Prometheus: numbers alone, without any text of an agent.

The import of prometheus_client costs 20 ms, so the server imports this module only for `--http`.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum
from time import perf_counter
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from crabhook import __version__
from crabhook.broker.messages import Refusal
from crabhook.datatypes import frozen
from crabhook.model.actor import OrderKind
from crabhook.model.card import Card
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import Ruling
from crabhook.server.core.law import Judge
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import Health
from crabhook.server.metrics.tally import End, Tally, TurnedAway, labels_of
from crabhook.store.interface import Role
from crabhook.tables import tables

Value: TypeAlias = tuple[Sequence[str], float]
"""The values of a sample's labels, and its number."""

_Of = TypeVar("_Of")


@frozen
class Family(Generic[_Of]):
    """A metric: `values` returns its samples."""

    name: str
    values: Callable[[_Of], Iterable[Value]]
    documentation: str
    labels: Sequence[str] = ()


class Timing(StrEnum):
    """The names of the histograms."""

    WAIT = "crabhook_wait_seconds"
    RULES = "crabhook_rules_seconds"
    LOOP_LAG = "crabhook_loop_lag_seconds"


@frozen
class Timed:
    """A histogram; its bounds are seconds."""

    name: Timing
    documentation: str
    bounds: Sequence[float]
    labels: Sequence[str] = ()


def _word(name: str) -> str:
    return name.lower().replace("_", "-")


# SUPERSEDED ends a connection, not a request: that waits on another connection.
REASONS = {one: _word(one.name) for one in Refusal if one is not Refusal.SUPERSEDED}
ORDERS = {kind: _word(kind.name) for kind in OrderKind}


def _each(words: Mapping[Any, str], counted: Mapping[Any, float]) -> Iterable[Value]:
    """Return a sample for each label in `words`, 0 where nothing was counted."""
    return [((word,), counted.get(one, 0)) for one, word in words.items()]


def _cards(runner: Runner) -> Iterable[Card]:
    """Return the cards that wait here; those of a standby wait at the leader."""
    return () if runner.role is Role.STANDBY else runner.broker.waiting()


def _waiting(runner: Runner) -> Iterable[Value]:
    legs = [leg for card in _cards(runner) for leg in card.requests]
    many = Counter(labels_of(leg.event)[0] for leg in legs)
    return _each({name: name for name in (*PLATFORMS, *many)}, many)


def _oldest(runner: Runner) -> float:
    now = runner.now()
    return max((now - card.asked_at for card in _cards(runner)), default=0.0)


_COUNTED: Mapping[str, Callable[[Tally], Iterable[Value] | float]] = {
    "requests_total": lambda tally: tally.taken_in.items(),
    "requests_ended_total": lambda tally: _each({end: end.value for end in End}, tally.ended),
    "decisions_total": lambda tally: tally.decisions.items(),
    "operator_decisions_total": lambda tally: tally.roles.items(),
    "desk_refusals_total": lambda tally: _each(
        {one: one.value for one in TurnedAway}, tally.turned_away_for
    ),
    "refusals_total": lambda tally: _each(REASONS, tally.refusals),
    "unauthenticated_total": lambda tally: tally.strangers,
    "unreadable_total": lambda tally: _each({name: name for name in PLATFORMS}, tally.unreadable),
    "receipts_total": lambda tally: _each({True: "received", False: "lost"}, tally.receipts),
    "returns_total": lambda tally: tally.returns,
    "restored_total": lambda tally: tally.restored,
}
_SEEN: Mapping[str, Callable[[Runner], Iterable[Value] | float]] = {
    "waiting": _waiting,
    "oldest_wait_seconds": _oldest,
    "sessions": lambda runner: runner.broker.sessions(),
    "desks": lambda runner: runner.attendance.desks,
    "orders": lambda runner: _each(ORDERS, Counter(order.kind for order in runner.broker.orders())),
    "serving": lambda runner: Health(runner).serving,
    "record_trouble": lambda runner: bool(runner.recorder and runner.recorder.trouble),
    "part": lambda runner: _each({one: one.value for one in Role}, {runner.role: 1}),
    "epoch": lambda runner: runner.pace().epoch,
    "lag_seconds": lambda runner: runner.pace().lag,
    "commit_seconds": lambda runner: runner.pace().commit,
    "commit_batch": lambda runner: runner.pace().batch,
    "clock_skew_seconds": lambda runner: runner.pace().skew,
    "build_info": lambda _: [((__version__,), 1)],
}


def _families(
    found: Mapping[str, Callable[[_Of], Iterable[Value] | float]], defined: Mapping[str, Any]
) -> Sequence[Family[_Of]]:
    """Return the metrics of a table of definitions.toml; raises KeyError where the two differ."""

    def values(name: str) -> Callable[[_Of], Iterable[Value]]:
        find = found[name.removeprefix("crabhook_")]
        return lambda of: [((), said)] if isinstance(said := find(of), int | float) else said

    assert len(found) == len(defined)  # noqa: S101 - a test reads both tables
    return [Family(name, values(name), **one) for name, one in defined.items()]


_DEFINITIONS = tables(__file__, "definitions")
COUNTERS = _families(_COUNTED, _DEFINITIONS["counters"])
GAUGES = _families(_SEEN, _DEFINITIONS["gauges"])
TIMINGS = [Timed(Timing(name), **one) for name, one in _DEFINITIONS["timings"].items()]


LOOK_EVERY = 1.0  # seconds between two looks at the loop's lag
AT_ONCE, AHEAD = "at-once", "ahead"


class Metrics(Collector):
    """Counts what one runner does, from `watch` on, and writes the exposition."""

    CONTENT_TYPE: ClassVar[str] = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the stubs leave it out
        self._timings = {
            one.name: Histogram(
                one.name, one.documentation, one.labels, buckets=one.bounds, registry=None
            )
            for one in TIMINGS
        }
        self._judged = {when: self._timings[Timing.RULES].labels(when) for when in (AT_ONCE, AHEAD)}
        self.tally = Tally(self._timings[Timing.WAIT].observe)
        self._runner: Runner | None = None
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def watch(self, runner: Runner) -> None:
        """Count what the runner does; call it before `Runner.restore` and before a port opens."""
        self.tally.lead_elsewhere()
        self._runner = runner
        runner.witness = self.tally

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus's text format; call it in the loop's thread."""
        return generate_latest(self._registry)

    def timed(self, judge: Judge) -> Judge:
        """Return the judge, timed: long inputs, judged in a thread, have a label of their own."""

        async def judged(event: Event, *, long: bool) -> Ruling | None:
            began = perf_counter()
            try:
                return await judge(event, long=long)
            finally:
                self._judged[AHEAD if long else AT_ONCE].observe(perf_counter() - began)

        return judged

    @asynccontextmanager
    async def keeping_time(self) -> AsyncIterator[None]:
        """Measure once a second how late the loop runs a due task."""
        keeping = asyncio.ensure_future(self._keep_time())
        try:
            yield
        finally:
            keeping.cancel()

    async def _keep_time(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LOOK_EVERY
            await asyncio.sleep(LOOK_EVERY)
            self._timings[Timing.LOOP_LAG].observe(max(0.0, loop.time() - due))

    def collect(self) -> Iterator[Metric]:
        """Yield every metric except those of the process."""
        for one in COUNTERS:
            counter = CounterMetricFamily(one.name, one.documentation, labels=one.labels)
            yield _filled(counter, one.values(self.tally))
        if self._runner is not None:
            for shown in GAUGES:
                gauge = GaugeMetricFamily(shown.name, shown.documentation, labels=shown.labels)
                yield _filled(gauge, shown.values(self._runner))
        for timing in self._timings.values():
            yield from timing.collect()


def _filled(family: CounterMetricFamily | GaugeMetricFamily, values: Iterable[Value]) -> Metric:
    for labels, value in values:
        family.add_metric(labels, value)
    return family
