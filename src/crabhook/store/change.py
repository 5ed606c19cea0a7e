"""Changes: what is written together or not at all.

A change carries both what is recorded for good and what the server needs
again after a kill, so the two can never tell different stories.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from crabhook.store.record import Entry
from crabhook.store.working import Answer, Halt, Waiting


@dataclass(frozen=True, slots=True)
class Change:
    """One indivisible step.

    `waiting` begin to wait (or wait on, changed), `ended` are ids that no
    longer do, `answers` were given, `delivered` are ids with whether their
    client has its reply; `halts`, where it is not None, are all sessions that
    are halted from now on.
    """

    entries: tuple[Entry, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    ended: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()
    delivered: tuple[tuple[str, bool], ...] = ()
    halts: tuple[Halt, ...] | None = None


def happened(*entries: Entry) -> Change:
    """Something to record, and nothing else."""
    return Change(entries)


def waits(waiting: Waiting, *entries: Entry) -> Change:
    """A request is about to be shown."""
    return Change(entries, waiting=(waiting,))


def settled(answers: Sequence[Answer], *entries: Entry) -> Change:
    """A card was decided: the decision, its record and every leg's answer are one."""
    ids = tuple(answer.request_id for answer in answers)
    return Change(entries, ended=ids, answers=tuple(answers))


def left(request_ids: Iterable[str], *entries: Entry) -> Change:
    """Requests ended without an answer of ours."""
    return Change(entries, ended=tuple(request_ids))


def delivered(request_id: str, *entries: Entry, whole: bool) -> Change:
    """It is known whether a client has its reply."""
    return Change(entries, delivered=((request_id, whole),))


def halted(halts: tuple[Halt, ...]) -> Change:
    """The sessions that are halted from now on; all of them."""
    return Change(halts=halts)
