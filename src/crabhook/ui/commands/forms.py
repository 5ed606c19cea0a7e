"""Answers to questions, and values of forms, as an operator writes them on one line.

Answers: 1=2 2=1,3 3="own words" 1.note="a note".
Values: name="Ann Lee" count=3 sure=true stage=test.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from crabhook.model.elicitation import Field, read_fields
from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import Value, compact, parse_value
from crabhook.model.question import Answer, Question
from crabhook.ui.commands.words import WORDS, LineError
from crabhook.ui.text.safe import excerpt

_PLACE = re.compile(r"([0-9]{1,4})(\.note)?\s*=\s*")
_CHOICE = re.compile(r"[0-9]{1,4}(?![^\s,])")
_OWN = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'([^']*)')(?![^\s,])""", re.DOTALL)
_COMMA = re.compile(r"\s*,\s*")
_GAP = re.compile(r"\s+|$")


def read_answers(text: str, questions: Sequence[Question], number: int) -> dict[int, Answer]:
    """Return the answers in `text`, by the question's place from 0.

    Digits alone are an option's number; whatever stands in quotes is the
    operator's own words, digits too.  `number` is the card's, for the hint in
    a LineError, which is raised for everything that cannot be taken as it
    stands.
    """
    return _AnswerReader(text, questions, number).read()


def example(questions: Sequence[Question]) -> str:
    """Return answers that fit these questions, to show how they are written."""
    return " ".join(
        f"{number}={_fitting_answer(question)}" for number, question in enumerate(questions, 1)
    )


def _fitting_answer(question: Question) -> str:
    if not question.options:
        return '"own words"'
    return "1,2" if question.several and len(question.options) > 1 else "1"


class _Reader:
    """Reads a line from left to right; every complaint ends with how to write it (`hint`)."""

    def __init__(self, text: str, hint: str) -> None:
        self._text = text.strip()
        self._hint = hint
        self._at = 0

    @property
    def _rest(self) -> str:
        """What has not been read yet."""
        return self._text[self._at :]

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step over what `pattern` matches here."""
        found = pattern.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found

    def _error(self, wrong: str) -> LineError:
        return LineError(wrong, self._hint)


class _AnswerReader(_Reader):
    """Reads one line of answers from left to right."""

    def __init__(self, text: str, questions: Sequence[Question], number: int) -> None:
        super().__init__(text, f"{number} {WORDS['answer'].name} {example(questions)}")
        self._questions = questions

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
        part = excerpt(self._rest)
        if not part:
            return self._error("something is missing at the end")
        if part[0] in "\"'":
            return self._error(f"a quote does not end, or letters stand behind it: {part}")
        return self._error(f"cannot read {part} (words and notes stand in quotes)")


_NAME = re.compile(r'([^\s="]+)\s*=\s*|("(?:[^"\\]|\\.)*")\s*=\s*')
_WORD = re.compile(r'[^\s"]\S*')
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,39}")  # what can stand in a hint as it is
_HINTED = 4  # fields


def read_values(text: str, event_fields: Mapping[str, Value], number: int) -> dict[str, Value]:
    """Return the values in `text` by the name of their field.

    A value is JSON; of a text field, a word without quotes is that word, and
    what a field's choices are called stands for the choice.  A form of which
    no fields are known takes any name.  Whether the values fit is for the
    form's own schema to say.  Raises LineError, with a hint for the card
    `number`.
    """
    fields = read_fields(event_fields)
    return _FormReader(text, fields, f"{number} {accepting(fields)}").read()


def accepting(fields: Sequence[Field]) -> str:
    """Return how a form with these fields is accepted, with values of the right kind."""
    needed = [field for field in fields if field.required] or list(fields)
    if not all(_PLAIN.fullmatch(field.name) for field in needed[:_HINTED]):
        return WORDS["accept"].name + " NAME=VALUE …"
    hints = [f"{field.name}={_example(field)}" for field in needed[:_HINTED]]
    more = ["…"] if len(needed) > _HINTED else []
    return " ".join([WORDS["accept"].name, *hints, *more])


def _example(field: Field) -> str:
    if field.choices:
        value = field.choices[0][0]
        plain = not isinstance(value, str) or _PLAIN.fullmatch(value)
        return compact(value) if plain and not isinstance(value, dict | list) else "…"
    return {"string": '"text"', "number": "1", "integer": "1", "boolean": "true"}.get(
        field.kind, "…"
    )


class _FormReader(_Reader):
    """Reads one line of values from left to right."""

    def __init__(self, text: str, fields: Sequence[Field], hint: str) -> None:
        super().__init__(text, hint)
        self._fields = {field.name: field for field in fields}

    def read(self) -> dict[str, Value]:
        values: dict[str, Value] = {}
        while self._at < len(self._text):
            name = self._name()
            if name in values:
                raise self._error(f"{excerpt(name)} is there twice")
            values[name] = self._value(self._fields.get(name), name)
            if not self._take(_GAP):
                raise self._unreadable()
        return values

    def _name(self) -> str:
        found = self._take(_NAME)
        if found is None:
            raise self._unreadable()
        name = found[1] or self._unquoted(found[2])
        if self._fields and name not in self._fields:
            raise self._error(f"the form has no field {excerpt(name)}")
        return name

    def _unquoted(self, quoted: str) -> str:
        try:
            return str(json.loads(quoted))
        except ValueError:
            raise self._error(f"cannot read {excerpt(quoted)}") from None

    def _value(self, field: Field | None, name: str) -> Value:
        start = self._at
        value, is_json = self._json()
        wants_text = field is None or field.kind == "string"
        if not is_json or (wants_text and field is not None and not isinstance(value, str)):
            self._at = start
            value = self._bare(field, name)
        return value if field is None else _chosen(field, value)

    def _json(self) -> tuple[Value, bool]:
        """Return the JSON value that stands here, if one does and ends where a value can end."""
        try:
            _, end = _DECODER.raw_decode(self._text, self._at)
        except (ValueError, RecursionError):
            return None, False
        if not _GAP.match(self._text, end):
            return None, False
        written, self._at = self._text[self._at : end], end
        try:  # again, within the bounds that all our JSON is read in
            return parse_value(written.encode(errors="replace")), True
        except PayloadError as error:
            raise self._error(f"{excerpt(written)} cannot be sent: {error}") from error

    def _bare(self, field: Field | None, name: str) -> Value:
        """Return a word without quotes, where one can stand for a text or a choice."""
        found = self._take(_WORD)
        if found is None:
            raise self._unreadable()
        named = field is not None and any(found[0] == called for _, called in field.choices)
        if field is not None and field.kind != "string" and not named:
            wrong = f"{excerpt(name)} is of the type {excerpt(field.kind)}"
            raise self._error(f"{wrong}, and {excerpt(found[0])} is no JSON")
        return found[0]

    def _unreadable(self) -> LineError:
        part = excerpt(self._rest)
        if not part:
            return self._error("something is missing at the end")
        return self._error(f"cannot read {part} (words with blanks stand in double quotes)")


def _chosen(field: Field, value: Value) -> Value:
    """Return the choice that `value` names, if it is a name and no choice itself."""
    if any(value == choice for choice, _ in field.choices):
        return value
    named = [choice for choice, called in field.choices if value == called]
    return named[0] if len(named) == 1 else value


_DECODER = json.JSONDecoder()
