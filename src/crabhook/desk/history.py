"""What ended, as a desk tells it: each call that was decided, and each wait that ended without."""

from dataclasses import dataclass

from crabhook.model.card import Card


@dataclass(frozen=True, slots=True)
class Past:
    """A call or a wait that ended.

    `id` names it among what ended; where `recorded`, it is the number of its record in the chain.
    `at` is when it ended, wall seconds since 1970, `waited` for how many seconds it had waited.
    `card` is what was asked, without secrets, and how it ended; its number is 0 where it was
    decided at once, on no card.  In a page of the history it has the start of what was asked.
    `missing` says why the answer did not reach its hook, `why` how it ended where no more is known.
    """

    id: int
    at: float
    card: Card
    waited: float = 0.0
    missing: str = ""
    why: str = ""
    recorded: bool = True


@dataclass(frozen=True, slots=True)
class HistoryRead:
    """A page of what ended before the entry `before`, or of all, the newest first.

    `goes_on`: before which entry the next page begins; 0 where there is no more.
    `why` says why there is no more to be had, where something is wrong.
    """

    before: int
    entries: tuple[Past, ...] = ()
    goes_on: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class EntryRead:
    """One entry of the history, whole; None where it is no longer kept."""

    id: int
    entry: Past | None
