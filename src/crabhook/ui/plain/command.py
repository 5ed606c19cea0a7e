"""A line of the plain desk taken apart: which requests, which word, and what follows it."""

import re
from dataclasses import dataclass

from crabhook.ui.safe import safe
from crabhook.ui.target import NUMBERS, OLDEST, Kind, Target, read_target
from crabhook.ui.words import MAX_LINE, WORDS, LineError, Reach, Word

_QUOTED = 40  # letters of a line that are repeated to say what is wrong with it
_MISPLACED = re.compile(rf"({NUMBERS})(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Command:
    """A line that can be followed; without a target it means the oldest card that waits."""

    word: Word
    target: Target = OLDEST
    rest: str = ""


def parse(line: str) -> Command | None:
    """Return what `line` asks for, or None for an empty one.

    Raises LineError, which says how to write it right.
    """
    if len(line.encode(errors="replace")) > MAX_LINE:
        raise LineError(f"the line is longer than {MAX_LINE} bytes", "a shorter one")
    text = line.strip()
    if not text:
        return None
    target, said = read_target(text)
    name, rest = _first(said)
    word = WORDS.get(name.lower())
    if word is None:
        raise _unknown(name, target)
    word, rest = _second(word, rest)
    if target.kind is Kind.OLDEST:
        _refuse_misplaced_number(word, rest)
    _check(word, target, rest)
    return Command(word, target, rest)


def _first(text: str) -> tuple[str, str]:
    name, *rest = text.split(maxsplit=1)[:2] or [""]
    return name, rest[0] if rest else ""


def _second(word: Word, rest: str) -> tuple[Word, str]:
    """Return the word of two that a line begins with, if it begins with one."""
    second, further = _first(rest)
    longer = WORDS.get(f"{word.name} {second}")
    return (longer, further) if longer else (word, rest)


def _unknown(name: str, target: Target) -> LineError:
    if not name:
        if (number := target.number) is not None:
            return LineError(f"what about #{number}?", f"{number} show, or {number} allow")
        return LineError("what about them?", "1,3 allow, or all deny REASON")
    wrong = f'"{safe(name[:_QUOTED])}" is none of the words'
    words = ", ".join(name for name in WORDS if " " not in name)
    return LineError(wrong, f"one of {words}; help explains them")


def _refuse_misplaced_number(word: Word, rest: str) -> None:
    """Refuse `allow 7`, which would decide the oldest card with "7" as the note."""
    misplaced = _MISPLACED.match(rest)
    if misplaced and word.about_a_card and not word.counts:
        number, *others = (int(each.lstrip("#")) for each in misplaced[1].split(","))
        listed = ",".join(map(str, [number, *others]))
        usage = word.usage(number).replace(str(number), listed, 1)
        raise LineError(f'the number comes before "{word.name}"', usage)


def _check(word: Word, target: Target, rest: str) -> None:
    usage = word.usage(target.number)
    if target.kind is not Kind.OLDEST:
        _check_reach(word, target)
    if rest and not word.takes:
        raise LineError(f'nothing follows "{word.name}": "{safe(rest[:_QUOTED])}"', usage)
    if word.needs and not rest:
        raise LineError(f'"{word.name}" needs something after it', usage)


def _check_reach(word: Word, target: Target) -> None:
    """Refuse to say a word of more requests than it may be said of."""
    if word.reach is Reach.NONE:
        raise LineError(f'"{word.name}" is about no single request', word.usage())
    if word.reach < target.reach:
        if word.reach is Reach.ONE:
            raise LineError(f'"{word.name}" is said of one request at a time', word.usage())
        usage = word.usage().replace("[N]", "1,3,5", 1)
        raise LineError(f'"{word.name}" is said only of requests you name by number', usage)
