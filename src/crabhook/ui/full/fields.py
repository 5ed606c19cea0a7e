"""Any JSON value for a person to read: whatever the agent sent, known or not, to its last field."""

import json
from collections.abc import Iterator, Mapping

from crabhook.model.jsontext import Value, literal
from crabhook.ui.full.code import json_line, plain_rows, wrap_line
from crabhook.ui.full.letters import Speller, wrapped
from crabhook.ui.full.mask import spelling_of
from crabhook.ui.full.paper import Line

SHORT = 200  # letters of a text that may stand beside its key
_JSON_LIKE = frozenset({"", "true", "false", "null"})


def field_rows(
    fields: Mapping[str, Value], columns: int, spell: Speller
) -> Iterator[tuple[bool, Line]]:
    """Return the fields in rows; the flag tells whether a row begins a line."""
    for key, value in fields.items():
        yield from _field(key, value, columns, spell)


def value_rows(value: Value, columns: int, spell: Speller) -> Iterator[tuple[bool, Line]]:
    """Return any value as indented JSON, written only as far as it is looked at."""
    line = ""
    for piece in _ENCODER.iterencode(value):
        *whole, rest = (line + piece).split("\n")
        for text in whole:
            yield from _json_rows(text, columns, spell)
        line = rest
    yield from _json_rows(line, columns, spell)


_ENCODER = json.JSONEncoder(indent=2, ensure_ascii=False)


def _field(key: str, value: Value, columns: int, spell: Speller) -> Iterator[tuple[bool, Line]]:
    name = [(True, [("name", row)]) for row in wrapped(key, columns - 1, spell)]
    *_, (_, last) = name
    last.append(("dim", ":"))
    beside, spell = _beside(value), spelling_of(key, spell)
    if beside is not None:
        row = [*last, ("", " "), *_short_value(value, spell(beside))]
        yield from name[:-1]
        yield from ((place == 0, line) for place, line in enumerate(wrap_line(row, columns)))
        return
    yield from name
    rows = (
        plain_rows(value, columns - 2, spell)
        if isinstance(value, str)
        else value_rows(value, columns - 2, spell)
    )
    yield from ((first, [("", "  "), *row]) for first, row in rows)


def _beside(value: Value) -> str | None:
    """Return what stands beside the key: a number, or a text on one short line."""
    if isinstance(value, list | dict):
        return None if value else json.dumps(value)
    if not isinstance(value, str):
        return json.dumps(value)
    if len(value) > SHORT or "\n" in value:
        return None
    return literal(value) if _mistakable(value) else value


def _mistakable(text: str) -> bool:
    """Whether a text without quotes would look like another kind of value."""
    if text in _JSON_LIKE or text != text.strip() or text[0] in '"[{':
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def _short_value(value: Value, said: str) -> Line:
    return [("", said)] if isinstance(value, str) else json_line(said)


def _json_rows(text: str, columns: int, spell: Speller) -> Iterator[tuple[bool, Line]]:
    if len(text) <= SHORT:
        rows = wrap_line(json_line(spell(text)), columns)
    else:
        rows = ([("", row)] for row in wrapped(text, columns, spell))
    yield from ((place == 0, row) for place, row in enumerate(rows))
