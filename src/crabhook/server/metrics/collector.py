"""What Prometheus reads of a server: numbers alone, nothing that an agent has sent.

Importing prometheus_client costs a server's start 20 ms, so nothing imports
this module unless somebody wants metrics.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import ClassVar

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

from crabhook.model.event import Event
from crabhook.policy.ruling import Ruling
from crabhook.server.core.law import Judge
from crabhook.server.core.runner import Runner
from crabhook.server.metrics.definitions import COUNTERS, GAUGES, TIMINGS, Timing, Value
from crabhook.server.metrics.tally import Tally

LOOK_EVERY = 1.0  # seconds between two looks at the loop's lag
AT_ONCE, AHEAD = "at-once", "ahead"


class Metrics(Collector):
    """Counts what one runner does, from `watch` on, and writes it down for whoever asks."""

    CONTENT_TYPE: ClassVar[str] = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the stubs leave it out
        self._timings = {
            one.name: Histogram(one.name, one.told, one.labels, buckets=one.bounds, registry=None)
            for one in TIMINGS
        }
        self._judged = {when: self._timings[Timing.RULES].labels(when) for when in (AT_ONCE, AHEAD)}
        self.tally = Tally(self._timings[Timing.WAIT].observe)
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
                self._judged[AHEAD if long else AT_ONCE].observe(perf_counter() - began)

        return judged

    @asynccontextmanager
    async def keeping_time(self) -> AsyncIterator[None]:
        """Measure once a second how late the loop comes to what is due."""
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
        for timing in self._timings.values():
            yield from timing.collect()


def _filled(family: CounterMetricFamily | GaugeMetricFamily, values: Iterable[Value]) -> Metric:
    for labels, value in values:
        family.add_metric(labels, value)
    return family
