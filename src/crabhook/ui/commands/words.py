"""What an operator may write on a line of the plain desk: one table for the parser and the help.

Lengths of time are read here as well: 90s, 5m, 2h, 1h30m; the life of a rule also in days.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum

from crabhook.model.errors import CrabhookError
from crabhook.ui.text.safe import excerpt

MAX_LINE = 1 << 20  # bytes; a reason longer than this was never written by a person


class LineError(CrabhookError):
    """A line that decides nothing: what is wrong with it, and how it is written right."""

    def __init__(self, wrong: str, write: str) -> None:
        super().__init__(f"{wrong}; nothing was decided. Write: {write}")


class Reach(IntEnum):
    """How many requests one line may decide with a word.

    A word that lets something happen needs the numbers of the requests:
    "all" might include a request that came a moment ago, unread.
    """

    NONE = 0  # the word is about the desk
    ONE = 1
    NAMED = 2  # several, by their numbers, or all that ask the same as one
    ANY = 3  # all, or all of a session


@dataclass(frozen=True, slots=True)
class Word:
    """One word, sometimes two, and what follows.

    `takes` is what follows as the help writes it: nothing, something in
    brackets that may be left out, or something that must be there.
    """

    name: str
    means: str
    takes: str = ""
    reach: Reach = Reach.ANY

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
        parts = [place if self.about_a_card else "", self.name, self.takes]
        return " ".join(part for part in parts if part)


ANSWERS = '1=2 2=1,3 3="own words" 1.note="a note"'
_ONE, _NAMED, _NONE = Reach.ONE, Reach.NAMED, Reach.NONE

# fmt: off
_TABLE = (
    Word("allow", "let it happen; the model reads the note", "[note]", _NAMED),
    Word("deny", "refuse it; the model reads the reason", "REASON"),
    Word("deny --interrupt", "refuse it and end the turn", "REASON"),
    Word("ask", "hand it to the agent's own user"),
    Word("pass", "no opinion: the agent goes on as if nobody were asked"),
    Word("answer", "answer its questions, all by number: question=option", ANSWERS, _NAMED),
    Word("accept", "send its form; values as JSON, or plain words", "[NAME=VALUE …]", _ONE),
    Word("decline", "send the form back, refused"),
    Word("cancel", "close the form without an answer"),
    Word("edit", "allow it with another command, plan, or input (JSON)", "TEXT", _ONE),
    Word("anyway", "allow it as you edited it, although the rules object", "", _ONE),
    Word("always", "allow it, and keep the agent's suggestion K from now on",
         "K [session|local|project|user]", _ONE),
    Word("remember", "list the rules that would always allow it; take rule K",
         "[K] [30d|forever] [anyway]", _ONE),
    Word("mode", "allow it, and set the permission mode: acceptEdits, …", "MODE", _ONE),
    Word("keep-going", "it must not stop: say how to go on; at most 8 times",
         "[times=N] INSTRUCTION", _NAMED),
    Word("retry", "let the model try what its agent denied", "", _NAMED),
    Word("output", "show the model this instead of what the tool gave back", "VALUE", _ONE),
    Word("halt", "end the session's turn; its user reads the reason", "REASON"),
    Word("tell", "a message to the agent's user, and no opinion", "MESSAGE"),
    Word("quiet", "ask its agent not to show what the hook says; again: do"),
    Word("defer", "end a run without a screen; resumed, it asks again"),
    Word("snooze", "put it aside for a while; it goes on waiting", "5m"),
    Word("extend", "let it wait longer, as long as its agent does", "10m"),
    Word("undo", "take back an allow that is still held"),
    Word("show", "print the whole request"),
    Word("show secrets", "print it with the secrets that are covered"),
    Word("list", "what waits, the oldest first, and the standing orders", "", _NONE),
    Word("hold", "let an event wait for you that would go by",
         "EVENT [session=…] [project=…] [times=N]", _NONE),
    Word("allow-all", "allow every call of a session; questions still wait",
         "SESSION 10m", _NONE),
    Word("hold-all", "let everything of a session wait for you, for a while",
         "SESSION 10m", _NONE),
    Word("away", "nothing waits: agents go on, and ask their own users", "[2h]", _NONE),
    Word("here", "you are back", "", _NONE),
    Word("orders", "the standing orders, and when they end", "", _NONE),
    Word("release", "end orders: an EVENT's, allow-all, hold-all, or all",
         "EVENT [session=…]", _NONE),
    Word("help", "this table", "", _NONE),
    Word("quit", "leave: what waits goes back to the agents", "", _NONE),
)
# fmt: on

WORDS: Mapping[str, Word] = {word.name: word for word in _TABLE}

_WIDEST = 20  # columns for a usage; the meaning of a longer one stands on the next line


def help_lines() -> list[str]:
    """Return the table as the operator reads it."""
    lines = [
        "About a request. Without N, the oldest that waits is meant; several at once:",
        "1,3,5 · same=N (all that ask the same) · session=ID · all",
        *_rows(word for word in _TABLE if word.about_a_card),
        "About the desk. Times are written 90s, 5m, 2h, 1h30m.",
        *_rows(word for word in _TABLE if not word.about_a_card),
    ]
    return [f"  {line}" for line in lines]


def _rows(words: Iterable[Word]) -> Iterator[str]:
    for word in words:
        usage = word.usage()
        if len(usage) > _WIDEST:
            yield usage
            usage = ""
        yield f"{usage:{_WIDEST}}  {word.means}"


FOR_EVER = "forever"
LONGEST = 100 * 3600  # seconds; nobody sits at a desk for longer
_LONGEST_LIFE = timedelta(days=3650)
_NUMBER = "[0-9]{1,6}"
_DURATION = re.compile(
    rf"(?:(?P<hours>{_NUMBER})h)?(?:(?P<minutes>{_NUMBER})m)?(?:(?P<seconds>{_NUMBER})s)?",
    re.IGNORECASE,
)
_LIFE = re.compile(rf"(?:(?P<days>{_NUMBER})d)?(?:(?P<hours>{_NUMBER})h)?", re.IGNORECASE)


def read_duration(text: str, usage: str) -> float:
    """Return the seconds that `text` says; `usage` is the line's, for the hint in a LineError."""
    length = _length(_DURATION, text, usage, "length of time such as 90s, 5m, 2h or 1h30m")
    if not 0 < length.total_seconds() <= LONGEST:
        wrong = f"a length of time is more than nothing and at most {LONGEST // 3600}h"
        raise LineError(wrong, usage)
    return length.total_seconds()


def read_life(text: str, usage: str) -> timedelta | None:
    """Return how long a rule is to hold, None for ever; `usage` is as for `read_duration`."""
    if text.lower() == FOR_EVER:
        return None
    life = _length(_LIFE, text, usage, f"life of a rule such as 12h, 7d, 30d or {FOR_EVER}")
    if not timedelta() < life <= _LONGEST_LIFE:
        most = f"{_LONGEST_LIFE.days}d, or {FOR_EVER}"
        raise LineError(f"a rule holds for more than nothing and at most {most}", usage)
    return life


def _length(written: re.Pattern[str], text: str, usage: str, wanted: str) -> timedelta:
    found = written.fullmatch(text)
    if not found or not text:
        raise LineError(f'"{excerpt(text)}" is no {wanted}', usage)
    return timedelta(**{unit: int(count or 0) for unit, count in found.groupdict().items()})
