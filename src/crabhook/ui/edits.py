"""The texts of a call that an operator may change before allowing it."""

from collections.abc import Iterator, Sequence
from itertools import islice

from crabhook.model.card import Card
from crabhook.model.event import ToolCall
from crabhook.model.jsontext import Path, Value, at
from crabhook.present.summary import brief
from crabhook.ui.commands.decide import RewriteError, edited_field

# The fields that hold what a file will, each with those that name the file, agent by agent.
_NEW_TEXTS = {
    "new_string": ("file_path",),
    "content": ("file_path", "filePath"),
    "new_source": ("notebook_path",),
    "new_str": ("path",),
    "file_text": ("path",),
    "newString": ("filePath",),
}
_FILES = frozenset(name for names in _NEW_TEXTS.values() for name in names)
_MOST_LISTED = 8  # texts of an input that are offered to be edited as lines


def asked_tool(card: Card) -> ToolCall:
    """Return the last version of the call: an earlier leg may have less of a plan."""
    for leg in reversed(card.requests):
        if leg.event.tool is not None:
            return leg.event.tool
    raise RewriteError("this names no tool whose input could be changed")


def text_paths(tool: ToolCall) -> Sequence[Path]:
    """Return the paths of the input's texts that are edited as lines; none for JSON.

    These are the command or plan, or a file's new text, or else each text of several lines.
    """
    if field := edited_field(tool):
        return [(field,)]
    sent = tool.input
    if isinstance(sent, dict) and _FILES & sent.keys():
        for key, files in _NEW_TEXTS.items():
            if sent.keys() & files and isinstance(sent.get(key), str):
                return [(key,)]
        edits = sent.get("edits")
        several = enumerate(edits) if isinstance(edits, list) else ()
        if paths := [("edits", place, "new_string") for place, _ in several]:
            return [path for path in paths if isinstance(at(sent, path), str)][:_MOST_LISTED]
    return [*islice(_of_several_lines(sent, ()), _MOST_LISTED)]


def _of_several_lines(value: Value, path: Path) -> Iterator[Path]:
    match value:
        case str(text) if path and "\n" in text:
            yield path
        case dict(fields):
            for key, inner in fields.items():
                yield from _of_several_lines(inner, (*path, key))
        case list(items):
            for place, inner in enumerate(items):
                yield from _of_several_lines(inner, (*path, place))


def subject_of(path: Path) -> str:
    """Return the name of a part of the input, safe to show."""
    match path:
        case ():
            return "input"
        case [str(field)] if field in _NEW_TEXTS:
            return "new text"
        case ["edits", int(place), _]:
            return f"new text of edit {place + 1}"
    return brief(".".join(map(str, path)))
