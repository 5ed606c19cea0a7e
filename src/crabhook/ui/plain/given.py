"""What a tool is given, as rows: commands line by line, changes as diffs, the rest as JSON."""

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import TypeAlias

from crabhook.model.errors import QuestionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value
from crabhook.model.question import Question, read_questions
from crabhook.ui.plain.happening import happening_rows, json_rows
from crabhook.ui.rows import Row, indented
from crabhook.ui.summary import is_question

_COMPARED_LINES = 400  # past these, finding what two texts share costs more than it tells

_Input: TypeAlias = dict[str, Value]
_Show: TypeAlias = Callable[[_Input, int], Iterator[Row]]


def given_rows(event: Event, longest: int) -> Iterator[Row]:
    """Yield all that the event's tool is given, then what the event tells beside it.

    Of any one text past `longest` characters the middle is left out, and the
    row in its place says so.
    """
    if event.tool is not None:
        yield from _input_rows(event, event.tool.input, longest)
    yield from happening_rows(event, longest)


def _input_rows(event: Event, given: Value, longest: int) -> Iterator[Row]:
    if not isinstance(given, dict):
        yield from json_rows("input", given, longest)
        return
    rest = dict(given)
    if is_question(event):
        yield from _questions(rest, longest)
    for key, show in _PARTS:
        if key in rest:
            yield from show(rest, longest)
    if rest or not given:
        yield from json_rows("input" if len(rest) == len(given) else "other input", rest, longest)


def _questions(rest: _Input, longest: int) -> Iterator[Row]:
    """Show the questions, or why they cannot be read; then they are shown as they came."""
    try:
        questions = read_questions(rest)
    except QuestionError as error:
        yield Row("  these questions cannot be read: ", str(error))
        return
    del rest["questions"]
    for number, question in enumerate(questions, 1):
        heading = f"{question.header}: " if question.header else ""
        yield Row(f"  {number}. ", heading + question.text, f" ({_kind(question)})")
        for place, option in enumerate(question.options, 1):
            told = f" — {option.description}" if option.description else ""
            yield Row(f"     {place}) ", option.label + told)
            if option.preview:
                yield from indented(" " * 8, option.preview, longest)


def _kind(question: Question) -> str:
    if question.options:
        return "several" if question.several else "one"
    return "own words, a number" if question.kind == "number" else "own words"


def _on_its_line(key: str) -> _Show:
    """Show the text `key` behind its name."""

    def show(rest: _Input, _: int) -> Iterator[Row]:
        if isinstance(text := rest[key], str):
            del rest[key]
            yield Row(f"  {key}: ", text)

    return show


def _line_by_line(key: str, mark: str = "") -> _Show:
    """Show the text `key` under its name."""

    def show(rest: _Input, longest: int) -> Iterator[Row]:
        if isinstance(text := rest[key], str):
            del rest[key]
            yield Row(f"  {key}:")
            yield from indented(f"    {mark}", text, longest)

    return show


def _change(rest: _Input, longest: int) -> Iterator[Row]:
    """Show what goes and what comes, marked as a unified diff marks it."""
    old, new = rest["old_string"], rest.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return
    del rest["old_string"], rest["new_string"]
    yield Row("  change:")
    few = old.count("\n") + new.count("\n") <= _COMPARED_LINES
    if few and len(old) + len(new) <= longest:
        yield from _diff(old.split("\n"), new.split("\n"))
    else:
        yield from indented("    -", old, longest)
        yield from indented("    +", new, longest)


def _diff(old: list[str], new: list[str]) -> Iterator[Row]:
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for step, old_from, old_to, new_from, new_to in steps:
        if step == "equal":
            yield from (Row("     ", line) for line in old[old_from:old_to])
        else:
            yield from (Row("    -", line) for line in old[old_from:old_to])
            yield from (Row("    +", line) for line in new[new_from:new_to])


def _changes(rest: _Input, longest: int) -> Iterator[Row]:
    """Show a list of changes one by one; a list of anything else stays in the input."""
    edits = rest["edits"]
    if not isinstance(edits, list) or not edits:
        return
    if not all(isinstance(edit, dict) and "old_string" in edit for edit in edits):
        return
    del rest["edits"]
    for number, edit in enumerate(edits, 1):
        change = {**edit} if isinstance(edit, dict) else {}
        yield Row(f"  {number} of {len(edits)}:")
        yield from _change(change, longest)
        if change:
            yield from json_rows("with", change, longest)


# Which fields of any tool's input are shown as more than JSON, in this order.
# Each takes what it shows out of the input, and leaves what it cannot show.
_PARTS: tuple[tuple[str, _Show], ...] = (
    ("file_path", _on_its_line("file_path")),
    ("notebook_path", _on_its_line("notebook_path")),
    ("command", _line_by_line("command")),
    ("description", _on_its_line("description")),
    ("old_string", _change),
    ("edits", _changes),
    ("content", _line_by_line("content", "+")),
    ("new_source", _line_by_line("new_source", "+")),
    ("plan", _line_by_line("plan")),
    ("prompt", _line_by_line("prompt")),
)
