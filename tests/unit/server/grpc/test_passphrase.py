"""The passphrase's hash, and what guessing costs."""

import unicodedata

import pytest

from crabhook.server.grpc.presence import (
    LONGEST,
    PAUSE,
    SHORTEST,
    TRIES,
    Lockout,
    Passphrase,
    PassphraseError,
)

RIGHT = "correct horse"


def test_a_passphrase_is_known_again_and_no_other_is() -> None:
    kept = Passphrase.of(RIGHT)
    assert kept.matches(RIGHT)
    for other in ("", "Correct horse", RIGHT + " ", RIGHT[:-1]):
        assert not kept.matches(other)


def test_what_is_kept_is_salted_and_says_nothing_of_it() -> None:
    one, other = Passphrase.of(RIGHT), Passphrase.of(RIGHT)
    assert one.salt != other.salt
    assert one.hash != other.hash
    assert RIGHT not in f"{one}{one!r}"
    assert one.hash.hex() not in repr(one)


def test_what_was_written_is_read_again() -> None:
    kept = Passphrase.of(RIGHT)
    assert Passphrase.parse(f"{kept}\n") == kept


def test_letters_are_the_same_however_a_keyboard_composes_them() -> None:
    composed = unicodedata.normalize("NFC", "café au lait")
    apart = unicodedata.normalize("NFD", "café au lait")
    assert composed != apart
    assert Passphrase.of(composed).matches(apart)


@pytest.mark.parametrize("poor", ["", "x" * (SHORTEST - 1), "x" * (LONGEST + 1)])
def test_a_passphrase_too_short_or_too_long_is_refused(poor: str) -> None:
    with pytest.raises(PassphraseError, match=f"{SHORTEST} to {LONGEST}"):
        Passphrase.of(poor)


def test_the_shortest_and_the_longest_are_taken() -> None:
    for text in ("x" * SHORTEST, "ü" * LONGEST):
        assert Passphrase.of(text).matches(text)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "not what"),
        ("secret", "not what"),
        ("scrypt-16384-8-1 zz 00", "not what"),
        ("scrypt-16384-8-1 00 00 00", "not what"),
        ("scrypt-16384-8-1 00 00", "another version"),
        (f"scrypt-1073741824-8-1 {'00' * 16} {'00' * 32}", "another version"),
        (f"plain {'00' * 16} {'00' * 32}", "another version"),
        (f"scrypt-16384-8-1 {'00' * 16} {'00' * 31}", "another version"),
    ],
)
def test_a_line_we_did_not_write_is_refused_and_never_calculated_with(line: str, why: str) -> None:
    with pytest.raises(PassphraseError, match=why):
        Passphrase.parse(line)


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def wrong(lockout: Lockout, times: int) -> None:
    for _ in range(times):
        lockout.count(right=False)


def test_fewer_wrong_ones_than_five_cost_nothing() -> None:
    lockout = Lockout(Clock())
    assert lockout.left == 0
    wrong(lockout, TRIES - 1)
    assert lockout.left == 0


def test_after_five_wrong_ones_in_a_row_none_is_looked_at_for_a_minute() -> None:
    clock = Clock()
    clock.now = 7000.0
    lockout = Lockout(clock)
    wrong(lockout, TRIES)
    assert lockout.left == PAUSE == 60
    clock.now += 59
    assert lockout.left == 1
    clock.now += 1
    assert lockout.left == 0


def test_a_right_one_begins_the_count_anew() -> None:
    lockout = Lockout(Clock())
    wrong(lockout, TRIES - 1)
    lockout.count(right=True)
    wrong(lockout, TRIES - 1)
    assert lockout.left == 0
    wrong(lockout, 1)
    assert lockout.left == PAUSE


def test_each_further_wrong_one_costs_a_minute_more_until_a_right_one() -> None:
    clock = Clock()
    lockout = Lockout(clock)
    wrong(lockout, TRIES)
    clock.now += PAUSE
    wrong(lockout, 1)
    assert lockout.left == PAUSE
    clock.now += PAUSE
    lockout.count(right=True)
    wrong(lockout, 1)
    assert lockout.left == 0
