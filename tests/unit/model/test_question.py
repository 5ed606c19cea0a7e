"""Questions read, and answers merged into an input that stays otherwise as it was."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.errors import QuestionError
from crabhook.model.jsontext import Value, canonical, compact
from crabhook.model.question import (
    MAX_OPTIONS,
    MAX_QUESTIONS,
    Answer,
    Option,
    Question,
    describe,
    merge_answers,
    quote_label,
    read_questions,
)
from tests.support.rows import every_row

SAMPLES = Path(__file__).parents[2] / "samples" / "claude"


def sample(name: str) -> dict[str, Any]:
    found = json.loads((SAMPLES / name).read_bytes())["tool_input"]
    assert isinstance(found, dict)
    return found


# Inputs an agent might send: the known fields, and any others at every level.

ODD = [
    "Red, green",
    'say "x"',
    "a,",
    " b",
    ",",
    '"',
    "",
    "é, ü",
    "\ud800",
    "\u202e",
    "\x1b[2J",
    "true",
]
WORDS = st.sampled_from(ODD) | st.text(max_size=8)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=3,
)
UNKNOWN = st.dictionaries(WORDS.map("x{}".format), JSON, max_size=2)
OPTION: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"label": WORDS, "description": WORDS}, optional={"preview": WORDS, "xtra": JSON}
)
QUESTION: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "question": WORDS.filter(bool),
        "options": st.lists(OPTION, max_size=4, unique_by=lambda option: option["label"]),
    },
    optional={"header": WORDS, "multiSelect": st.booleans(), "xtra": JSON},
)
QUESTIONS = st.lists(QUESTION, min_size=1, max_size=3, unique_by=lambda one: one["question"])
SAID = st.dictionaries(WORDS, JSON, max_size=2) | JSON


@st.composite
def asked_and_answered(draw: st.DrawFn) -> tuple[dict[str, Any], dict[int, Answer]]:
    known: dict[str, Any] = {"questions": draw(QUESTIONS)}
    for key in draw(st.sets(st.sampled_from(["answers", "annotations"]))):
        known[key] = draw(SAID)
    fields = draw(st.permutations([*known.items(), *draw(UNKNOWN).items()]))
    tool_input = json.loads(json.dumps(dict(fields)))
    answers = {}
    for place, question in enumerate(read_questions(tool_input)):
        full = [index for index, option in enumerate(question.options) if option.label]
        several = question.several
        chosen = draw(st.permutations(full))[: draw(st.integers(0, 4 if several else 1))]
        words = "" if chosen and not several else draw(WORDS)
        answers[place] = Answer(tuple(chosen), words, draw(WORDS))
    return tool_input, answers


@given(asked_and_answered())
def test_answers_are_added_and_nothing_else_changes(case: tuple[dict[str, Any], Any]) -> None:
    tool_input, answers = case
    before = copy.deepcopy(tool_input)
    merged = merge_answers(tool_input, answers)
    assert json.dumps(tool_input) == json.dumps(before), "the input was touched"
    if merged is None:
        assert all(answer.empty and not answer.note for answer in answers.values())
        return
    assert json.loads(compact(merged)) == merged, "it cannot be sent"
    others = [key for key in merged if key not in ("answers", "annotations")]
    assert others == [key for key in before if key not in ("answers", "annotations")]
    assert [key for key in merged if key in before] == list(before)
    assert json.dumps([merged[key] for key in others]) == json.dumps(
        [before[key] for key in others]
    )


@given(asked_and_answered())
def test_every_question_that_was_answered_and_no_other_has_its_answer(
    case: tuple[dict[str, Any], dict[int, Answer]],
) -> None:
    tool_input, answers = case
    questions = read_questions(tool_input)
    merged = merge_answers(tool_input, answers)
    if merged is None:
        return
    said = merged["answers"]
    assert isinstance(said, dict)
    for place, question in enumerate(questions):
        answer = answers.get(place, Answer())
        if answer.empty:
            assert question.text not in said
            continue
        labels = [question.options[index].label for index in answer.chosen]
        if not labels:
            assert said[question.text] == answer.words
        elif question.several:
            expected = [*labels, *([answer.words] if answer.words else [])]
            assert split(said[question.text]) == expected
        else:
            assert [said[question.text]] == labels


@given(asked_and_answered())
def test_notes_and_the_chosen_preview_go_into_the_annotations(
    case: tuple[dict[str, Any], dict[int, Answer]],
) -> None:
    tool_input, answers = case
    merged = merge_answers(tool_input, answers) or {}
    remarks = merged.get("annotations")
    for place, question in enumerate(read_questions(tool_input)):
        answer = answers.get(place, Answer())
        previews = [question.options[index].preview for index in answer.chosen]
        expected = {"notes": answer.note} if answer.note else {}
        if previews and previews[0] and not question.several:
            expected["preview"] = previews[0]
        found = remarks.get(question.text, {}) if isinstance(remarks, dict) else {}
        assert merged == {} or found == expected


def split(joined: Any) -> list[str]:
    """Read a list of several labels back, as the agent does."""
    parts, rest = [], joined
    while True:
        if rest.startswith('"'):
            part, end = json.JSONDecoder(strict=False).raw_decode(rest)
        else:
            end = rest.find(", ")
            end = len(rest) if end < 0 else end
            part = rest[:end]
        parts.append(part)
        if end == len(rest):
            return parts
        assert rest[end : end + 2] == ", "
        rest = rest[end + 2 :]


# What stands in the protocol, by example.

TWO: dict[str, Any] = {
    "questions": [
        {"question": "Which?", "options": [{"label": "A", "preview": "x"}, {"label": "B"}]},
        {
            "question": "Colours?",
            "multiSelect": True,
            "options": [{"label": "Red, green"}, {"label": "Blue"}],
        },
        {"question": "Empty?", "options": [{"label": ""}]},
    ],
    "metadata": {"kept": [1, None]},
}


@pytest.mark.parametrize(
    ("answers", "added"),
    [
        ({0: Answer((1,))}, {"answers": {"Which?": "B"}}),
        (
            {0: Answer((0,))},
            {"answers": {"Which?": "A"}, "annotations": {"Which?": {"preview": "x"}}},
        ),
        ({0: Answer(words="my own")}, {"answers": {"Which?": "my own"}}),
        ({1: Answer((0, 1))}, {"answers": {"Colours?": '"Red, green", Blue'}}),
        ({1: Answer((1,), "and pink, too")}, {"answers": {"Colours?": 'Blue, "and pink, too"'}}),
        (
            {0: Answer((1,), note="small"), 1: Answer((1,))},
            {
                "answers": {"Which?": "B", "Colours?": "Blue"},
                "annotations": {"Which?": {"notes": "small"}},
            },
        ),
        ({0: Answer(note="hm")}, {"answers": {}, "annotations": {"Which?": {"notes": "hm"}}}),
    ],
)
def test_answers_are_written_as_the_protocol_says(answers: Any, added: Any) -> None:
    assert merge_answers(TWO, answers) == {**TWO, **added}


@pytest.mark.parametrize("answers", [{}, {0: Answer()}, {0: Answer(), 1: Answer()}])
def test_no_answers_make_no_input(answers: Any) -> None:
    assert merge_answers(TWO, answers) is None


def test_answers_the_model_gave_itself_are_not_passed_on_as_the_operators() -> None:
    own = {
        **TWO,
        "answers": {"Which?": "A", "Colours?": "Blue", "else": 1},
        "annotations": {"Which?": {"notes": "n"}},
    }
    assert merge_answers(own, {1: Answer((1,))}) == {
        **own,
        "answers": {"else": 1, "Colours?": "Blue"},
        "annotations": {},
    }


def test_the_recorded_question_is_read_and_answered() -> None:
    tool_input = sample("PreToolUse-AskUserQuestion.json")
    first, second = read_questions(tool_input)
    assert (first.text, first.header, first.several) == ("Which library?", "Library", False)
    assert first.options[0] == Option("msgspec", "fast")
    assert second.several
    assert merge_answers(tool_input, {0: Answer((1,)), 1: Answer((1,))}) == sample(
        "PostToolUse-AskUserQuestion.json"
    )


@pytest.mark.parametrize("options", [{}, {"options": []}, {"options": None}])
def test_a_question_without_options_asks_for_own_words(options: Any) -> None:
    tool_input: Any = {"questions": [{"question": "How many?", "kind": "number", **options}]}
    assert read_questions(tool_input) == (Question("How many?", kind="number"),)
    merged = merge_answers(tool_input, {0: Answer(words="3")})
    assert merged == {**tool_input, "answers": {"How many?": "3"}}


# What cannot be read or answered.


@every_row(
    "tool_input, words",
    [
        (None, "not an object"),
        ([], "not an object"),
        ({}, 'no list "questions"'),
        ({"questions": {}}, 'no list "questions"'),
        ({"questions": []}, 'no list "questions"'),
        ({"questions": ["?"]}, "question 1 is not an object"),
        ({"questions": [{"question": "a"}, {}]}, 'question 2 has no text "question"'),
        ({"questions": [{"question": ""}]}, 'question 1 has no text "question"'),
        ({"questions": [{"question": 1}]}, 'question 1 has no text "question"'),
        ({"questions": [{"question": "a", "options": {}}]}, '"options" of question 1'),
        ({"questions": [{"question": "a", "options": ["x"]}]}, "option 1 of question 1"),
        ({"questions": [{"question": "a", "options": [{"label": 1}]}]}, "option 1 of question 1"),
        ({"questions": [{"question": "a"}, {"question": "a"}]}, "the same words"),
    ],
)
def test_an_input_that_is_no_question_says_why(tool_input: Any, words: str) -> None:
    with pytest.raises(QuestionError, match=words):
        read_questions(tool_input)
    with pytest.raises(QuestionError, match=words):
        merge_answers(tool_input, {0: Answer(words="x")})


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({3: Answer((0,))}, "no question 4"),
        ({-1: Answer((0,))}, "no question 0"),
        ({0: Answer((2,))}, "question 1 has no option 3"),
        ({0: Answer((-1,))}, "question 1 has no option 0"),
        ({0: Answer((0, 1))}, "question 1 takes one answer"),
        ({0: Answer((0,), "and more")}, "question 1 takes one answer"),
        ({1: Answer((0, 0))}, "question 2.* twice"),
        ({2: Answer((0,))}, "option 1 of question 3 is empty"),
    ],
)
def test_an_answer_the_question_cannot_take_says_why(answers: Any, words: str) -> None:
    with pytest.raises(QuestionError, match=words):
        merge_answers(TWO, answers)


@given(JSON)
def test_any_json_is_read_or_refused_in_words(value: Any) -> None:
    tool_input: Any
    for tool_input in (
        value,
        {"questions": value},
        {"questions": [{"question": "a", "options": value}]},
    ):
        try:
            questions = read_questions(tool_input)
        except QuestionError:
            continue
        assert describe(questions)


@pytest.mark.parametrize(
    ("label", "quoted"),
    [("a", "a"), ("a,b", "a,b"), ("a, b", '"a, b"'), ('a"', '"a\\""'), ("é, ü", '"é, ü"')],
)
def test_a_label_is_quoted_only_where_it_must_be(label: str, quoted: str) -> None:
    assert quote_label(label) == quoted


def test_questions_are_described_by_the_first_and_their_number() -> None:
    assert describe([Question("Which?", "Pick")]) == "Pick"
    assert describe([Question("Which?"), Question("How?")]) == "Which? +1"


def test_a_note_alone_is_no_answer() -> None:
    assert Answer(note="x").empty
    assert not Answer((0,)).empty
    assert not Answer(words="x").empty


def test_equal_inputs_have_one_canonical_text() -> None:
    assert canonical({"b": 1, "a": [True]}) == canonical({"a": [True], "b": 1})


def _asking(questions: int, options: int) -> Value:
    listed: list[Value] = [{"label": f"o{place}"} for place in range(options)]
    return {"questions": [{"question": f"q{n}", "options": listed} for n in range(questions)]}


def test_no_more_is_asked_than_a_person_could_answer() -> None:
    assert len(read_questions(_asking(MAX_QUESTIONS, MAX_OPTIONS // MAX_QUESTIONS))) == 100
    with pytest.raises(QuestionError, match="101 questions, more than 100"):
        read_questions(_asking(MAX_QUESTIONS + 1, 0))
    with pytest.raises(QuestionError, match="10100 options, more than 10000"):
        read_questions(_asking(MAX_QUESTIONS, MAX_OPTIONS // MAX_QUESTIONS + 1))


def test_a_question_for_yes_or_no_has_the_options_its_agent_offers_by_itself() -> None:
    asked = {"questions": [{"question": "Go?", "type": "yesno"}]}
    (question,) = read_questions(asked)
    assert [option.label for option in question.options] == ["Yes", "No"]
    merged = merge_answers(asked, {0: Answer((1,))})
    assert merged == {**asked, "answers": {"Go?": "No"}}


def test_a_question_in_own_words_has_no_options() -> None:
    (question,) = read_questions({"questions": [{"question": "Name?", "type": "text"}]})
    assert not question.options
