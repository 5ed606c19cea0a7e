"""What Prometheus reads of a server: numbers alone, nothing that an agent has sent.

Importing prometheus_client costs a server's start 20 ms, so nothing imports
this module unless somebody wants metrics.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from time import perf_counter
from typing import ClassVar, TypeVar

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from crabhook.model.event import Event
from crabhook.policy.ruling import Ruling
from crabhook.server.metrics.definitions import COUNTERS, GAUGES, TIMINGS, Timing, Value
from crabhook.server.runner import Judge, Runner
from crabhook.server.spread import Spread
from crabhook.server.tally import Tally

RULE_TIMES = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5)
LAGS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5)
LOOK_EVERY = 1.0  # seconds between two looks at the loop's lag
AT_ONCE, AHEAD = "at-once", "ahead"

_Bound = TypeVar("_Bound")


class Metrics(Collector):
    """Counts what one runner does, from `watch` on, and writes it down for whoever asks."""

    CONTENT_TYPE: ClassVar[str] = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self) -> None:
        self.tally = Tally()
        self._judged = {AT_ONCE: Spread(RULE_TIMES), AHEAD: Spread(RULE_TIMES)}
        self._lag = Spread(LAGS)
        self._runner: Runner | None = None
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def __repr__(self) -> str:
        return f"<Metrics {self.tally!r}>"

    def watch(self, runner: Runner) -> None:
        """Count what the runner does; before `Runner.restore`, and before any port opens."""
        self._runner = runner
        runner.witness = self.tally

    def exposition(self) -> bytes:
        """Return everything in Prometheus's text format, CONTENT_TYPE; for the loop's thread."""
        return generate_latest(self._registry)

    # How long things take.

    def timed(self, judge: Judge) -> Judge:
        """Return the judge, with a clock beside it: one for what is judged ahead in a thread."""

        async def judged(event: Event, *, long: bool) -> Ruling | None:
            began = perf_counter()
            try:
                return await judge(event, long=long)
            finally:
                self._judged[AHEAD if long else AT_ONCE].add(perf_counter() - began)

        return judged

    @asynccontextmanager
    async def keeping_time(
        self, port: AbstractAsyncContextManager[_Bound]
    ) -> AsyncIterator[_Bound]:
        """Open a port, and measure once a second how late the loop comes to what is due."""
        async with port as bound:
            keeping = asyncio.ensure_future(self._keep_time())
            try:
                yield bound
            finally:
                keeping.cancel()

    async def _keep_time(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LOOK_EVERY
            await asyncio.sleep(LOOK_EVERY)
            self._lag.add(max(0.0, loop.time() - due))

    # What there is to read.

    def collect(self) -> Iterator[Metric]:
        """Return every family but those of the process."""
        for one in COUNTERS:
            counter = CounterMetricFamily(one.name, one.told, labels=one.labels)
            yield _filled(counter, one.values(self.tally))
        if self._runner is not None:
            for shown in GAUGES:
                gauge = GaugeMetricFamily(shown.name, shown.told, labels=shown.labels)
                yield _filled(gauge, shown.values(self._runner))
        spreads = self._spreads()
        for timing, told, names in TIMINGS:
            histogram = HistogramMetricFamily(timing.value, told, labels=names)
            for key, spread in spreads[timing].items():
                histogram.add_metric(key, spread.buckets(), spread.total)
            yield histogram

    def _spreads(self) -> Mapping[Timing, Mapping[tuple[str, ...], Spread]]:
        return {
            Timing.WAIT: {(): self.tally.waits},
            Timing.RULES: {(when,): spread for when, spread in self._judged.items()},
            Timing.LOOP_LAG: {(): self._lag},
        }


def _filled(family: CounterMetricFamily | GaugeMetricFamily, values: Iterable[Value]) -> Metric:
    for labels, value in values:
        family.add_metric(labels, value)
    return family
