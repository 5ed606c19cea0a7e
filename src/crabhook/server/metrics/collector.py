"""The metrics for Prometheus: numbers alone, without any text of an agent.

The import of prometheus_client costs 20 ms, so the server imports this module only for `--http`.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any, ClassVar, TypeAlias

from prometheus_client import (
    CollectorRegistry,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from crabhook import __version__
from crabhook.broker.messages import Refusal
from crabhook.data_files import tables
from crabhook.datatypes import frozen
from crabhook.model.actor import OrderKind
from crabhook.model.card import Card
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import Ruling
from crabhook.server.core.rules_in_force import Rules
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import Health
from crabhook.server.metrics.tally import End, Exported, Pushed, Tally, TurnedAway, labels_of

Said: TypeAlias = float | Iterable[tuple[Sequence[str], float]]
"""A metric's number; or a number for each combination of its labels' values."""


@frozen
class Definition:
    """A metric of definitions.toml; a histogram has the bounds of its buckets, in seconds."""

    name: str
    documentation: str
    labels: Sequence[str] = ()
    bounds: Sequence[float] = ()


COUNTERS, GAUGES, TIMINGS = (
    [Definition(name, **row) for name, row in tables(__file__, "definitions")[kind].items()]
    for kind in ("counters", "gauges", "timings")
)


def _word(name: str) -> str:
    return name.lower().replace("_", "-")


# SUPERSEDED ends a connection, not a request: that waits on another connection.
REASONS = {reason: _word(reason.name) for reason in Refusal if reason is not Refusal.SUPERSEDED}
REASONS[Refusal.ELSEWHERE] = "standby"  # as dashboards know it
ORDERS = {kind: _word(kind.name) for kind in OrderKind}
RECEIPTS = {True: "received", False: "lost"}


def _each(values: Iterable[Any], counted: Mapping[Any, float]) -> Said:
    """Return the number of each of `values`, 0 where nothing was counted.

    A mapping has the word for each value in the label, otherwise the value is the word.
    """
    words = values if isinstance(values, Mapping) else {value: str(value) for value in values}
    return [((word,), counted.get(value, 0)) for value, word in words.items()]


def _cards(runner: Runner) -> Iterable[Card]:
    """Return the cards that wait here, and not at another server."""
    return () if runner.elsewhere else runner.broker.waiting()


def _waiting(runner: Runner) -> Said:
    legs = [leg for card in _cards(runner) for leg in card.requests]
    many = Counter(labels_of(leg.event)[0] for leg in legs)
    return _each((*PLATFORMS, *many), many)


def _oldest(runner: Runner) -> float:
    now = runner.now()
    return max((now - card.asked_at for card in _cards(runner)), default=0.0)


_COUNTED: Mapping[str, Callable[[Tally], Said]] = {
    "crabhook_requests_total": lambda tally: tally.taken_in.items(),
    "crabhook_requests_ended_total": lambda tally: _each(End, tally.ended),
    "crabhook_decisions_total": lambda tally: tally.decisions.items(),
    "crabhook_operator_decisions_total": lambda tally: tally.roles.items(),
    "crabhook_desk_refusals_total": lambda tally: _each(TurnedAway, tally.turned_away_for),
    "crabhook_pushes_total": lambda tally: _each(Pushed, tally.pushes),
    "crabhook_exported_total": lambda tally: _each(Exported, tally.exports),
    "crabhook_refusals_total": lambda tally: _each(REASONS, tally.refusals),
    "crabhook_unauthenticated_total": lambda tally: tally.strangers,
    "crabhook_unreadable_total": lambda tally: _each([*PLATFORMS], tally.unreadable),
    "crabhook_receipts_total": lambda tally: _each(RECEIPTS, tally.receipts),
    "crabhook_returns_total": lambda tally: tally.returns,
    "crabhook_restored_total": lambda tally: tally.restored,
    "crabhook_listeners_opened_anew_total": lambda tally: tally.listeners,
}
_SEEN: Mapping[str, Callable[[Runner], Said]] = {
    "crabhook_waiting": _waiting,
    "crabhook_oldest_wait_seconds": _oldest,
    "crabhook_sessions": lambda runner: runner.broker.sessions(),
    "crabhook_desks": lambda runner: runner.attendance.desks,
    "crabhook_orders": lambda runner: _each(
        ORDERS, Counter(order.kind for order in runner.broker.orders())
    ),
    "crabhook_serving": lambda runner: Health(runner).serving,
    "crabhook_listeners_silent": lambda runner: runner.silent(),
    "crabhook_record_trouble": lambda runner: bool(runner.recorder and runner.recorder.trouble),
    "crabhook_export_behind": lambda runner: runner.exporter.behind if runner.exporter else 0,
    "crabhook_export_failing": lambda runner: bool(runner.exporter and runner.exporter.failing),
    "crabhook_build_info": lambda _: [((__version__,), 1)],
}


class _TimedRules:
    """The rules, with the time that each ruling takes."""

    def __init__(self, rules: Rules, timings: Mapping[str, Histogram]) -> None:
        self._rules, self._timings = rules, timings
        self.risk, self.warnings, self.edition = rules.risk, rules.warnings, rules.edition
        self.state, self.listen = rules.state, rules.listen

    @property
    def trouble(self) -> str:
        """The fault of the owner's own files."""
        return self._rules.trouble

    async def judge(self, event: Event, /, *, long: bool) -> Ruling | None:
        """Return the ruling, and count its time."""
        began = perf_counter()
        try:
            return await self._rules.judge(event, long=long)
        finally:
            self._timings[AHEAD if long else AT_ONCE].observe(perf_counter() - began)


