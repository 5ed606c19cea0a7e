import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.ui.commands.parse import OLDEST, LineCommand, LineTarget, Naming, parse
from crabhook.ui.commands.words import MAX_LINE, WORDS, LineError
from tests.support.rows import every_row


@every_row(
    "line, word, number, rest",
    [
        ("7 allow", "allow", 7, ""),
        ("#7 allow", "allow", 7, ""),
        ("allow", "allow", None, ""),
        ("  7\tALLOW   keep it small \r", "allow", 7, "keep it small"),
        ("7 deny 3 files are too many", "deny", 7, "3 files are too many"),
        ("deny it deletes 3 files", "deny", None, "it deletes 3 files"),
        ("7 answer 1=2", "answer", 7, "1=2"),
        ("ask", "ask", None, ""),
        ("12 pass", "pass", 12, ""),
        ("7 undo", "undo", 7, ""),
        ("show", "show", None, ""),
        ("list", "list", None, ""),
        ("help", "help", None, ""),
        ("quit", "quit", None, ""),
    ],
)
def test_a_line_is_a_number_a_word_and_what_follows(
    line: str, word: str, number: int | None, rest: str
) -> None:
    target = OLDEST if number is None else LineTarget(Naming.NUMBERS, (number,))
    assert parse(line) == LineCommand(WORDS[word], target, rest)


@pytest.mark.parametrize(
    ("line", "word", "target", "rest"),
    [
        ("1,3,5 allow", "allow", LineTarget(Naming.NUMBERS, (1, 3, 5)), ""),
        ("#1,#3,1 deny no", "deny", LineTarget(Naming.NUMBERS, (1, 3)), "no"),
        ("all deny not now", "deny", LineTarget(Naming.ALL), "not now"),
        ("ALL pass", "pass", LineTarget(Naming.ALL), ""),
        ("session=3f1c deny no", "deny", LineTarget(Naming.SESSION, session="3f1c"), "no"),
        ("same=7 allow", "allow", LineTarget(Naming.SAME, (7,)), ""),
        ("same=#7 answer 1=2", "answer", LineTarget(Naming.SAME, (7,)), "1=2"),
    ],
)
def test_several_requests_are_named_before_the_word(
    line: str, word: str, target: LineTarget, rest: str
) -> None:
    assert parse(line) == LineCommand(WORDS[word], target, rest)


@pytest.mark.parametrize(
    ("line", "word", "rest"),
    [
        ("deny --interrupt stop that", "deny --interrupt", "stop that"),
        ("DENY   --interrupt  stop that", "deny --interrupt", "stop that"),
        ("deny --interrupted", "deny", "--interrupted"),
        ("deny no --interrupt", "deny", "no --interrupt"),
        ("always 2", "always", "2"),
        ("always 2 local", "always", "2 local"),
    ],
)
def test_a_word_of_two_and_a_number_that_belongs_to_a_word_are_read(
    line: str, word: str, rest: str
) -> None:
    assert parse(line) == LineCommand(WORDS[word], OLDEST, rest)


@every_row(
    "line, wrong, write",
    [
        ("all allow", "only of requests you name by number", "1,3,5 allow [note]"),
        ("session=a allow", "only of requests you name by number", "1,3,5 allow [note]"),
        ("all retry", "only of requests you name by number", "1,3,5 retry"),
        ("all keep-going on", "only of requests you name by number", "1,3,5 keep-going"),
        ("1,2 edit ls", "of one request at a time", "[N] edit TEXT"),
        ("same=1 always 1", "of one request at a time", "[N] always K"),
        ("all accept a=1", "of one request at a time", "[N] accept"),
        ("1,2 list", "is about no single request", "list"),
        ("all hold Stop", "is about no single request", "hold EVENT"),
        ("all", "what about them?", "1,3 allow, or all deny REASON"),
        ("1,2", "what about them?", "1,3 allow, or all deny REASON"),
        ("1, 2 allow", '"1," is none of the words', "one of allow"),
        ("session= deny x", '"session=" is none of the words', "one of allow"),
    ],
)
def test_what_lets_something_happen_is_never_said_of_all_there_are(
    line: str, wrong: str, write: str
) -> None:
    with pytest.raises(LineError) as caught:
        parse(line)
    told, advice = str(caught.value).split("; nothing was decided. Write: ")
    assert wrong in told
    assert advice.startswith(write)


@pytest.mark.parametrize("line", ["", "   ", "\r", "\t"])
def test_an_empty_line_is_no_line(line: str) -> None:
    assert parse(line) is None


@every_row(
    "line, wrong, write",
    [
        ("alow", '"alow" is none of the words', "one of allow, deny"),
        ("7allow", '"7allow" is none of the words', "one of allow, deny"),
        ("7 8 allow", '"8" is none of the words', "one of allow, deny"),
        ("# 7 allow", '"#" is none of the words', "one of allow, deny"),
        ("\u0667 allow", "is none of the words", "one of allow, deny"),
        ("7", "what about #7?", "7 show, or 7 allow"),
        ("1234567890 allow", "is none of the words", "one of allow, deny"),
        ("7 edit", '"edit" needs something after it', "7 edit TEXT"),
        ("edit", '"edit" needs something after it', "[N] edit TEXT"),
        ("7 answer", '"answer" needs something after it', "7 answer 1=2"),
        ("7 ask please", 'nothing follows "ask": "please"', "7 ask"),
        ("7 pass x", 'nothing follows "pass": "x"', "7 pass"),
        ("quit now", 'nothing follows "quit": "now"', "quit"),
        ("7 quit", '"quit" is about no single request', "quit"),
        ("7 list", '"list" is about no single request', "list"),
    ],
)
def test_a_bad_line_says_what_is_wrong_and_how_to_write_it(
    line: str, wrong: str, write: str
) -> None:
    with pytest.raises(LineError) as caught:
        parse(line)
    told, advice = str(caught.value).split("; nothing was decided. Write: ")
    assert wrong in told
    assert advice.startswith(write)


@pytest.mark.parametrize(
    "line", ["allow 7", "deny #7 it deletes", "ask 7", "show 7", "undo 7", "allow 7,8", "edit 7"]
)
def test_a_number_behind_the_word_never_decides_the_oldest(line: str) -> None:
    with pytest.raises(LineError, match=r"the number comes before.* Write: 7[ ,]"):
        parse(line)


def test_a_line_past_the_bound_is_refused_whatever_it_says() -> None:
    fits = "7 deny " + "x" * (MAX_LINE - 7)
    assert parse(fits) is not None
    with pytest.raises(LineError, match="longer than"):
        parse(fits + "x")
    with pytest.raises(LineError, match="longer than"):
        parse("7 deny " + "é" * (MAX_LINE // 2))


def test_what_is_repeated_of_a_bad_line_is_safe_and_short() -> None:
    with pytest.raises(LineError) as caught:
        parse("\x1b[2J" + "x" * 5000)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 400


@given(st.text())
def test_any_line_is_a_command_nothing_or_a_line_error(line: str) -> None:
    try:
        command = parse(line)
    except LineError:
        return
    assert command is None or command.word in WORDS.values()
