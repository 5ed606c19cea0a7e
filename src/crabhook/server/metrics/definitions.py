"""The numbers that are shown of a server: definitions.toml names them, and here they are found."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeAlias, TypeVar

from crabhook import __version__
from crabhook.broker.messages import Refusal
from crabhook.model.actor import OrderKind
from crabhook.platforms import PLATFORMS
from crabhook.server.core.runner import Runner
from crabhook.server.health import Health
from crabhook.server.metrics.tally import End, Tally, labels_of
from crabhook.tables import tables

Value: TypeAlias = tuple[Sequence[str], float]
"""A number, under the values of its labels."""

_Of = TypeVar("_Of")


@dataclass(frozen=True, slots=True)
class Family(Generic[_Of]):
    """Numbers of one name; `values` finds them."""

    name: str
    values: Callable[[_Of], Iterable[Value]]
    told: str
    labels: Sequence[str] = ()


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
    labels: Sequence[str] = ()


def _word(name: str) -> str:
    return name.lower().replace("_", "-")


# The one left out is told to a connection whose request goes on by another.
REASONS = {one: _word(one.name) for one in Refusal if one is not Refusal.SUPERSEDED}
ORDERS = {kind: _word(kind.name) for kind in OrderKind}


def _each(words: Mapping[Any, str], counted: Mapping[Any, float]) -> Iterable[Value]:
    """Return what was counted of each, 0 of those that never came, under its word."""
    return [((word,), counted.get(one, 0)) for one, word in words.items()]


def _waiting(runner: Runner) -> Iterable[Value]:
    legs = [leg for card in runner.waiting() for leg in card.requests]
    many = Counter(labels_of(leg.event)[0] for leg in legs)
    return _each({name: name for name in (*PLATFORMS, *many)}, many)


def _oldest(runner: Runner) -> float:
    now = runner.now()
    return max((now - card.asked_at for card in runner.waiting()), default=0.0)


_COUNTED: Mapping[str, Callable[[Tally], Iterable[Value] | float]] = {
    "requests_total": lambda tally: tally.taken_in.items(),
    "requests_ended_total": lambda tally: _each({end: end.value for end in End}, tally.ended),
    "decisions_total": lambda tally: tally.decisions.items(),
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
    "sessions": lambda runner: runner.sessions(),
    "orders": lambda runner: _each(ORDERS, Counter(order.kind for order in runner.orders())),
    "serving": lambda runner: Health(runner).serving,
    "record_trouble": lambda runner: bool(runner.recorder and runner.recorder.trouble),
    "build_info": lambda _: [((__version__,), 1)],
}


def _families(
    found: Mapping[str, Callable[[_Of], Iterable[Value] | float]], told: Mapping[str, Any]
) -> Sequence[Family[_Of]]:
    """Return the families of a table of definitions.toml; raises KeyError where the two differ."""

    def values(name: str) -> Callable[[_Of], Iterable[Value]]:
        find = found[name.removeprefix("crabhook_")]
        return lambda of: [((), said)] if isinstance(said := find(of), int | float) else said

    assert len(found) == len(told)  # noqa: S101 - data of ours, which a test reads
    return [Family(name, values(name), **one) for name, one in told.items()]


_TOLD = tables(__file__, "definitions")
COUNTERS = _families(_COUNTED, _TOLD["counters"])
GAUGES = _families(_SEEN, _TOLD["gauges"])
TIMINGS = [Timed(Timing(name), **one) for name, one in _TOLD["timings"].items()]
