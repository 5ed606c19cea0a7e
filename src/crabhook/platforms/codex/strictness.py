"""What Codex's JSON reader takes, a Rust program's: stricter than Python's writer.

An answer that it cannot read is void, and the call runs.
"""

from crabhook.model.jsontext import Value

DEEPEST = 100  # levels; past 128 of the whole answer its reader gives up
_LEAST, _MOST = -(2**63), 2**64 - 1  # whole numbers past these would come out changed


def readable(text: str) -> str:
    """Return `text` without halves of characters, which no UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()


def why_unreadable(value: Value, depth: int = 0) -> str:
    """Return why `value` would not arrive as it is; empty where it would."""
    if depth > DEEPEST:
        return f"it is nested deeper than {DEEPEST} levels"
    inner: list[Value] = []
    why = ""
    match value:
        case str() if readable(value) != value:
            why = "it holds half a character"
        case int() if not _LEAST <= value <= _MOST:
            why = "it holds a number of too many digits"
        case float() if not abs(value) < float("inf"):
            why = "it holds a number out of range"
        case list():
            inner = value
        case dict():
            inner = [*value, *value.values()]
    return why or next(filter(None, (why_unreadable(item, depth + 1) for item in inner)), "")
