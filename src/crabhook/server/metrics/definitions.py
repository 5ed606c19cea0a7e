"""The numbers that are shown of a server, each with its name, what it tells, and where it is found.

docs/reference/metrics.md is this table for people.  Every label is one of a few words of
our own: nothing that an agent has sent may appear in any of them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeAlias, TypeVar

from crabhook import __version__
from crabhook.broker.messages import Refusal
from crabhook.model.actor import OrderKind
from crabhook.platforms import PLATFORMS
from crabhook.server.core.runner import Runner
from crabhook.server.health import Health
from crabhook.server.metrics.tally import End, Tally, labels_of

Value: TypeAlias = tuple[Sequence[str], float]
"""A number, under the values of its labels."""

_Of = TypeVar("_Of")


@dataclass(frozen=True, slots=True)
class Family(Generic[_Of]):
    """Numbers of one name; `values` finds them."""

    name: str
    told: str
    values: Callable[[_Of], Iterable[Value]]
    labels: tuple[str, ...] = ()


class Timing(StrEnum):
    """What is timed, and shown as a histogram."""

    WAIT = "crabhook_wait_seconds"
    RULES = "crabhook_rules_seconds"
    LOOP_LAG = "crabhook_loop_lag_seconds"


@dataclass(frozen=True, slots=True)
class Timed:
    """A histogram: its name, what it tells, its bounds in seconds, and its labels."""

    name: Timing
    told: str
    bounds: Sequence[float]
    labels: tuple[str, ...] = ()


def _word(name: str) -> str:
    return name.lower().replace("_", "-")


# The one left out is told to a connection whose request goes on by another.
REASONS = {one: _word(one.name) for one in Refusal if one is not Refusal.SUPERSEDED}
ORDERS = {kind: _word(kind.name) for kind in OrderKind}


def _one(value: float) -> Iterable[Value]:
    return [((), value)]


def _waiting(runner: Runner) -> Iterable[Value]:
    legs = [leg for card in runner.waiting() for leg in card.requests]
    many = Counter(dict.fromkeys(PLATFORMS, 0))
    many.update(labels_of(leg.event)[0] for leg in legs)
    return [((platform,), number) for platform, number in many.items()]


def _oldest(runner: Runner) -> float:
    now = runner.now()
    return max((now - card.asked_at for card in runner.waiting()), default=0.0)


def _orders(runner: Runner) -> Iterable[Value]:
    standing = Counter(order.kind for order in runner.orders())
    return [((word,), standing[kind]) for kind, word in ORDERS.items()]


def _decisions(tally: Tally) -> Iterable[Value]:
    return [((by.value, verdict), many) for (by, verdict), many in tally.decisions.items()]


def _receipts(tally: Tally) -> Iterable[Value]:
    return [(("received",), tally.receipts[True]), (("lost",), tally.receipts[False])]


COUNTERS: Sequence[Family[Tally]] = (
    Family(
        "crabhook_requests_total",
        "Requests taken in: they wait, were decided as they came, or were only observed.",
        lambda tally: tally.taken_in.items(),
        ("platform", "event"),
    ),
    Family(
        "crabhook_requests_ended_total",
        "How requests that were taken in ended; each ends once.",
        lambda tally: [((end.value,), tally.ended[end]) for end in End],
        ("end",),
    ),
    Family(
        "crabhook_decisions_total",
        "Requests that were decided, by whom and how.",
        _decisions,
        ("by", "verdict"),
    ),
    Family(
        "crabhook_refusals_total",
        "Requests turned away at the door without a reply.",
        lambda tally: [((word,), tally.refusals[one]) for one, word in REASONS.items()],
        ("reason",),
    ),
    Family(
        "crabhook_unauthenticated_total",
        "Calls from beyond the Unix socket without the right token.",
        lambda tally: _one(tally.strangers),
    ),
    Family(
        "crabhook_unreadable_total",
        "Hook inputs that could not be read.",
        lambda tally: [((platform,), tally.unreadable[platform]) for platform in PLATFORMS],
        ("platform",),
    ),
    Family(
        "crabhook_receipts_total",
        "Replies that an operator's decision made, by whether their hooks said they had them.",
        _receipts,
        ("fate",),
    ),
    Family(
        "crabhook_returns_total",
        "Hooks that lost their connection and came back with their ticket.",
        lambda tally: _one(tally.returns),
    ),
    Family(
        "crabhook_restored_total",
        "Requests, of those taken in, that already waited at the server before this one.",
        lambda tally: _one(tally.restored),
    ),
)
GAUGES: Sequence[Family[Runner]] = (
    Family("crabhook_waiting", "Requests that wait now.", _waiting, ("platform",)),
    Family(
        "crabhook_oldest_wait_seconds",
        "How long the card that has waited longest has waited.",
        lambda runner: _one(_oldest(runner)),
    ),
    Family(
        "crabhook_sessions",
        "Sessions that were heard of and have not ended.",
        lambda runner: _one(runner.sessions()),
    ),
    Family("crabhook_orders", "Standing orders.", _orders, ("kind",)),
    Family(
        "crabhook_serving",
        "1 while requests are taken in, 0 while they are turned away or let go.",
        lambda runner: _one(Health(runner).serving),
    ),
    Family(
        "crabhook_record_trouble",
        "1 while something is wrong with the record.",
        lambda runner: _one(runner.recorder is not None and bool(runner.recorder.trouble)),
    ),
    Family(
        "crabhook_build_info",
        "The version that runs, as a label.",
        lambda _: [((__version__,), 1)],
        ("version",),
    ),
)
TIMINGS: Sequence[Timed] = (
    Timed(
        Timing.WAIT,
        "How long requests waited that the operator decided.",
        # 1 ms, where rules and programs answer, to an hour, as long as a request waits.
        (0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600),
    ),
    Timed(
        Timing.RULES,
        "How long the rules took over an event: at once, or a long one ahead, in a thread.",
        (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5),
        ("when",),
    ),
    Timed(
        Timing.LOOP_LAG,
        "How late the server came to what was due; one look a second.",
        (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5),
    ),
)
