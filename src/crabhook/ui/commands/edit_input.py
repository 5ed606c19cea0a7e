"""A tool's input changed by an operator: the whole of it with one text replaced, or as JSON."""

from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice

from crabhook.model.errors import PayloadError
from crabhook.model.event import ToolCall
from crabhook.model.jsontext import Value, parse_object, pretty
from crabhook.ui.text.rows import Row, bounded
from crabhook.vocabulary import vocabulary

_COMPARED_LINES = 2_000  # of both sides; past these, comparing costs more than it tells
_LINES, _CHARACTERS = 200, 20_000  # of a difference that is printed


class RewriteError(ValueError):
    """A change that cannot be made, in words for a person."""


def rewritten(tool: ToolCall, text: str) -> dict[str, Value]:
    """Return the tool's whole input as `text` changes it.

    A plan or a command is replaced by `text` and every other field stays.
    Any other input is replaced by the JSON object that `text` is.  Raises
    RewriteError for anything else, and for a change that changes nothing.
    """
    key = edited_field(tool)
    if key is not None and isinstance(tool.input, dict):
        changed = {**tool.input, key: text}
    else:
        try:
            changed = parse_object(text.encode(errors="replace"))
        except PayloadError as error:
            wrong = f"the input is a JSON object, and what you wrote is not: {error}"
            raise RewriteError(wrong) from error
    if pretty(changed) == pretty(tool.input):
        raise RewriteError("that changes nothing")
    return changed


def edited_field(tool: ToolCall) -> str | None:
    """Return the field of the input that is edited as itself; None where it is edited as JSON."""
    key = "plan" if tool.name in vocabulary().plans else "command"
    if isinstance(tool.input, dict) and isinstance(tool.input.get(key), str):
        return key
    return None


def difference(tool: ToolCall, changed: dict[str, Value]) -> list[str]:
    """Return what an edit takes out and puts in, as the lines of a unified diff, indented."""
    key = edited_field(tool)
    if key is None or not isinstance(tool.input, dict):
        old, new = pretty(tool.input), pretty(changed)
    else:
        old, new = str(tool.input[key]), str(changed[key])
    rows = [Row(f"  the {key or 'input'} as it will be sent:"), *_compared(old, new)]
    return [row.line for row in bounded(rows, _LINES, _CHARACTERS)]


def _compared(old: str, new: str) -> Iterator[Row]:
    before, after = old.split("\n"), new.split("\n")
    if len(before) + len(after) > _COMPARED_LINES:
        yield from (Row("    -", line) for line in before)
        yield from (Row("    +", line) for line in after)
        return
    steps = unified_diff(before, after, lineterm="")
    yield from (Row("    ", line) for line in islice(steps, 2, None))  # the first two name files
