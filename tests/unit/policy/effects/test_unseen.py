"""Letters that nobody sees are a danger, each named; a picture's and a script's joiners are none."""

from __future__ import annotations

from typing import Self

import pytest

from crabhook.model.card import Level
from crabhook.policy.effects.unseen import unseen
from tests.support.sitting import Sitting

LINE = "rm -rf bu\u200bild/\u202ecod.txt  # tidy"
HIDDEN = [
    "\u200b",
    "\u202e",
    "\u2066",
    "\u00ad",
    "\ufeff",
    "\x1b",
    "\u3164",
    "\U000e0041",
    "\u2060",
]


@pytest.mark.parametrize("letter", HIDDEN)
def test_a_command_with_a_letter_that_nobody_sees_is_a_danger_that_names_it(letter: str) -> None:
    for line in (f"ls bu{letter}ild", f"echo ok {letter}# x", f"cat 'a{letter}b'"):
        sitting = Sitting()
        sitting.ask(tool_input={"command": line})
        risk = sitting.card.risk
        assert risk.level is Level.DANGER
        assert any(f"U+{ord(letter):04X}" in effect.words for effect in risk.effects)


def test_each_of_several_is_named_and_a_comment_is_not_deleted() -> None:
    sitting = Sitting()
    sitting.ask(tool_input={"command": LINE})
    words = [effect.words for effect in sitting.card.risk.effects]
    told = "has letters that NOBODY SEES: U+200B zero width space, U+202E right-to-left override"
    assert told in words
    assert not any("#" in one or "tidy" in one for one in words)


def test_such_a_command_wants_a_second_yes_and_its_letters_are_red() -> None:
    sitting = Sitting(columns=120, rows=40)
    sitting.ask(tool_input={"command": LINE})
    sitting.ask()  # a queue of two has rows
    sitting.wait()
    drawn = sitting.draw().lines
    red = [text for line in drawn for style, text in line if "danger" in style.split()]
    assert red.count("⟨U+200B⟩") == 2  # in the row, and in the text
    assert red.count("⟨U+202E⟩") == 2
    sitting.press("a")
    assert "NOBODY SEES: U+200B zero width space" in " ".join(sitting.text().split())
    sitting.wait(9)
    assert not sitting.decided()


@pytest.mark.parametrize(
    "text",
    [
        "echo '✔\ufe0f done'",
        "echo 👩\u200d💻",
        "echo \u0645\u06cc\u200c\u062e",
        "echo ü é 日本",
        "a\n\tb",
    ],
)
def test_what_makes_a_picture_or_a_word_is_seen(text: str) -> None:
    assert unseen(text) == ()


def test_a_joiner_between_latin_letters_and_a_lone_selector_are_unseen() -> None:
    assert unseen("bu\u200dild") == ("U+200D zero width joiner",)
    assert unseen("rm\ufe0f x") == ("U+FE0F variation selector-16",)


def test_a_path_that_is_written_is_looked_at_too() -> None:
    sitting = Sitting()
    sitting.ask("Write", {"file_path": "/home/ann/api-server/a\u202etxt.sh", "content": "x"})
    assert sitting.card.risk.level is Level.DANGER


class CountedText(str):
    """A text that counts the letters that are copied out of it."""

    __slots__ = ("copied",)

    def __new__(cls, text: str) -> Self:
        counted = super().__new__(cls, text)
        counted.copied = 0
        return counted

    def __getitem__(self, place: object) -> str:
        part = super().__getitem__(place)  # type: ignore[index]
        self.copied += len(part)
        return part


@pytest.mark.parametrize("pair", ["\u200d\u200c", "a\u200d", "\U0001f469\ufe0f", "\u0645\u200c"])
def test_a_long_line_of_joiners_is_read_in_work_that_grows_as_the_line(pair: str) -> None:
    line = CountedText(pair * 20_000)
    unseen(line)
    assert line.copied <= 4 * len(line)
