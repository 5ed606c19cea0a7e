"""Every event counts one, for its own session, whoever counts at the same time."""

import fcntl
import os
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.supervisor.contract import Deadline, OutOfTimeError, ReviewerError
from crabhook.supervisor.running import Iterations

SOON = 20.0


@pytest.fixture
def counts(tmp_path: Path) -> Iterations:
    return Iterations(tmp_path / "state" / "supervisor")


def test_every_session_counts_from_one(counts: Iterations) -> None:
    def count(session: str) -> int:
        return counts.count(session, Deadline(SOON))

    assert [count("a"), count("a"), count("b"), count("a"), count("b")] == [1, 2, 1, 3, 2]


def test_the_count_outlives_the_process_that_made_it(counts: Iterations, tmp_path: Path) -> None:
    counts.count("a", Deadline(SOON))
    again = Iterations(tmp_path / "state" / "supervisor")
    assert again.count("a", Deadline(SOON)) == 2


def test_threads_never_share_a_number(counts: Iterations) -> None:
    seen: list[int] = []

    def count() -> None:
        for _ in range(20):
            seen.append(counts.count("a", Deadline(SOON)))  # noqa: PERF401 - as it goes on

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(1, 81))


@given(st.text(max_size=30))
def test_no_session_names_a_file_outside(session: str) -> None:
    file = Iterations(Path("/f")).file_of(session)
    assert file.parent == Path("/f")
    assert len(file.name) == 64 + len(".count")


def test_sessions_not_heard_of_longest_are_forgotten(tmp_path: Path) -> None:
    counts = Iterations(tmp_path, kept=3)
    for at, session in enumerate("abc"):
        counts.count(session, Deadline(SOON))
        os.utime(counts.file_of(session), (at, at))
    counts.count("a", Deadline(SOON))  # is heard of again
    counts.count("d", Deadline(SOON))
    assert [counts.file_of(session).exists() for session in "abcd"] == [True, False, True, True]
    assert len(list(tmp_path.glob("*.count"))) == 3


def test_who_holds_the_lock_is_waited_for_until_the_deadline(
    counts: Iterations, tmp_path: Path
) -> None:
    counts.count("a", Deadline(SOON))
    with (tmp_path / "state" / "supervisor" / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(OutOfTimeError):
            counts.count("a", Deadline(0.1))
    assert counts.count("a", Deadline(SOON)) == 2


def test_a_link_in_the_place_of_a_count_is_not_followed(counts: Iterations, tmp_path: Path) -> None:
    counts.count("other", Deadline(SOON))
    target = tmp_path / "target"
    counts.file_of("a").symlink_to(target)
    with pytest.raises(ReviewerError, match="cannot be counted"):
        counts.count("a", Deadline(SOON))
    assert not target.exists()


def test_what_cannot_be_counted_is_said_and_not_reviewed_without_end(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ReviewerError, match="make that folder writable"):
        Iterations(tmp_path / "file" / "supervisor").count("a", Deadline(SOON))


def test_a_deadline_says_what_is_left_and_then_that_nothing_is() -> None:
    times = iter([10.0, 11.5, 12.0])
    deadline = Deadline(2.0, lambda: next(times))
    assert deadline.left() == 0.5
    with pytest.raises(OutOfTimeError, match=r"^hook execution timeout$"):
        deadline.left()
