"""Puts a runner together from its parts, for servers, the demo, benchmarks and tests.

The parts come first, and the runner is given them. What a part has to tell later it tells its own
listeners (the rules), or a value that the runner reads (faults, leadership).
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from crabhook.app.decisions import Day, DecisionLog
from crabhook.app.leadership import Leadership, Writing, gauges
from crabhook.datatypes import frozen
from crabhook.platforms import PLATFORMS
from crabhook.server.core.desk_queries import OfferedFrom
from crabhook.server.core.parts import Parts
from crabhook.server.core.rules_in_force import Rules, RulesInForce
from crabhook.server.core.runner import Runner
from crabhook.store.opening import Place

if TYPE_CHECKING:
    from crabhook.server.metrics.collector import Metrics


@frozen
class Wired:
    """A runner, and those of its parts that the application goes on with."""

    runner: Runner
    leadership: Leadership
    in_force: RulesInForce
    day: Day
    log: DecisionLog


def wire(
    in_force: RulesInForce,
    place: Place,
    parts: Parts | None = None,
    *,
    leadership: Leadership | None = None,
    metrics: "Metrics | None" = None,
) -> Wired:
    """Return a runner that decides by these rules, and offers rules from a record.

    `place` is where the record is, `parts` are the other parts. Without `leadership` no other
    server shares the record. The day's counts and the log of decisions hear of every decision,
    beside those that the parts name.
    """
    in_force.look()
    base, day, log = parts or Parts(PLATFORMS), Day(), DecisionLog()
    leadership = leadership or Writing()
    rules: Rules = metrics.timed(in_force) if metrics else in_force
    witness = metrics.tally if metrics else base.witness
    hears = (*base.decided, day.hear, log.hear)
    offers = OfferedFrom(in_force.files, in_force, place)
    made = replace(base, rules=rules, offers=offers, witness=witness)
    runner = Runner(replace(made, counts=day, decided=hears, sharing=leadership))
    if metrics:
        metrics.watch(runner, partial(gauges, leadership))
    return Wired(runner, leadership, in_force, day, log)
