"""How a server's events are judged: by the law, and with a clock beside it where metrics are read.

prometheus_client is imported for these alone: nobody else waits for it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crabhook.broker.law import Judge
from crabhook.server.door import Study
from crabhook.server.law import Law

if TYPE_CHECKING:
    from crabhook.server.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Judging:
    """The judge and the study of long inputs, and what measures them, if anything does."""

    judge: Judge
    study: Study
    metrics: "Metrics | None" = None


def judging(law: Law, *, measured: bool) -> Judging:
    """Return the law's judging, measured or plain."""
    if not measured:
        return Judging(law.judge, law.study)
    from crabhook.server.metrics import Metrics  # noqa: PLC0415 - see above

    metrics = Metrics()
    return Judging(metrics.timed(law.judge), metrics.timed_ahead(law.study), metrics)
