"""Here-documents: where they end, and what they expand."""

import pytest

from crabhook.policy.shell.read import read_script


@pytest.mark.parametrize(
    "text",
    [
        "a <<E\nb\nE", "a <<'E'\n$(b) `c`\nE", 'a <<"E"\n$(b)\nE', "a <<\\E\n`b`\nE", "a <<-E\n\tb\n\tE\nc",
        "a <<E\nb $c $(d)\nE", "a <<E\nb \\`c\\` \\$d\nE", "a <<E | b\nc\nE", "a <<'E F'\nb\nE F\nc", "a <<E\nE",
    ],
)  # fmt: skip
def test_one_that_shell_and_grammar_read_alike_is_no_trouble(text: str) -> None:
    assert not read_script(text, {}).troubles


@pytest.mark.parametrize(
    "text",
    [
        "a <<E\n`b`\nE", "a <<E\n$(b\nE\n)\nE", 'a <<E"F"\nb\nEF\n', "a <<$b\nc\n$b", "a <<E", "a <<E\nb",
        "a <<A <<B\nc\nA\nd\nB", "a <<-E\n\t$(b)\n\tE", "a <<E && b <<F\nE\nF\nc",
    ],
)  # fmt: skip
def test_one_that_a_shell_may_read_otherwise_is(text: str) -> None:
    assert read_script(text, {}).troubles


@pytest.mark.parametrize(
    "text", ["sh <<E\nrm x\nE", "bash <<'E'\nrm x\nE", "sh <<< 'rm x'", "cat <<E\nrm x\nE", "ls && ls <<-E\nrm x\nE", "ls | { sh; } <<E\nrm x\nE", "f() { sh <<E\nrm x\nE\n}"]
)  # fmt: skip
def test_what_stands_on_standard_input_is_kept(text: str) -> None:
    assert ["rm x" in given for given in read_script(text, {}).given] == [True]
