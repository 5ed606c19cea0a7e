"""Answers to questions as an operator writes them: 1=2 2=1,3 3="own words" 1.note="a note"."""

import re
from collections.abc import Sequence
from dataclasses import replace

from crabhook.model.question import Answer, Question
from crabhook.ui.safe import safe
from crabhook.ui.words import WORDS, LineError

_PLACE = re.compile(r"([0-9]{1,4})(\.note)?\s*=\s*")
_CHOICE = re.compile(r"[0-9]{1,4}(?![^\s,])")
_OWN = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'([^']*)')(?![^\s,])""", re.DOTALL)
_COMMA = re.compile(r"\s*,\s*")
_GAP = re.compile(r"\s+|$")
_SHOWN = 40  # letters of what cannot be read that are repeated


def read_answers(text: str, questions: Sequence[Question], number: int) -> dict[int, Answer]:
    """Return the answers in `text`, by the question's place from 0.

    Digits alone are an option's number; whatever stands in quotes is the
    operator's own words, digits too.  `number` is the card's, for the hint in
    a LineError, which is raised for everything that cannot be taken as it
    stands.
    """
    return _Reader(text.strip(), questions, number).read()


def example(questions: Sequence[Question]) -> str:
    """Return answers that fit these questions, to show how they are written."""
    return " ".join(
        f"{number}={_fitting(question)}" for number, question in enumerate(questions, 1)
    )


def _fitting(question: Question) -> str:
    if not question.options:
        return '"own words"'
    return "1,2" if question.several and len(question.options) > 1 else "1"


class _Reader:
    """Reads one line of answers from left to right."""

    def __init__(self, text: str, questions: Sequence[Question], number: int) -> None:
        self._text = text
        self._questions = questions
        self._number = number
        self._at = 0

    def read(self) -> dict[int, Answer]:
        answers: dict[int, Answer] = {}
        seen: set[tuple[int, bool]] = set()
        while self._at < len(self._text):
            place, is_note = self._place()
            if (place, is_note) in seen:
                what = "a note" if is_note else "an answer"
                raise self._error(f"question {place + 1} has {what} twice")
            seen.add((place, is_note))
            before = answers.get(place, Answer())
            if is_note:
                answers[place] = replace(before, note=self._own(place))
            else:
                chosen, words = self._values(place)
                answers[place] = replace(before, chosen=chosen, words=words)
            if not self._take(_GAP):
                raise self._unreadable()
        return answers

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step over what `pattern` matches here."""
        found = pattern.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found

    def _place(self) -> tuple[int, bool]:
        found = self._take(_PLACE)
        if found is None:
            raise self._unreadable()
        number = int(found[1])
        if not 1 <= number <= len(self._questions):
            raise self._error(f"there is no question {number}")
        return number - 1, found[2] is not None

    def _values(self, place: int) -> tuple[tuple[int, ...], str]:
        """Read option numbers and own words, separated by commas."""
        chosen: list[int] = []
        words = ""
        while True:
            if choice := self._take(_CHOICE):
                chosen.append(self._option(place, int(choice[0]), chosen))
            elif words:
                raise self._error(f"question {place + 1} has own words twice")
            else:
                words = self._own(place)
            if len(chosen) + bool(words) > 1 and not self._questions[place].several:
                raise self._error(f"question {place + 1} takes one answer")
            if not self._take(_COMMA):
                return tuple(chosen), words

    def _option(self, place: int, number: int, chosen: Sequence[int]) -> int:
        count = len(self._questions[place].options)
        if not count:
            raise self._error(f"question {place + 1} has no options, it wants words in quotes")
        if not 1 <= number <= count:
            raise self._error(f"question {place + 1} has no option {number}, only 1 to {count}")
        if number - 1 in chosen:
            raise self._error(f"question {place + 1} has option {number} twice")
        return number - 1

    def _own(self, place: int) -> str:
        found = self._take(_OWN)
        if found is None:
            raise self._unreadable()
        words = found[2] if found[1] is None else re.sub(r'\\(["\\])', r"\1", found[1])
        if not words.strip():
            raise self._error(f"the words for question {place + 1} are empty")
        return words

    def _unreadable(self) -> LineError:
        part = safe(self._text[self._at : self._at + _SHOWN])
        if not part:
            return self._error("something is missing at the end")
        if part[0] in "\"'":
            return self._error(f"a quote does not end, or letters stand behind it: {part}")
        return self._error(f"cannot read {part} (words and notes stand in quotes)")

    def _error(self, wrong: str) -> LineError:
        return LineError(wrong, f"{self._number} {WORDS['answer'].name} {example(self._questions)}")
