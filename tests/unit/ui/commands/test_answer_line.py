import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.question import Answer, Option, Question
from crabhook.ui.commands.forms import example, read_answers
from crabhook.ui.commands.words import LineError
from tests.support.rows import every_row

LIBRARY = Question("Which library?", "Library", (Option("msgspec"), Option("pydantic")))
FEATURES = Question("Which?", "Features", (Option("A"), Option("B"), Option("C")), several=True)
NAME = Question("What name?", kind="text")
QUESTIONS = (LIBRARY, FEATURES, NAME)


@every_row(
    "text, answers",
    [
        ("1=2", {0: Answer((1,))}),
        ("1=2 2=1,3", {0: Answer((1,)), 1: Answer((0, 2))}),
        ("2=3,1", {1: Answer((2, 0))}),
        ("2=1, 3   1=1", {1: Answer((0, 2)), 0: Answer((0,))}),
        ("1 = 2", {0: Answer((1,))}),
        ('3="own words"', {2: Answer(words="own words")}),
        ("3='own words'", {2: Answer(words="own words")}),
        ('1="2"', {0: Answer(words="2")}),
        ('2=1,"own words"', {1: Answer((0,), "own words")}),
        ('2="own, words",3', {1: Answer((2,), "own, words")}),
        ('1=2 1.note="keep it small"', {0: Answer((1,), note="keep it small")}),
        ("1.note='first' 1=2", {0: Answer((1,), note="first")}),
        ('2.note="only a note"', {1: Answer(note="only a note")}),
        (r'3="say \"hi\" \\ \n"', {2: Answer(words=r'say "hi" \ \n')}),
        (r"""3='a "b" \'""", {2: Answer(words='a "b" \\')}),
        ('3="1=2 2=1"', {2: Answer(words="1=2 2=1")}),
    ],
)
def test_answers_are_written_by_number(text: str, answers: dict[int, Answer]) -> None:
    assert read_answers(text, QUESTIONS, 7) == answers


@every_row(
    "text, wrong",
    [
        ("4=1", "there is no question 4"),
        ("0=1", "there is no question 0"),
        ("1=3", "question 1 has no option 3, only 1 to 2"),
        ("1=0", "question 1 has no option 0, only 1 to 2"),
        ("1=1,2", "question 1 takes one answer"),
        ('1=1,"more"', "question 1 takes one answer"),
        ("2=1,1", "question 2 has option 1 twice"),
        ("1=1 1=2", "question 1 has an answer twice"),
        ("1.note='a' 1.note='b'", "question 1 has a note twice"),
        ("2='a','b'", "question 2 has own words twice"),
        ("3=1", "question 3 has no options, it wants words in quotes"),
        ("1=msgspec", "cannot read msgspec (words and notes stand in quotes)"),
        ("1.note=small", "cannot read small (words and notes stand in quotes)"),
        ("1=2x", "cannot read 2x"),
        ("1=-1", "cannot read -1"),
        ("1=99999", "cannot read 99999"),
        ("1=1;2=1", "cannot read 1;2=1"),
        ("1=1 because", "cannot read because"),
        ("msgspec", "cannot read msgspec"),
        ("1", "cannot read 1"),
        ("1=", "something is missing at the end"),
        ("2=1,", "something is missing at the end"),
        ('3="no end', 'a quote does not end, or letters stand behind it: "no end'),
        ('3="a"b', 'a quote does not end, or letters stand behind it: "a"b'),
        ('3=""', "the words for question 3 are empty"),
        ("3='  '", "the words for question 3 are empty"),
    ],
)
def test_what_cannot_be_taken_as_it_stands_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(LineError) as caught:
        read_answers(text, QUESTIONS, 7)
    told, advice = str(caught.value).split("; nothing was decided. Write: ")
    assert told.startswith(wrong)
    assert advice == '7 answer 1=1 2=1,2 3="own words"'


def test_the_example_is_itself_a_fitting_answer() -> None:
    assert read_answers(example(QUESTIONS), QUESTIONS, 7) == {
        0: Answer((0,)),
        1: Answer((0, 1)),
        2: Answer(words="own words"),
    }


@given(st.text(st.sampled_from("123=,\"'\\. note\tx\n")))
def test_any_text_is_answers_in_range_or_a_line_error(text: str) -> None:
    try:
        answers = read_answers(text, QUESTIONS, 7)
    except LineError:
        return
    for place, answer in answers.items():
        question = QUESTIONS[place]
        assert all(index < len(question.options) for index in answer.chosen)
        assert question.several or len(answer.chosen) + bool(answer.words) <= 1


@given(st.text(min_size=1).filter(str.strip))
def test_quoted_words_arrive_as_they_were_meant(words: str) -> None:
    quoted = words.replace("\\", "\\\\").replace('"', '\\"')
    assert read_answers(f'3="{quoted}"', QUESTIONS, 7) == {2: Answer(words=words)}
