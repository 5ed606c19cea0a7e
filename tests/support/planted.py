"""A past for a soak's judge: a record in the making, and violations of its laws that are planted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pytest

from crabhook.model.card import Leg, Origin, Stance
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.platforms import PLATFORMS
from crabhook.store import entries
from crabhook.store.change import Change, KeptReply, Waiting, delivered, settled, waits
from crabhook.store.opening import open_writer
from crabhook.store.record import Retention
from tests.soak.jobs import RULINGS, Job, Source
from tests.soak.said import NOBODY, Printed
from tests.support.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crabhook.model.actor import Actor
    from crabhook.model.event import Event

ALLOW = Decision(Verdict.ALLOW)
DENY = Decision(Verdict.DENY, reason="because")
SILENCE = Printed(0, b"", b"")
ENDS = 60.0, 90.0  # when a request stops waiting, and when its hook would

_Past = TypeVar("_Past", bound="Past")
_Plant = TypeVar("_Plant", bound=Callable[[Any], None])


@cache
def _drawn() -> list[Job]:
    return Source(Random(1)).load(1500, 1)


def job(
    wish: str = "allow", *, at: int = 0, sample: str = "PreToolUse-Bash", **changes: Any
) -> Job:
    """The so manieth job of that wish, as a soak draws it."""
    fits = [
        job
        for job in _drawn()
        if (job.agent, job.sample, job.wish) == ("claude", sample, wish)
        and not job.again
        and (job.wait > 6 or wish in RULINGS)
    ]
    return replace(fits[at], **{"fail_closed": False, "companion": False, **changes})


def event(asked: Job) -> Event:
    """The event that a job's hook is given."""
    return PLATFORMS[asked.agent].read(asked.payload)


def reply(asked: Job, decision: Decision = ALLOW) -> Printed:
    """What the job's hook prints of a decision."""
    return Printed(0, PLATFORMS[asked.agent].write(event(asked), decision).stdout, b"")


def nobody(kind: str, words: str = "no such socket") -> Printed:
    """What a hook prints that nobody answered."""
    return Printed(0, b"", f"{NOBODY[kind]}{words})\n".encode())


@dataclass
class Past:
    """A record in the making; the numbers of the jobs that were started."""

    folder: Path
    changes: list[Change] = field(default_factory=list)
    started: set[int] = field(default_factory=set)

    def asks(self, asked: Job, card: int = 0) -> Leg:
        """A job is asked about on a card of its own number, or on the one that is named."""
        card = card or asked.number
        request = Leg(f"r{asked.number}", event(asked), 0, Stance.GATE, Origin())
        entry = entries.asked(request, 1.0, card=card, legs=[request.id], ends=ENDS)
        times = ("gate", 1.0, 9.0, card, "h", 1, "u", 9.0, "")
        waiting = Waiting(request.id, "secret", asked.agent, asked.payload, *times)
        self.changes.append(waits(waiting, entry))
        self.started.add(asked.number)
        return request

    def on_record(self, asked: Job, decision: Decision, by: Actor, card: int = 0) -> None:
        """A job's card is decided."""
        legs, made = [f"r{asked.number}"], Decided(decision, by)
        number = card or asked.number
        entry = entries.decided(event(asked), made, 2.0, legs=legs, waited=0.1, card=number)
        answer = KeptReply(legs[0], "secret", reply(asked, decision).stdout, "", 0, 2.0, None)
        self.changes.append(settled([answer], entry))

    def is_delivered(self, asked: Job, card: int = 0) -> None:
        """The record says that the hook has its answer."""
        request, number = f"r{asked.number}", card or asked.number
        entry = entries.delivered(event(asked), 3.0, request_id=request, card=number)
        self.changes.append(delivered(request, entry, whole=True))

    def ledger(self) -> Ledger:
        """The record as it is now."""
        with closing(open_writer(self.folder, Retention(180, 10**9))) as store:
            store.write(self.changes)
        self.changes.clear()
        return Ledger(self.folder)


Law = Callable[[Any], "Iterator[str]"]
Planting = tuple[Callable[[_Past], None], Law | None, str]
"""What makes a past that breaks a law, the law, and the words of its fault; None: it breaks no law."""


class Garden(Generic[_Past]):
    """The plantings for a judge's laws; functions are planted by decorators."""

    def __init__(self, *laws: Law) -> None:
        self.laws = laws
        self.plantings: list[Planting[_Past]] = []

    def breaks(self, law: Law | None, words: str) -> Callable[[_Plant], _Plant]:
        """Plant what breaks this law, which is said in these words."""

        def planted(plant: _Plant) -> _Plant:
            self.plantings.append((plant, law, words))
            return plant

        return planted

    def agrees(self, plant: _Plant) -> _Plant:
        """Plant what breaks no law."""
        return self.breaks(None, "")(plant)

    def parameters(self) -> list[Any]:
        """Return the plantings as parameters of a test."""
        return [pytest.param(*planting, id=planting[0].__name__) for planting in self.plantings]

    def check(self, case: Any, law: Law | None, words: str) -> None:
        """Assert that the judge finds what was planted in a case, or nothing where all agrees."""
        faults = {each: list(each(case)) for each in self.laws}
        if law is None:
            assert not any(faults.values()), faults
        else:
            assert any(words in fault for fault in faults[law]), faults

    def unplanted(self) -> set[str]:
        """Return the laws that no planting breaks: such a law may be none."""
        broken = {law for _, law, _ in self.plantings}
        return {law.__name__ for law in self.laws if law not in broken}
