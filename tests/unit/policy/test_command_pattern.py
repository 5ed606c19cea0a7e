"""The specifier of a Bash rule."""

import pytest

from crabhook.policy.command_pattern import command_pattern
from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.unfold import BLANK, Reading
from tests.support.rows import every_row


@every_row(
    "pattern, text, covers",
    [
        ("npm run build", "npm run build", True), ("npm run build", "npm run build x", False),
        ("npm run *", "npm run a", True), ("npm run *", "npm run", True), ("npm run *", "npm running", False),
        ("npm run:*", "npm run a b", True), ("npm run:*", "npm run", True), ("npm run:*", "npm runx", False),
        ("ls*", "lsof", True), ("ls *", "lsof", False), ("* --help", "a b --help", True), ("*", "a", True),
        ("git * main", "git push main", True), ("git * main", "git main", False), ("a  b", "a b", True),
        ('a "b c"', f"a b{BLANK}c", True), ('a "b c"', "a b c", False), ("a b c", f"a b{BLANK}c", False),
        ('a "b *"', f"a b{BLANK}c", True), (r"a \*", "a *", True), (r"a \*", "a b", False),
        ("a:b", "a:b", True), ("a:*:b", "a:x:b", True),
    ],
)  # fmt: skip
def test_a_pattern_covers_what_the_protocol_says(pattern: str, text: str, covers: bool) -> None:
    assert command_pattern(pattern).covers(Reading(text)) is covers


def test_only_a_pattern_that_begins_with_an_assignment_covers_one() -> None:
    reading = Reading("A=1 npm test", assigned=True)
    assert command_pattern("A=1 npm test").covers(reading)
    assert not command_pattern("*").covers(reading)
    assert not command_pattern("* test").covers(reading)


def test_only_a_pattern_without_wildcards_covers_what_needs_an_exact_one() -> None:
    reading = Reading("find . -delete", exact=True)
    assert command_pattern("find . -delete").covers(reading)
    for pattern in ("find *", "find . -delete*", "*", "find . *"):
        assert not command_pattern(pattern).covers(reading)


def test_it_hits_a_command_in_any_spelling() -> None:
    (command,) = read_script("/bin/r\\m 'x y'", {}).commands
    assert command_pattern("rm *").hits(command)
    assert not command_pattern("rn *").hits(command)


@pytest.mark.parametrize(
    ("pattern", "word"),
    [
        ("git *", "git"),
        ("git", "git"),
        ("git status", "git"),
        ("git:*", "git"),
        ("git*", ""),
        ("*", ""),
        ("* a", ""),
        ("A=1 b", ""),
        ('"a b" c', ""),
    ],
)
def test_the_first_word_is_known_where_it_is_fixed(pattern: str, word: str) -> None:
    assert command_pattern(pattern).first_word == word
