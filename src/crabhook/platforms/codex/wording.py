"""Words for Codex: what its JSON reader takes, and answers to request_user_input.

The reader is a Rust program's and stricter than Python's writer: an answer that
it cannot read is void, and the call runs.  A hook cannot fill questions in, but
what it refuses the tool for is handed to the model.
"""

from crabhook.model.jsontext import Value, literal
from crabhook.model.question import read_questions

DEEPEST = 100  # levels; past 128 of the whole answer its reader gives up
_LEAST, _MOST = -(2**63), 2**64 - 1  # whole numbers past these would come out changed

_TAKEN = (
    "This is no refusal: the operator has answered from another terminal, "
    "so the questions are not shown here. Go on with these answers and do not ask again."
)


def stated(tool_input: Value) -> str:
    """Return in words, for the model, the answers that `merge_answers` has set in an input.

    Empty where the input has none.  Raises QuestionError for an input without questions.
    """
    questions = read_questions(tool_input)
    answers, annotations = _under(tool_input, "answers"), _under(tool_input, "annotations")
    lines, told = [], False
    for question in questions:
        answer, note = answers.get(question.text), _note(annotations.get(question.text))
        said = literal(answer) if isinstance(answer, str) else "(not answered)"
        lines.append(f"{literal(question.text)} = {said}")
        lines += [f"  note: {literal(note)}"] if note else []
        told = told or isinstance(answer, str) or bool(note)
    return "\n".join([_TAKEN, *lines]) if told else ""


def _under(tool_input: Value, key: str) -> dict[str, Value]:
    value = tool_input.get(key) if isinstance(tool_input, dict) else None
    return value if isinstance(value, dict) else {}


def _note(annotation: Value) -> str:
    note = annotation.get("notes") if isinstance(annotation, dict) else None
    return note if isinstance(note, str) else ""


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
