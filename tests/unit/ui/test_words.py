import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.ui.words import MAX_LINE, WORDS, Command, LineError, help_lines, parse


@pytest.mark.parametrize(
    ("line", "word", "number", "rest"),
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
    assert parse(line) == Command(WORDS[word], number, rest)


@pytest.mark.parametrize("line", ["", "   ", "\r", "\t"])
def test_an_empty_line_is_no_line(line: str) -> None:
    assert parse(line) is None


@pytest.mark.parametrize(
    ("line", "wrong", "write"),
    [
        ("alow", '"alow" is none of the words', "one of allow, deny"),
        ("7allow", '"7allow" is none of the words', "one of allow, deny"),
        ("7 8 allow", '"8" is none of the words', "one of allow, deny"),
        ("# 7 allow", '"#" is none of the words', "one of allow, deny"),
        ("\u0667 allow", "is none of the words", "one of allow, deny"),
        ("7", "what about #7?", "7 show, or 7 allow"),
        ("1234567890 allow", "is none of the words", "one of allow, deny"),
        ("7 deny", '"deny" needs something after it', "7 deny REASON"),
        ("deny", '"deny" needs something after it', "[N] deny REASON"),
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


@pytest.mark.parametrize("line", ["allow 7", "deny #7 it deletes", "ask 7", "show 7", "undo 7"])
def test_a_number_behind_the_word_never_decides_the_oldest(line: str) -> None:
    with pytest.raises(LineError, match=r"the number comes before.* Write: 7 "):
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
    assert len(str(caught.value)) < 300


@given(st.text())
def test_any_line_is_a_command_nothing_or_a_line_error(line: str) -> None:
    try:
        command = parse(line)
    except LineError:
        return
    assert command is None or command.word in WORDS.values()


def test_the_help_tells_every_word_the_parser_knows() -> None:
    told = "\n".join(help_lines())
    for word in WORDS.values():
        assert f"  {word.usage()}" in told
        assert word.means in told
    assert max(map(len, help_lines())) <= 80


def test_every_usage_in_the_help_can_be_written() -> None:
    for word in WORDS.values():
        line = word.usage(7).replace("[note]", "a note")
        assert parse(line) is not None
