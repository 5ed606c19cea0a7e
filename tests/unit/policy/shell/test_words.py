"""Words, as what the shell may make of them."""

import pytest

from crabhook.policy.shell.line import Line, LineFindings, Readers
from crabhook.policy.shell.read import read_list, read_script
from crabhook.policy.shell.script import ShellWord
from crabhook.policy.shell.words import backquoted, dollar, read_quoted, read_word
from tests.support.rows import every_row


def word(text: str) -> ShellWord:
    return read_script(f"a {text}", {"HOME": ("/h",)}).commands[-1].words[1]


@every_row(
    "text, meant",
    [
        ("b", "b"), ("'b c'", "b c"), ('"b c"', "b c"), ("b'c'\"d\"e", "bcde"), (r"b\ c", "b c"),
        (r"$'b\x63'", "bc"), ('"b\\$c"', "b$c"), ("'$b'", "$b"), ("12", "12"), ("''", ""),
        ('"b"c', "bc"), ("--b='c d'", "--b=c d"), ("b#c", "b#c"), ('"é"x', "éx"), ("{}", "{}"),
    ],
)  # fmt: skip
def test_a_word_without_expansions_is_fixed(text: str, meant: str) -> None:
    found = word(text)
    assert (found.values, found.fixed) == ((meant,), True)


@every_row(
    "text, values",
    [
        ("$b", {""}), ("$HOME", {"/h", ""}), ('"$HOME/c"', {"/h/c", "/c"}), ("${HOME}c", {"/hc", "c"}),
        ("${b:-c}", {"", "c"}), ("$(echo c)", {"c", ""}), ("`printf c`", {"c", ""}), ("$(c)", {""}),
        ("b$(which c)", {"bc", "b"}), ("$((1+2))", {"0", ""}), ("*.b", {"*.b"}), ("{b,c}", {"{b,c}", "b", "c"}),
        ('"b `c` d"', {"b  d"}),
    ],
)  # fmt: skip
def test_a_word_with_expansions_has_guesses_and_is_not_fixed(text: str, values: set[str]) -> None:
    found = word(text)
    assert set(found.values) == values
    assert not found.fixed


def test_a_tilde_counts_where_it_is_not_quoted() -> None:
    assert word("~/b").tilde
    assert not word("'~/b'").tilde
    assert not word(r"\~/b").tilde
    assert not word("b~").tilde


@every_row(
    "text",
    [
        "${!b}",
        "${b@P}",
        "${PATH:=c}",
        "${b:c:d}",
        "${b[c+1]}",
        "$((PATH))",
        "$[b]",
        '$"b"',
        "${b:-`c`}",
        "{1..999}",
        "b(c)",
        "$b[1]",
        "$+b",
        "=b",
        "}",
        "\"${b:-'c'}\"",
        "b\\\nc",
    ],
)
def test_what_may_run_or_set_something_is_a_trouble(text: str) -> None:
    assert read_script(f"a {text}", {}).troubles


@every_row(
    "text",
    [
        "${b:=c}",
        "${b:1:2}",
        "${b[c]}",
        "$((b))",
        "${b[@]}",
        "[ ]",
        "${b}",
        "${b:-c}",
        "${b%.*}",
        "${b##*/}",
        "${#b}",
        "${b/c/d}",
        "${b^^}",
        "$1",
        "$?",
        "$@",
    ],
)
def test_a_plain_value_of_a_variable_is_no_trouble(text: str) -> None:
    assert not read_script(f"a {text}", {}).troubles


@pytest.mark.parametrize("text", ["[]", "a[b]", "[[b]", "[b]c", "[a[]", "]a[]"])
def test_brackets_that_close_before_a_blank_are_wildcards(text: str) -> None:
    assert word(text).glob


@pytest.mark.parametrize("text", ["[", "][", "a[[", r"[\ ]", "'[a]'"])
def test_brackets_that_do_not_are_letters(text: str) -> None:
    assert not word(text).glob


@pytest.mark.timeout(60)
def test_any_number_of_open_brackets_is_read_in_one_pass() -> None:
    """A look from each to the end took an hour for so many."""
    readers = Readers(read_list, dollar, read_quoted, backquoted)
    line = Line("[" * 2_000_000, LineFindings({}, frozenset(), {}), readers)
    assert not read_word(line).glob
