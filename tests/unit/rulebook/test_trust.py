"""How much of a project's file counts."""

import pytest

from crabhook.policy.rule import RuleFileError, Trust
from crabhook.rulebook.files import (
    Trusted,
    digest,
    project_rules,
    read_trusted,
    toml_text,
    trust_in,
    write_trusted,
)

CONTENT = b'[[rule]]\nverdict = "deny"\nmatch = "Bash"\n'
HERE = "/work/app"


def test_nothing_counts_before_it_is_trusted_and_nothing_is_read() -> None:
    rules = project_rules(HERE, b"not TOML at all", [])
    assert (rules.trust, rules.rules, rules.counting) == (Trust.NONE, (), ())


@pytest.mark.parametrize("level", [Trust.RESTRICT, Trust.FULL])
def test_the_exact_bytes_count_as_far_as_the_user_said(level: Trust) -> None:
    rules = project_rules(HERE, CONTENT, [Trusted(HERE, digest(CONTENT), level)])
    assert (rules.trust, len(rules.counting)) == (level, 1)


@pytest.mark.parametrize(
    "content", [CONTENT + b"\n", CONTENT[:-1], CONTENT.replace(b"deny", b"Deny"), b""]
)
def test_one_byte_more_or_less_is_not_trusted(content: bytes) -> None:
    assert trust_in(HERE, content, [Trusted(HERE, digest(CONTENT))]) is Trust.NONE


def test_the_same_bytes_in_another_folder_are_not_trusted() -> None:
    trusted = [Trusted(HERE, digest(CONTENT), Trust.FULL)]
    assert trust_in("/work/other", CONTENT, trusted) is Trust.NONE
    assert trust_in("/work/app/", CONTENT, trusted) is Trust.FULL


def test_a_trusted_file_that_is_wrong_says_so() -> None:
    for content in (b"\xff", b"x"):
        with pytest.raises(RuleFileError, match=r"rules\.toml, line 1"):
            project_rules(HERE, content, [Trusted(HERE, digest(content))])


def test_the_list_is_read_as_it_was_written() -> None:
    trusted = (Trusted('/a "b"\\c\n', "00", Trust.FULL), Trusted("/é", "11"))
    assert read_trusted(write_trusted(trusted), "t") == trusted
    assert read_trusted("", "t") == ()


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "trusted = 7",
        "[[trusted]]\nfolder = 'a'",
        "trusted = [1]",
        "[[trusted]]\nfolder='a'\nsha256='b'\nlevel='c'",
    ],
)
def test_a_list_that_is_wrong_says_so(text: str) -> None:
    with pytest.raises(RuleFileError):
        read_trusted(text, "t")


def test_any_text_is_written_as_toml() -> None:
    assert toml_text('a"\\\n\x1b\u202e') == '"a\\"\\\\\\U0000000a\\U0000001b\\U0000202e"'
