"""Answers to questions, and values of forms, as an operator writes them on one line.

Answers: 1=2 2=1,3 3="own words" 1.note="a note". Values: name="Ann Lee" count=3 stage=test.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from crabhook.model.elicitation import FormField, read_fields
from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import Value, compact, parse_value
from crabhook.model.question import Answer, Question
from crabhook.present.safe import excerpt
from crabhook.ui.commands.words import WORDS, LineError

_PLACE = re.compile(r"([0-9]{1,4})(\.note)?\s*=\s*")
_CHOICE = re.compile(r"[0-9]{1,4}(?![^\s,])")
_OWN = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'([^']*)')(?![^\s,])""", re.DOTALL)
_COMMA = re.compile(r"\s*,\s*")
_GAP = re.compile(r"\s+|$")
_NAME = re.compile(r'([^\s="]+)\s*=\s*|("(?:[^"\\]|\\.)*")\s*=\s*')
_WORD = re.compile(r'[^\s"]\S*')
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,39}")  # may be in a hint without quotes
_HINTED = 4  # fields
_DECODER = json.JSONDecoder()


class _Line:
    """The items NAME=VALUE of a line, read from left to right; a complaint ends with the `hint`."""

    def __init__(self, text: str, hint: str, unreadable: str, open_quote: str = "") -> None:
        self.text, self.at = text.strip(), 0
        self._hint = hint
        self._unreadable, self._open_quote = unreadable, open_quote or unreadable

    def items(self, name: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Yield the name of each item, up to its "="; the caller takes the value each time."""
        while self.at < len(self.text):
            yield self.must_take(name)
            self.must_take(_GAP)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step over what `pattern` matches here."""
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def must_take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """Step over a match of `pattern`; raises LineError if there is none."""
        if match := self.take(pattern):
            return match
        part = excerpt(self.text[self.at :])
        wrong = self._open_quote if part.startswith(('"', "'")) else self._unreadable
        raise self.error(wrong.format(part) if part else "something is missing at the end")

    def error(self, wrong: str) -> LineError:
        """Return the complaint that `wrong` is wrong with the line."""
        return LineError(wrong, self._hint)


def read_answers(text: str, questions: Sequence[Question], number: int) -> dict[int, Answer]:
    """Return the answers in `text`, by the question's place from 0; raises LineError.

    Bare digits are an option's number; quotes mark the operator's own words, digits too.
    """
    line = _Line(
        text,
        f"{number} {WORDS['answer'].name} {example(questions)}",
        "cannot read {} (words and notes stand in quotes)",
        "a quote does not end, or letters stand behind it: {}",
    )
    answers: dict[int, Answer] = {}
    for item in line.items(_PLACE):
        place = int(item[1])
        if not 1 <= place <= len(questions):
            raise line.error(f"there is no question {place}")
        before = answers.get(place - 1, Answer())
        if before.note if item[2] else before.chosen or before.words:
            raise line.error(f"question {place} has {'a note' if item[2] else 'an answer'} twice")
        if item[2]:
            answers[place - 1] = replace(before, note=_own_words(line, place))
        else:
            chosen, words = _chosen_answers(line, place, questions[place - 1])
            answers[place - 1] = replace(before, chosen=chosen, words=words)
    return answers


def example(questions: Sequence[Question]) -> str:
    """Return answers that fit these questions, to show how they are written."""
    fitting = (
        '"own words"'
        if not question.options
        else "1,2"
        if question.several and len(question.options) > 1
        else "1"
        for question in questions
    )
    return " ".join(f"{number}={answer}" for number, answer in enumerate(fitting, 1))


def _chosen_answers(line: _Line, place: int, question: Question) -> tuple[tuple[int, ...], str]:
    chosen: list[int] = []
    words = ""
    while True:
        if choice := line.take(_CHOICE):
            number, count = int(choice[0]), len(question.options)
            if not 1 <= number <= count:
                wrong = f"no option {number}, only 1 to {count}"
                wrong = wrong if count else "no options, it wants words in quotes"
                raise line.error(f"question {place} has {wrong}")
            if number - 1 in chosen:
                raise line.error(f"question {place} has option {number} twice")
            chosen.append(number - 1)
        elif words:
            raise line.error(f"question {place} has own words twice")
        else:
            words = _own_words(line, place)
        if len(chosen) + bool(words) > 1 and not question.several:
            raise line.error(f"question {place} takes one answer")
        if not line.take(_COMMA):
            return tuple(chosen), words


def _own_words(line: _Line, place: int) -> str:
    match = line.must_take(_OWN)
    words = match[2] if match[1] is None else re.sub(r'\\(["\\])', r"\1", match[1])
    if not words.strip():
        raise line.error(f"the words for question {place} are empty")
    return words


def read_values(text: str, event_fields: Mapping[str, Value], number: int) -> dict[str, Value]:
    """Return the values in `text` by the name of their field; raises LineError.

    A value is JSON; a text field also takes a bare word, and a choice its name. A form without
    known fields takes any name. The form's own schema checks the values.
    """
    fields = read_fields(event_fields)
    by_name = {field.name: field for field in fields}
    unreadable = "cannot read {} (words with blanks stand in double quotes)"
    line = _Line(text, f"{number} {accepting(fields)}", unreadable)
    values: dict[str, Value] = {}
    for item in line.items(_NAME):
        try:
            name = item[1] or str(json.loads(item[2]))
        except ValueError:
            raise line.error(f"cannot read {excerpt(item[2])}") from None
        if fields and name not in by_name:
            raise line.error(f"the form has no field {excerpt(name)}")
        if name in values:
            raise line.error(f"{excerpt(name)} is there twice")
        values[name] = _field_value(line, by_name.get(name), name)
    return values


def accepting(fields: Sequence[FormField]) -> str:
    """Return how a form with these fields is accepted, with values of the right kind."""
    needed = [field for field in fields if field.required] or list(fields)
    if not all(_PLAIN.fullmatch(field.name) for field in needed[:_HINTED]):
        return WORDS["accept"].name + " NAME=VALUE …"
    hints = [f"{field.name}={_example(field)}" for field in needed[:_HINTED]]
    more = ["…"] if len(needed) > _HINTED else []
    return " ".join([WORDS["accept"].name, *hints, *more])


def _example(field: FormField) -> str:
    if field.choices:
        value = field.choices[0][0]
        plain = not isinstance(value, str) or _PLAIN.fullmatch(value)
        return compact(value) if plain and not isinstance(value, dict | list) else "…"
    return {"string": '"text"', "number": "1", "integer": "1", "boolean": "true"}.get(
        field.kind, "…"
    )


def _field_value(line: _Line, field: FormField | None, name: str) -> Value:
    """Read a value: JSON, or a bare word for a text or a choice's name."""
    kind = field.kind if field else ""
    choices = field.choices if field else ()
    start, written, value = line.at, _json(line), None
    if written:
        try:  # again, within the bounds that all our JSON is read in
            value = parse_value(written.encode(errors="replace"))
        except PayloadError as error:
            raise line.error(f"{excerpt(written)} cannot be sent: {error}") from error
    if not written or (kind == "string" and not isinstance(value, str)):
        line.at = start
        value = word = line.must_take(_WORD)[0]
        if field and kind != "string" and all(word != called for _, called in choices):
            wrong = f"{excerpt(name)} is of the type {excerpt(kind)}"
            raise line.error(f"{wrong}, and {excerpt(word)} is no JSON")
    named = [choice for choice, called in choices if value == called]
    is_choice = any(value == choice for choice, _ in choices)
    return named[0] if len(named) == 1 and not is_choice else value


def _json(line: _Line) -> str:
    """Step over JSON that begins here, if it ends where a value can end."""
    try:
        _, end = _DECODER.raw_decode(line.text, line.at)
    except (ValueError, RecursionError):
        return ""
    if not _GAP.match(line.text, end):
        return ""
    written, line.at = line.text[line.at : end], end
    return written
