"""What an operator may write on a line of the plain desk: one table for the parser and the help."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from crabhook.model.errors import CrabhookError
from crabhook.ui.safe import safe

MAX_LINE = 1 << 20  # bytes; a reason longer than this was never written by a person
_QUOTED = 40  # letters of a line that are repeated to say what is wrong with it


class LineError(CrabhookError):
    """A line that decides nothing: what is wrong with it, and how it is written right."""

    def __init__(self, wrong: str, write: str) -> None:
        super().__init__(f"{wrong}; nothing was decided. Write: {write}")


@dataclass(frozen=True, slots=True)
class Word:
    """One word and what follows it.

    `takes` is what follows as the help writes it: nothing, something in
    brackets that may be left out, or something that must be there.
    """

    name: str
    means: str
    takes: str = ""
    about_a_card: bool = True

    @property
    def needs(self) -> bool:
        """Whether what follows must be there."""
        return bool(self.takes) and not self.takes.startswith("[")

    def usage(self, number: int | None = None) -> str:
        """Return how the word is written, for the card `number` or for any."""
        place = "[N]" if number is None else str(number)
        parts = [place if self.about_a_card else "", self.name, self.takes]
        return " ".join(part for part in parts if part)


ANSWERS = '1=2 2=1,3 3="own words" 1.note="a note"'

WORDS: Mapping[str, Word] = {
    word.name: word
    for word in (
        Word("allow", "let the call happen; the model reads the note", "[note]"),
        Word("deny", "refuse the call; the model reads the reason", "REASON"),
        Word("ask", "hand the call to the agent's own user"),
        Word("pass", "say nothing: the agent goes on as if crabhook were not there"),
        Word("answer", "answer its questions, all by number: question=option", ANSWERS),
        Word("undo", "take back an allow that is still held"),
        Word("show", "print the whole request"),
        Word("list", "what waits, the oldest first", about_a_card=False),
        Word("help", "this table", about_a_card=False),
        Word("quit", "leave: what waits goes back to the agents", about_a_card=False),
    )
}


@dataclass(frozen=True, slots=True)
class Command:
    """A line that can be followed; without a number it means the oldest card that waits."""

    word: Word
    number: int | None = None
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
    place = re.match(r"#?([0-9]{1,9})(?:\s+|$)", text)
    number = int(place[1]) if place else None
    name, rest = _first(text[place.end() :] if place else text)
    word = WORDS.get(name.lower())
    if word is None:
        raise _unknown(name, number)
    if number is None:
        _refuse_misplaced_number(word, rest)
    _check(word, number, rest)
    return Command(word, number, rest)


def _first(text: str) -> tuple[str, str]:
    name, *rest = text.split(maxsplit=1)[:2] or [""]
    return name, rest[0] if rest else ""


def _unknown(name: str, number: int | None) -> LineError:
    if not name:
        return LineError(f"what about #{number}?", f"{number} show, or {number} allow")
    wrong = f'"{safe(name[:_QUOTED])}" is none of the words'
    return LineError(wrong, f"one of {', '.join(WORDS)}; help explains them")


def _refuse_misplaced_number(word: Word, rest: str) -> None:
    """Refuse `allow 7`, which would decide the oldest card with "7" as the note."""
    misplaced = re.match(r"#?([0-9]{1,9})(?:\s|$)", rest)
    if misplaced and word.about_a_card:
        raise LineError(f'the number comes before "{word.name}"', word.usage(int(misplaced[1])))


def _check(word: Word, number: int | None, rest: str) -> None:
    usage = word.usage(number)
    if number is not None and not word.about_a_card:
        raise LineError(f'"{word.name}" is about no single request', usage)
    if rest and not word.takes:
        raise LineError(f'nothing follows "{word.name}": "{safe(rest[:_QUOTED])}"', usage)
    if word.needs and not rest:
        raise LineError(f'"{word.name}" needs something after it', usage)


def help_lines() -> list[str]:
    """Return the table as the operator reads it."""
    width = max(len(word.usage()) for word in WORDS.values() if len(word.usage()) < 20)
    lines = ["Without N, the oldest request that waits is meant."]
    for word in WORDS.values():
        usage = word.usage()
        if len(usage) > width:
            lines += [usage, f"{'':{width}}  {word.means}"]
        else:
            lines.append(f"{usage:{width}}  {word.means}")
    return [f"  {line}" for line in lines]
