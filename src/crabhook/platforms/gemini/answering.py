"""Answers to ask_user in a denial's reason: the only way a hook can answer Gemini's questions.

What the model reads begins with Gemini CLI's own words for a denied call, so
the first thing said is that nothing failed.
"""

from collections.abc import Iterator, Mapping

from crabhook.model.jsontext import Value, compact

_OPENING = (
    "this is no failure: the user was asked elsewhere and has answered. "
    "Take what follows as the result of ask_user, and do not ask the same again."
)


def stated(updated: Mapping[str, Value]) -> str:
    """Return the answers that a changed input of ask_user carries, told to the model.

    Each question is named by its index, as in the tool's own result, and in
    its own words.  Empty where the input carries no answers.
    """
    answers, remarks = _object(updated.get("answers")), _object(updated.get("annotations"))
    if not answers and not remarks:
        return ""
    asked = updated.get("questions")
    lines = [_OPENING]
    for index, item in enumerate(asked if isinstance(asked, list) else []):
        question = _object(item).get("question")
        if isinstance(question, str):
            remark = _object(remarks.get(question))
            lines.append(f"{index}. {question}")
            lines += _told(answers.get(question), remark.get("notes"))
    return "\n".join(lines)


def _told(answer: Value, note: Value) -> Iterator[str]:
    yield f"   Answer: {_words(answer)}" if answer is not None else "   Left unanswered."
    if note is not None:
        yield f"   The user adds: {_words(note)}"


def _words(value: Value) -> str:
    """Return a text with its later lines set in, so that none of them is taken for ours."""
    return value.replace("\n", "\n     ") if isinstance(value, str) else compact(value)


def _object(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, dict) else {}