LOOK_EVERY = 1.0  # seconds between two looks at the loop's lag
AT_ONCE, AHEAD = "at-once", "ahead"


class Metrics(Collector):
    """Counts what one runner does, from `watch` on, and writes the exposition."""

    CONTENT_TYPE: ClassVar[str] = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the stubs leave it out
        self._timings = {
            definition.name: Histogram(
                definition.name,
                definition.documentation,
                definition.labels,
                buckets=definition.bounds,
                registry=None,
            )
            for definition in TIMINGS
        }
        rules = self._timings["crabhook_rules_seconds"]
        self._judged = {when: rules.labels(when) for when in (AT_ONCE, AHEAD)}
        self.tally = Tally(self._timings["crabhook_wait_seconds"].observe)
        self._runner: Runner | None = None
        self._beside: Callable[[], Mapping[str, Said]] = dict
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def watch(self, runner: Runner, gauges: Callable[[], Mapping[str, Said]]) -> None:
        """Show a runner, whose witness is `tally`, from now on; call it before `Runner.restore`.

        `gauges` returns those that the runner does not know, by their names.
        """
        self.tally.lead_elsewhere()
        self._runner, self._beside = runner, gauges

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus's text format; call it in the loop's thread."""
        return generate_latest(self._registry)

    def timed(self, rules: Rules) -> Rules:
        """Return the rules, timed: long inputs, judged in a thread, have a label of their own."""
        return _TimedRules(rules, self._judged)

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
            self._timings["crabhook_loop_lag_seconds"].observe(max(0.0, loop.time() - due))

    def collect(self) -> Iterator[Metric]:
        """Yield every metric except those of the process."""
        for definition in COUNTERS:
            counter = CounterMetricFamily(
                definition.name, definition.documentation, labels=definition.labels
            )
            yield _filled(counter, _COUNTED[definition.name](self.tally))
        if (runner := self._runner) is not None:
            seen = {name: see(runner) for name, see in _SEEN.items()} | {**self._beside()}
            for definition in GAUGES:
                gauge = GaugeMetricFamily(
                    definition.name, definition.documentation, labels=definition.labels
                )
                yield _filled(gauge, seen[definition.name])
        for timing in self._timings.values():
            yield from timing.collect()


def _filled(family: CounterMetricFamily | GaugeMetricFamily, counts: Said) -> Metric:
    for labels, value in [((), counts)] if isinstance(counts, int | float) else counts:
        family.add_metric(labels, value)
    return family
