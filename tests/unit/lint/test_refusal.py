"""When words say that something is refused."""

import pytest

from crabhook.lint.script import named_for_refusing, refuses


@pytest.mark.parametrize(
    "words",
    [
        "BLOCKED: force push",
        "this is not allowed here",
        "Access denied",
        "We refuse to delete that",
        "rejected by policy",
    ],
)
def test_words_that_refuse_are_known(words: str) -> None:
    assert refuses(words)


@pytest.mark.parametrize(
    "words",
    [
        "cannot read the input",
        "not blocked, only noted",
        "unblock the queue",
        "this would block the build",
        "jq is missing",
        "blockchain synced",
        "",
    ],
)
def test_words_that_do_not_refuse_are_left_alone(words: str) -> None:
    assert not refuses(words)


def test_in_a_handler_of_errors_only_a_refusal_at_the_beginning_counts() -> None:
    assert refuses("Blocked: the guard failed", first=True)
    assert refuses("⛔ denied, since the guard failed", first=True)
    assert not refuses("could not read the list of blocked words", first=True)


@pytest.mark.parametrize("name", ["block", "deny_call", "_refuse", "do_block"])
def test_a_function_can_be_named_for_refusing(name: str) -> None:
    assert named_for_refusing(name)


@pytest.mark.parametrize("name", ["blocks", "code_blocker", "main", "unblock", ""])
def test_other_names_say_nothing(name: str) -> None:
    assert not named_for_refusing(name)
