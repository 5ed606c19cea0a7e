"""Files that commands are told of."""

import pytest

from crabhook.policy.calls.mentioned_files import MAX_NAMES, named_files
from crabhook.policy.calls.parts import Use
from crabhook.policy.paths import expand_home
from crabhook.policy.shell.read import read_script
from tests.support.rows import every_row
from tests.unit.policy.law import context


def named(text: str, *folders: str) -> set[str]:
    commands = read_script(text, {"HOME": ("/home/dev",)}).commands
    parts = named_files(commands, folders or ("/w",), context())
    return {place.named for part in parts for place in part.places}


@every_row(
    "text, path",
    [
        ("a b", "/w/b"), ("a /b/../c", "/c"), ("a ~/b", "/home/dev/b"), ("a --x=b/c", "/w/b/c"), ("a -f~/b", "/home/dev/b"), ("a @b", "/w/b"),
        ("a h:~/b", "/home/dev/b"), ("a 'open(\"b/c\")'", "/w/b/c"), ("a $HOME/b", "/home/dev/b"), ("./a b", "/w/a"), ("x=b; a $x", "/w/b"), ("a b,c", "/w/c"),
    ],
)  # fmt: skip
def test_a_file_is_found_wherever_a_word_may_name_it(text: str, path: str) -> None:
    assert path in named(text)


def test_a_file_is_looked_for_from_every_folder_the_line_may_be_in() -> None:
    assert named("a b", "/w", "/v") >= {"/w/b", "/v/b"}


def test_a_reader_reads_and_nobody_knows_what_another_does() -> None:
    uses = [
        {part.use for part in named_files(read_script(text, {}).commands, ("/w",), context())}
        for text in ("cat b", "tool b")
    ]
    assert uses == [{Use.READ}, {Use.NAMED}]


def test_very_many_names_are_looked_at_as_far_as_the_bound() -> None:
    commands = read_script("a " + " ".join(f"b{n}" for n in range(1000)), {}).commands
    assert len(named_files(commands, ("/w",), context())) == MAX_NAMES


@pytest.mark.parametrize(
    ("path", "whole"), [("~", "/h"), ("~/a", "/h/a"), ("~a", "~a"), ("a~", "a~")]
)
def test_a_tilde_is_the_home(path: str, whole: str) -> None:
    assert expand_home(path, "/h") == whole
