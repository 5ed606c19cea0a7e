"""Words drawn by chance, told from words made for people."""

import random
from string import ascii_letters, ascii_lowercase, digits

import pytest

from crabhook.secrets.find import SHORTEST, by_chance


def never(_: str) -> bool:
    """Find no secret in text that is only wrapped."""
    return False


@pytest.mark.parametrize("letters", [ascii_letters + digits, ascii_lowercase + digits])
def test_of_chance_words_hardly_one_passes(letters: str) -> None:
    chance = random.Random(5)
    words = ["".join(chance.choices(letters, k=24)) for _ in range(1000)]
    assert sum(by_chance(word, never) for word in words) >= 980


@pytest.mark.parametrize(
    "word",
    [
        *("AbstractSingletonProxyFactoryBean", "test_a_late_answer_changes_nothing"),
        *("a" * 64, "0123456789abcdef" * 4, "/usr/lib/python3.11/site-packages/cryptography"),
        *("cpython-311-x86_64-linux-gnu", "k3jT9x2m"),
    ],
)
def test_words_for_people_and_digests_stay(word: str) -> None:
    assert not by_chance(word, never)


def test_a_word_just_long_enough_is_judged_and_a_shorter_one_is_not() -> None:
    word = "k3jT9x2mQ4p8ZqLw7VbN3mJcR5"
    assert by_chance(word[:SHORTEST], never)
    assert not by_chance(word[: SHORTEST - 1], never)


def test_wrapped_text_is_judged_by_what_it_says() -> None:
    word = "VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZy4="
    assert not by_chance(word, never)
    assert by_chance(word, lambda text: "fox" in text)
