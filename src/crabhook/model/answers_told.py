"""Answers to questions in words, for agents whose hooks cannot fill them in.

Gemini CLI and Codex let a hook refuse the tool that asks, and hand the reason
to the model: the only way in which an operator's answers reach it.
"""

from crabhook.model.jsontext import Value, literal
from crabhook.model.question import read_questions

_TAKEN = (
    "This is no refusal: the operator has answered from another terminal, "
    "so the questions are not shown here. Go on with these answers and do not ask again."
)
_OPEN = "(not answered)"


def answers_told(tool_input: Value) -> str:
    """Return in words, for the model, the answers that `merge_answers` has set in an input.

    Empty where the input has none.  Raises QuestionError for an input without questions.
    """
    questions = read_questions(tool_input)
    answers, annotations = _under(tool_input, "answers"), _under(tool_input, "annotations")
    lines = []
    for question in questions:
        answer, note = answers.get(question.text), _note(annotations.get(question.text))
        if isinstance(answer, str) or note:
            said = answer if isinstance(answer, str) else _OPEN
            lines.append(f"{literal(question.text)} = {literal(said) if said != _OPEN else said}")
            lines += [f"  note: {note}"] if note else []
        else:
            lines.append(f"{literal(question.text)} = {_OPEN}")
    told = any(not line.endswith(f"= {_OPEN}") for line in lines)
    return "\n".join([_TAKEN, *lines]) if told else ""


def _under(tool_input: Value, key: str) -> dict[str, Value]:
    value = tool_input.get(key) if isinstance(tool_input, dict) else None
    return value if isinstance(value, dict) else {}


def _note(annotation: Value) -> str:
    note = annotation.get("notes") if isinstance(annotation, dict) else None
    return note if isinstance(note, str) else ""
