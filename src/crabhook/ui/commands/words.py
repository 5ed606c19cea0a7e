"""The words of the plain desk, in one table for the parser and the help.

Also read here: lengths of time (90s, 5m, 2h, 1h30m); the life of a rule also in days.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from enum import IntEnum

from crabhook.datatypes import frozen
from crabhook.model.errors import CrabhookError
from crabhook.present.safe import excerpt
from crabhook.tables import tables

MAX_LINE = 1 << 20  # bytes; a reason longer than this was never written by a person
_WIDEST = 20  # columns for a usage; after a longer one the meaning is on the next line
FOR_EVER = "forever"
LONGEST = 100 * 3600  # seconds; no person sits at a desk for longer
_LONGEST_LIFE = timedelta(days=3650)
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


class LineError(CrabhookError):
    """A line that decides nothing: what is wrong, and the right form."""

    def __init__(self, wrong: str, write: str) -> None:
        super().__init__(f"{wrong}; nothing was decided. Write: {write}")
        self.wrong, self.write = wrong, write


class Reach(IntEnum):
    """How many requests one line may decide with a word.

    A word that lets something happen needs numbers: "all" might include an unread request.
    """

    NONE = 0  # the word is about the desk
    ONE = 1
    NAMED = 2  # several, by their numbers, or all that ask the same as one
    ANY = 3  # all, or all of a session


@frozen
class Word:
    """A word of one or two parts, and what follows."""

    name: str
    means: str
    takes: str = ""  # the rest as in the help, optional parts in brackets
    reach: Reach = Reach.ANY
    shown: str = ""  # the word in the help for people, if it is not its name
    newer: bool = False  # programs may write it, but their help does not list it

    @property
    def about_a_card(self) -> bool:
        """Whether the word decides or shows requests, and not the desk."""
        return self.reach is not Reach.NONE

    @property
    def needs(self) -> bool:
        """Whether something must follow."""
        return bool(re.sub(r"\[[^]]*\]", "", self.takes).strip())

    def usage(self, number: int | None = None) -> str:
        """Return how the word is written, for the card `number` or for any."""
        place = "[N]" if number is None else str(number)
        parts = [place if self.about_a_card else "", self.shown or self.name, self.takes]
        return " ".join(part for part in parts if part)


def _read(rows: str) -> Iterator[Word]:
    for row in tables(__file__, "words")[rows]:
        yield Word(**{**row, "reach": Reach[row.get("reach", "ANY")]})


_COMMON, _PERSONAL = tuple(_read("word")), tuple(_read("person"))
WORDS: Mapping[str, Word] = {word.name: replace(word, shown="") for word in _COMMON}
"""The words of programs: what is written on pipes."""

PERSONS_WORDS: Mapping[str, Word] = {
    **{word.name: word for word in (*_COMMON, *_PERSONAL)},
    **{word.shown: word for word in _COMMON if word.shown},
    "take back": WORDS["undo"],
    "?": WORDS["help"],
}
"""The words of a person at a terminal: those of the screen's keys as well as the others."""

_NEWER = {word.name: word.shown for word in _COMMON if word.shown}
_OLDER = re.compile(rf"((?:^| or |, )(?:\S+ )?)({'|'.join(_NEWER)})(?=[ ,]|$)")


def for_a_person(usage: str) -> str:
    """Return how lines are written, each with the word that a person is shown."""
    lines = usage.split(" | ")
    return " | ".join(_OLDER.sub(lambda said: said[1] + _NEWER[said[2]], one) for one in lines)


def help_lines(known: Mapping[str, Word] = WORDS) -> list[str]:
    """Return the table of the `known` words as the operator reads it."""
    words = dict.fromkeys(word for word in known.values() if known is not WORDS or not word.newer)
    lines = [
        "About a request. Without N, the oldest that waits is meant; several at once:",
        "1,3,5 · same=N (all that ask the same) · session=ID · all",
        *_rows(word for word in words if word.about_a_card),
        "About the desk. Times are written 90s, 5m, 2h, 1h30m.",
        *_rows(word for word in words if not word.about_a_card),
    ]
    return [f"  {line}" for line in lines]


def _rows(words: Iterable[Word]) -> Iterator[str]:
    for word in words:
        usage = word.usage()
        if len(usage) > _WIDEST:
            yield usage
            usage = ""
        older = f" (or {word.name})" if word.shown else ""
        yield f"{usage:{_WIDEST}}  {word.means}{older}"


def read_duration(text: str, usage: str) -> float:
    """Return the seconds that `text` says; `usage` is the line's, for the hint in a LineError."""
    length = _length(text, "hms", usage, "length of time such as 90s, 5m, 2h or 1h30m")
    if not 0 < length.total_seconds() <= LONGEST:
        wrong = f"a length of time is more than nothing and at most {LONGEST // 3600}h"
        raise LineError(wrong, usage)
    return length.total_seconds()


def read_life(text: str, usage: str) -> timedelta | None:
    """Return how long a rule is to hold, None for ever; `usage` is as for `read_duration`."""
    if text.lower() == FOR_EVER:
        return None
    life = _length(text, "dh", usage, f"life of a rule such as 12h, 7d, 30d or {FOR_EVER}")
    if not timedelta() < life <= _LONGEST_LIFE:
        most = f"{_LONGEST_LIFE.days}d, or {FOR_EVER}"
        raise LineError(f"a rule holds for more than nothing and at most {most}", usage)
    return life


def _length(text: str, units: str, usage: str, wanted: str) -> timedelta:
    written = "".join(rf"(?:(?P<{_UNITS[unit]}>[0-9]{{1,6}}){unit})?" for unit in units)
    found = re.fullmatch(written, text, re.IGNORECASE)
    if not found or not text:
        raise LineError(f'"{excerpt(text)}" is no {wanted}', usage)
    return timedelta(**{unit: int(count or 0) for unit, count in found.groupdict().items()})
