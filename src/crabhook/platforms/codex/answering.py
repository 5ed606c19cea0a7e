"""Answers to request_user_input in a denial's reason: the only way a hook can answer Codex.

A hook cannot fill them in, but what it refuses the tool for is handed to the model.
"""

from crabhook.model.jsontext import Value, literal
from crabhook.model.question import read_questions

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
