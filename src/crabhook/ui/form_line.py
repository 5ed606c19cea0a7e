"""Values of a form as an operator writes them: name="Ann Lee" count=3 sure=true stage=test."""

import json
import re
from collections.abc import Mapping, Sequence

from crabhook.model.elicitation import Field, read_fields
from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import Value, compact, parse_value
from crabhook.ui.safe import safe
from crabhook.ui.words import WORDS, LineError

_NAME = re.compile(r'([^\s="]+)\s*=\s*|("(?:[^"\\]|\\.)*")\s*=\s*')
_WORD = re.compile(r'[^\s"]\S*')
_GAP = re.compile(r"\s+|$")
_SHOWN = 40  # letters of what cannot be read that are repeated
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
    return _Reader(text.strip(), fields, f"{number} {accepting(fields)}").read()


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


class _Reader:
    """Reads one line of values from left to right."""

    def __init__(self, text: str, fields: Sequence[Field], hint: str) -> None:
        self._text = text
        self._fields = {field.name: field for field in fields}
        self._hint = hint
        self._at = 0

    def read(self) -> dict[str, Value]:
        values: dict[str, Value] = {}
        while self._at < len(self._text):
            name = self._name()
            if name in values:
                raise self._error(f"{safe(name[:_SHOWN])} is there twice")
            values[name] = self._value(self._fields.get(name), name)
            if not self._take(_GAP):
                raise self._unreadable()
        return values

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step over what `pattern` matches here."""
        found = pattern.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found

    def _name(self) -> str:
        found = self._take(_NAME)
        if found is None:
            raise self._unreadable()
        name = found[1] or self._unquoted(found[2])
        if self._fields and name not in self._fields:
            raise self._error(f"the form has no field {safe(name[:_SHOWN])}")
        return name

    def _unquoted(self, quoted: str) -> str:
        try:
            return str(json.loads(quoted))
        except ValueError:
            raise self._error(f"cannot read {safe(quoted[:_SHOWN])}") from None

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
            raise self._error(f"{safe(written[:_SHOWN])} cannot be sent: {error}") from error

    def _bare(self, field: Field | None, name: str) -> Value:
        """Return a word without quotes, where one can stand for a text or a choice."""
        found = self._take(_WORD)
        if found is None:
            raise self._unreadable()
        named = field is not None and any(found[0] == called for _, called in field.choices)
        if field is not None and field.kind != "string" and not named:
            wrong = f"{safe(name[:_SHOWN])} is of the type {safe(field.kind[:_SHOWN])}"
            raise self._error(f"{wrong}, and {safe(found[0][:_SHOWN])} is no JSON")
        return found[0]

    def _unreadable(self) -> LineError:
        part = safe(self._text[self._at : self._at + _SHOWN])
        if not part:
            return self._error("something is missing at the end")
        return self._error(f"cannot read {part} (words with blanks stand in double quotes)")

    def _error(self, wrong: str) -> LineError:
        return LineError(wrong, self._hint)


def _chosen(field: Field, value: Value) -> Value:
    """Return the choice that `value` names, if it is a name and no choice itself."""
    if any(value == choice for choice, _ in field.choices):
        return value
    named = [choice for choice, called in field.choices if value == called]
    return named[0] if len(named) == 1 else value


_DECODER = json.JSONDecoder()
