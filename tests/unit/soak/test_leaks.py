"""What a server keeps for good is found, whatever it is."""

from __future__ import annotations

import pytest

from tests.soak.leaks import BYTES_A_JOB, OBJECTS_A_JOB, Measured, leaks

pytestmark = pytest.mark.thorough

HELD = {
    "descriptors": 22,
    "resident": 60_000_000,
    "objects": 50_000,
    "threads": 4,
    "tasks": 10,
    "waiting": 0,
    "stayed open": 0,
    "pending": 0,
    "receipts": 0,
}
JOBS = 200


def loads(**last: int) -> list[Measured]:
    return [Measured(JOBS, HELD), Measured(JOBS, HELD), Measured(JOBS, HELD | last)]


def test_a_server_that_is_where_it_was_leaks_nothing() -> None:
    assert list(leaks(loads())) == []


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("descriptors", 22 + 20),
        ("tasks", 10 + 2),
        ("threads", 4 + 40),
        ("waiting", 1),
        ("stayed open", 1),
        ("pending", 1),
        ("receipts", 1),
    ],
)
def test_whatever_grew_is_named(name: str, held: int) -> None:
    (fault,) = leaks(loads(**{name: held}))
    assert name in fault


LEFT = [("resident", "bytes", BYTES_A_JOB), ("objects", "objects", OBJECTS_A_JOB)]


@pytest.mark.parametrize(("name", "words", "most"), LEFT)
def test_what_each_job_of_every_load_leaves_is_named(name: str, words: str, most: int) -> None:
    steps = [Measured(JOBS, HELD | {name: HELD[name] + n * JOBS * (most + 1)}) for n in range(3)]
    (fault,) = leaks(steps)
    assert words in fault


@pytest.mark.parametrize(("name", "words", "most"), LEFT)
def test_what_a_load_leaves_and_the_next_does_not_is_no_leak(
    name: str, words: str, most: int
) -> None:
    assert list(leaks(loads(**{name: HELD[name] + 2 * JOBS * most}))) == [], words


def test_what_is_held_after_the_first_load_is_named_too() -> None:
    first, *others = loads()
    assert list(leaks([Measured(JOBS, {**first.held, "pending": 3}), *others]))
