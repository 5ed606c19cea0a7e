"""The words of the plain desk: the acts of an operator, as a line writes them.

Also read here: lengths of time (90s, 5m, 2h, 1h30m); the life of a rule also in days.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta

from crabhook.datatypes import frozen
from crabhook.desk.acts import ACTS, Act, Reach, Taken
from crabhook.model.errors import CrabhookError
from crabhook.present.safe import excerpt

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


@frozen
class Word:
    """An act as a line writes it: `name` is the word of programs."""

    act: Act

    @property
    def name(self) -> str:
        """The word on pipes."""
        return self.act.pipes or self.act.name

    @property
    def shown(self) -> str:
        """The word for people, where that is another."""
        return self.act.name if self.act.pipes else ""

    @property
    def about_a_card(self) -> bool:
        """Whether the word decides or shows requests, and not the desk."""
        return self.act.reach is not Reach.NONE

    @property
    def needs(self) -> bool:
        """Whether something must follow."""
        return bool(re.sub(r"\[[^]]*\]", "", self.act.takes).strip())

    def usage(self, number: int | None = None) -> str:
        """Return how a program writes the word, for the card `number` or for any."""
        return self._usage(self.name, number)

    def persons_usage(self) -> str:
        """Return how a person writes the word, for any card."""
        return self._usage(self.act.name)

    def _usage(self, name: str, number: int | None = None) -> str:
        place = "[N]" if number is None else str(number)
        parts = [place if self.about_a_card else "", name, self.act.takes]
        return " ".join(part for part in parts if part)


_ALL = tuple(map(Word, ACTS.values()))
WORDS: Mapping[str, Word] = {word.name: word for word in _ALL if word.act.taken is not Taken.PERSON}
"""The words of programs: what is written on pipes."""

PERSONS_WORDS: Mapping[str, Word] = {
    **{word.name: word for word in _ALL},
    **{word.act.name: word for word in _ALL},
    "?": WORDS["help"],
}
"""The words of a person at a terminal: those of the screen's keys as well as the others."""

_PERSONS = {word.name: word.act.name for word in _ALL}
_WRITTEN = sorted(map(re.escape, _PERSONS), key=len, reverse=True)  # "always deny" before "always"
_OLDER = re.compile(rf"((?:^| or |, )(?:\S+ )?)({'|'.join(_WRITTEN)})(?=[ ,]|$)")


def for_a_person(usage: str) -> str:
    """Return how lines are written, each with the word that a person is shown."""

    def newer(written: re.Match[str]) -> str:
        return written[1] + _PERSONS[written[2]]

    return " | ".join(_OLDER.sub(newer, line) for line in usage.split(" | "))


def help_lines(words: Mapping[str, Word] = WORDS) -> list[str]:
    """Return the table of these words as the operator reads it."""
    person = words is not WORDS
    listed = [
        word for word in dict.fromkeys(words.values()) if person or word.act.taken is Taken.LISTED
    ]
    lines = [
        "About a request. Without N, the oldest that waits is meant; several at once:",
        "1,3,5 · same=N (all that ask the same) · session=ID · all",
        *_rows((word for word in listed if word.about_a_card), person=person),
        "About the desk. Times are written 90s, 5m, 2h, 1h30m.",
        *_rows((word for word in listed if not word.about_a_card), person=person),
    ]
    return [f"  {line}" for line in lines]


def _rows(words: Iterable[Word], *, person: bool) -> Iterator[str]:
    for word in words:
        usage = word.persons_usage() if person else word.usage()
        if len(usage) > _WIDEST:
            yield usage
            usage = ""
        older = f" (or {word.name})" if person and word.shown else ""
        yield f"{usage:{_WIDEST}}  {word.act.means}{older}"


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
    match = re.fullmatch(written, text, re.IGNORECASE)
    if not match or not text:
        raise LineError(f'"{excerpt(text)}" is no {wanted}', usage)
    return timedelta(**{unit: int(count or 0) for unit, count in match.groupdict().items()})
