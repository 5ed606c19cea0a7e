"""A value of an MCP server's form, as an operator types it."""

import json
import re
from math import isinf

from crabhook.model.elicitation import FormField
from crabhook.model.errors import DecisionError, PayloadError
from crabhook.model.jsontext import Value, parse_object

_NUMBER = re.compile(
    r"(?P<whole>[+-]?[0-9]{1,300})"
    r"|[+-]?([0-9]{1,300}(\.[0-9]{0,300})?|\.[0-9]{1,300})([eE][+-]?[0-9]{1,3})?"
)
_YES_OR_NO = ((True, "yes"), (False, "no"))


def choices_of(asked: FormField) -> tuple[tuple[Value, str], ...]:
    """Return the values that an operator chooses from, with their names; none to type one."""
    return asked.choices or (_YES_OR_NO if asked.kind == "boolean" else ())


def read_value(kind: str, text: str) -> Value:
    """Return `text` as a value of that JSON type, or raise DecisionError with words for people."""
    if kind == "string":
        return text
    if kind not in {"integer", "number"}:
        return _json(text)
    number = _NUMBER.fullmatch(text.strip())
    if number is None or (kind == "integer" and not number["whole"]):
        raise DecisionError(f"a {'whole ' if kind == 'integer' else ''}number is asked for")
    if kind == "number" and isinf(float(text)):
        raise DecisionError("a number of that size cannot be sent")
    return int(text) if number["whole"] else float(text)


def _json(text: str) -> Value:
    try:
        json.loads(text)  # one value: the text cannot close the array around it
        return parse_object(f'{{"": {text}\n}}'.encode())[""]
    except (PayloadError, ValueError, RecursionError) as error:
        raise DecisionError(f"a value in JSON is asked for: {error}") from None
