"""Every event counts one, for its own session, whoever counts at the same time."""

import fcntl
import os
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.supervisor.contract import Deadline, OutOfTimeError, ReviewerError
from crabhook.supervisor.running import count_event, counting_file

SOON = 60.0


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    return tmp_path / "state" / "supervisor"


def test_every_session_counts_from_one(counts: Path) -> None:
    def count(session: str) -> int:
        return count_event(counts, session, Deadline(SOON))

    assert [count("a"), count("a"), count("b"), count("a"), count("b")] == [1, 2, 1, 3, 2]


def test_the_count_outlives_the_process_that_made_it(counts: Path) -> None:
    count_event(counts, "a", Deadline(SOON))
    assert count_event(counts, "a", Deadline(SOON)) == 2


def test_threads_never_share_a_number(counts: Path) -> None:
    seen: list[int] = []

    def count() -> None:
        for _ in range(20):
            seen.append(count_event(counts, "a", Deadline(SOON)))  # noqa: PERF401 - as it goes on

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(1, 81))


@given(st.text(max_size=30))
def test_no_session_names_a_file_outside(session: str) -> None:
    file = counting_file(Path("/f"), session)
    assert file.parent == Path("/f")
    assert len(file.name) == 64 + len(".count")


def test_sessions_not_heard_of_longest_are_forgotten(tmp_path: Path) -> None:
    for at, session in enumerate("abc"):
        count_event(tmp_path, session, Deadline(SOON), kept=3)
        os.utime(counting_file(tmp_path, session), (at, at))
    count_event(tmp_path, "a", Deadline(SOON), kept=3)  # is heard of again
    count_event(tmp_path, "d", Deadline(SOON), kept=3)
    there = [counting_file(tmp_path, session).exists() for session in "abcd"]
    assert there == [True, False, True, True]
    assert len(list(tmp_path.glob("*.count"))) == 3


def test_who_holds_the_lock_is_waited_for_until_the_deadline(counts: Path, tmp_path: Path) -> None:
    count_event(counts, "a", Deadline(SOON))
    with (tmp_path / "state" / "supervisor" / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(OutOfTimeError):
            count_event(counts, "a", Deadline(0.1))
    assert count_event(counts, "a", Deadline(SOON)) == 2


def test_a_link_in_the_place_of_a_count_is_not_followed(counts: Path, tmp_path: Path) -> None:
    count_event(counts, "other", Deadline(SOON))
    target = tmp_path / "target"
    counting_file(counts, "a").symlink_to(target)
    with pytest.raises(ReviewerError, match="cannot be counted"):
        count_event(counts, "a", Deadline(SOON))
    assert not target.exists()


def test_what_cannot_be_counted_is_said_and_not_reviewed_without_end(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ReviewerError, match="Make that folder writable"):
        count_event(tmp_path / "file" / "supervisor", "a", Deadline(SOON))


def test_a_deadline_says_what_is_left_and_then_that_nothing_is() -> None:
    times = iter([10.0, 11.5, 12.0])
    deadline = Deadline(2.0, lambda: next(times))
    assert deadline.left() == 0.5
    with pytest.raises(OutOfTimeError, match=r"^hook execution timeout$"):
        deadline.left()
