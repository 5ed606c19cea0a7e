"""Values as an operator types them for a form's field, and back again."""

import json
import re
from collections.abc import Callable, Mapping

from crabhook.model.errors import DecisionError, PayloadError
from crabhook.model.jsontext import Value, parse_object

_WHOLE = re.compile(r"[+-]?[0-9]{1,300}")
_NUMBER = re.compile(r"[+-]?([0-9]{1,300}(\.[0-9]{0,300})?|\.[0-9]{1,300})([eE][+-]?[0-9]{1,3})?")


def read_text(kind: str, text: str) -> Value:
    """Return the value that `text` stands for in a field of that JSON type.

    Raises DecisionError, in words for the operator, where it stands for none.
    """
    return _READERS.get(kind, _json)(text)


def text_of(value: Value) -> str:
    """Return a value as it would be typed."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _whole(text: str) -> Value:
    if not _WHOLE.fullmatch(text.strip()):
        raise DecisionError("a whole number is asked for")
    return int(text)


def _number(text: str) -> Value:
    if not _NUMBER.fullmatch(text.strip()):
        raise DecisionError("a number is asked for")
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise DecisionError("a number of that size cannot be sent")
    return int(text) if _WHOLE.fullmatch(text.strip()) else number


def _json(text: str) -> Value:
    try:
        json.loads(text)  # one value: the text cannot close what it is about to stand in
        return parse_object(f'{{"": {text}\n}}'.encode())[""]
    except (PayloadError, ValueError, RecursionError) as error:
        raise DecisionError(f"a value in JSON is asked for: {error}") from None


_READERS: Mapping[str, Callable[[str], Value]] = {
    "string": str,
    "integer": _whole,
    "number": _number,
}
