"""The laws that a soak of one server and that of a cluster share: of the record, and of ends.

A law takes a case, all that there is to judge, and yields in words how it is broken.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Protocol, TypeVar

from crabhook.store.record import RecordKind
from tests.soak.jobs import job_of
from tests.support.ledger import legs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.support.ledger import Ledger

_Case = TypeVar("_Case")
ENDS = (RecordKind.DECIDED, RecordKind.WITHDRAWN, RecordKind.EXPIRED)


class Recorded(Protocol):
    """A case that has a record."""

    @property
    def ledger(self) -> Ledger:
        """The record, read once."""


def broken(laws: Iterable[Callable[[_Case], Iterator[str]]], case: _Case) -> list[str]:
    """Return every way in which a law is broken, in words."""
    return [fault for law in laws for fault in law(case)]


def of_the_record(case: Recorded) -> Iterator[str]:
    """The record agrees with itself."""
    yield from case.ledger.of_the_record()


def ends_once(ended: Iterable[int], started: Iterable[int]) -> Iterator[str]:
    """Every job that was started ends once."""
    ends = Counter(ended)
    yield from (f"job {job} ended {many} times" for job, many in ends.items() if many > 1)
    yield from (f"job {job} never ended" for job in sorted(started) if job not in ends)


def final_states(case: Recorded) -> Iterator[str]:
    """Every card that was asked about ends once, and every request is about one job."""
    ledger = case.ledger
    cards = {one.card for one in ledger.of(RecordKind.ASKED) if one.card is not None}
    ends = Counter(one.card for one in ledger.records if one.kind in ENDS and one.card is not None)
    for card in sorted(cards | ends.keys()):
        if ends[card] != 1 or card not in cards:
            yield f"card {card} was asked: {card in cards}, and has {ends[card]} ends"
    requests = defaultdict[int, set[str]](set)
    for one in ledger.records:
        number = job_of(one)
        if number is not None and one.request_id and one.kind != RecordKind.DECIDED:
            requests[number].add(one.request_id)
    yield from (f"job {job} has {ids}" for job, ids in requests.items() if len(ids) > 1)


def requests_end(case: Recorded) -> Iterator[str]:
    """Every request ends once: it leaves its card, or is on it when that ends."""
    on = defaultdict[int, set[str]](set)
    for one in case.ledger.records:
        if one.card is None:
            continue
        if one.kind == RecordKind.ASKED:
            on[one.card].add(one.request_id)
        elif one.kind == RecordKind.LEFT and one.request_id not in on[one.card]:
            yield f"request {one.request_id} left card {one.card}, which it was not on"
        elif one.kind == RecordKind.LEFT:
            on[one.card].remove(one.request_id)
        elif one.kind in ENDS:
            there, legs = on.pop(one.card, set()), set(legs_of(one))
            if one.kind == RecordKind.DECIDED and there != legs:
                yield f"card {one.card} was decided for {sorted(legs)}; on it were {sorted(there)}"
    yield from (f"requests {sorted(ids)} never ended" for ids in on.values() if ids)
