"""AskUserQuestion: questions read from a tool's input, answers merged back into it.

Source: the hook protocol's section 6. The merge adds to the original input, so unknown fields stay.
An unreadable input is an error for the caller to show, never a guess.
"""

from collections.abc import Mapping, Sequence

from crabhook.datatypes import frozen
from crabhook.model.errors import QuestionError
from crabhook.model.jsontext import Value, literal, object_at, text_at

MAX_QUESTIONS = 100  # agents ask four at most
MAX_OPTIONS = 10_000  # of all the questions together; no person reads past them


@frozen
class Option:
    """One option to choose."""

    label: str
    description: str = ""
    preview: str = ""


_YES_OR_NO = (Option("Yes"), Option("No"))  # an agent itself offers this for such a question


@frozen
class Question:
    """One question; without options, or of an unknown kind, it takes own words."""

    text: str
    header: str = ""
    options: tuple[Option, ...] = ()
    several: bool = False
    kind: str = "choice"


@frozen
class Answer:
    """An operator's answer to one question.

    `chosen`: indexes of options. `words`: the operator's own. `note`: for the model.
    """

    chosen: tuple[int, ...] = ()
    words: str = ""
    note: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing was answered; a note alone is not an answer."""
        return not self.chosen and not self.words


def read_questions(tool_input: Value) -> tuple[Question, ...]:
    """Return the questions in an AskUserQuestion input.

    Raises QuestionError for no questions, too many, or two with the same words: answers are keyed
    by the words.
    """
    if not isinstance(tool_input, dict):
        raise QuestionError("the tool's input is not an object")
    listed = tool_input.get("questions")
    if not isinstance(listed, list) or not listed:
        raise QuestionError('the tool\'s input has no list "questions"')
    _refuse_too_many(listed)
    questions = tuple(_read_question(number, item) for number, item in enumerate(listed, 1))
    if len({question.text for question in questions}) < len(questions):
        raise QuestionError("two questions ask in the same words")
    return questions


def _refuse_too_many(listed: Sequence[Value]) -> None:
    if len(listed) > MAX_QUESTIONS:
        raise QuestionError(f"there are {len(listed)} questions, more than {MAX_QUESTIONS}")
    option_lists = (item.get("options") for item in listed if isinstance(item, dict))
    options = sum(
        len(options_of_question)
        for options_of_question in option_lists
        if isinstance(options_of_question, list)
    )
    if options > MAX_OPTIONS:
        raise QuestionError(f"the questions have {options} options, more than {MAX_OPTIONS}")


_SEVERAL = ("multiSelect", "multiple")  # what agents call it


def _read_question(number: int, item: Value) -> Question:
    if not isinstance(item, dict):
        raise QuestionError(f"question {number} is not an object")
    text = item.get("question")
    if not isinstance(text, str) or not text:
        raise QuestionError(f'question {number} has no text "question"')
    listed = item.get("options")
    listed = [] if listed is None else listed
    if not isinstance(listed, list):
        raise QuestionError(f'the "options" of question {number} are not a list')
    options = tuple(_read_option(number, place, option) for place, option in enumerate(listed, 1))
    if not options and item.get("type") == "yesno":
        options = _YES_OR_NO
    return Question(
        text=text,
        header=text_at(item, "header"),
        options=options,
        several=any(item.get(key) is True for key in _SEVERAL),
        kind=text_at(item, "kind") or "choice",
    )


def _read_option(number: int, place: int, item: Value) -> Option:
    if not isinstance(item, dict) or not isinstance(item.get("label"), str):
        raise QuestionError(f'option {place} of question {number} has no text "label"')
    return Option(text_at(item, "label"), text_at(item, "description"), text_at(item, "preview"))


def merge_answers(tool_input: Value, answers: Mapping[int, Answer]) -> dict[str, Value] | None:
    """Return the tool's whole input with the answers set, or None if there are none.

    `answers` maps a question's place (from 0) to its answer. The model's own answers in the input
    are removed; all other fields stay. Raises QuestionError for no questions, a wrong place or
    choice, an empty option, or several choices where one is allowed.
    """
    questions = read_questions(tool_input)
    texts: dict[str, Value] = {}
    remarks: dict[str, Value] = {}
    for place in sorted(answers):
        if not 0 <= place < len(questions):
            raise QuestionError(f"there is no question {place + 1}")
        question, answer = questions[place], answers[place]
        _check(place, question, answer)
        if not answer.empty:
            texts[question.text] = _answer_text(question, answer)
        if remark := _remark(question, answer):
            remarks[question.text] = remark
    if not texts and not remarks:
        return None
    assert isinstance(tool_input, dict)  # noqa: S101 - read_questions raised otherwise
    merged = dict(tool_input)
    asked = {question.text for question in questions}
    merged["answers"] = {**_others(tool_input, "answers", asked), **texts}
    if remarks or isinstance(tool_input.get("annotations"), dict):
        merged["annotations"] = {**_others(tool_input, "annotations", asked), **remarks}
    return merged


def _check(place: int, question: Question, answer: Answer) -> None:
    for index in answer.chosen:
        if not 0 <= index < len(question.options):
            raise QuestionError(f"question {place + 1} has no option {index + 1}")
        if not question.options[index].label:  # the agent reads an empty answer as none
            raise QuestionError(f"option {index + 1} of question {place + 1} is empty")
    if len(set(answer.chosen)) < len(answer.chosen):
        raise QuestionError(f"question {place + 1} has one option chosen twice")
    if len(answer.chosen) + bool(answer.words) > 1 and not question.several:
        raise QuestionError(f"question {place + 1} takes one answer")


def _answer_text(question: Question, answer: Answer) -> str:
    labels = [question.options[index].label for index in answer.chosen]
    if not labels:
        return answer.words
    if not question.several:
        return labels[0]
    return ", ".join(map(quote_label, [*labels, *([answer.words] if answer.words else [])]))


def quote_label(label: str) -> str:
    """Return a label as the agent's terminal writes it into a list of several.

    With a separator or quote it is a JSON string, to be readable again (section 6, "Multi-select").
    """
    return literal(label) if ", " in label or '"' in label else label


def _remark(question: Question, answer: Answer) -> dict[str, Value]:
    remark: dict[str, Value] = {}
    previews = [preview for i in answer.chosen if (preview := question.options[i].preview)]
    if previews and not question.several:
        remark["preview"] = previews[0]
    if answer.note:
        remark["notes"] = answer.note
    return remark


def _others(tool_input: Mapping[str, Value], key: str, asked: set[str]) -> dict[str, Value]:
    """Return what is under `key` beside the questions; open questions stay open."""
    texts = object_at(tool_input, key)
    return {text: what for text, what in texts.items() if text not in asked}


def describe(questions: Sequence[Question]) -> str:
    """Return the questions in one line: the first header or text, and their number."""
    first = questions[0].header or questions[0].text
    return first if len(questions) == 1 else f"{first} +{len(questions) - 1}"
