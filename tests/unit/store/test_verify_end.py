"""The end of a record is verified like the whole: by the hash it follows."""

from pathlib import Path

import pytest

from crabhook.store.change import happened
from crabhook.store.opening import open_history, open_writer
from crabhook.store.record import Retention
from crabhook.store.verify import Verified, verify
from tests.unit.store.making import NOON, entry, laid_open


def recorded(folder: Path, many: int) -> Path:
    store = open_writer(folder)
    store.write([happened(entry(body={"n": n})) for n in range(many)])
    store.close()
    return folder


def verified(folder: Path, last: int) -> Verified:
    with open_history(folder) as history:
        head = history.kept_head()
        return verify(history, [head] if head else [], thorough=False, last=last)


@pytest.mark.parametrize(("last", "read"), [(1, 1), (5, 5), (10, 10), (11, 12), (12, 12), (99, 12)])
def test_so_many_are_verified_and_no_more_than_there_are(
    tmp_path: Path, last: int, read: int
) -> None:
    found = verified(recorded(tmp_path / "state", 12), last)
    assert (found.sound, found.records, found.head.seq) == (True, read, 12)


@pytest.mark.parametrize(("seq", "last", "sound"), [(12, 5, False), (8, 5, False), (6, 5, True)])
def test_a_change_is_found_if_it_is_in_the_tail(
    tmp_path: Path, seq: int, last: int, sound: bool
) -> None:
    folder = recorded(tmp_path / "state", 12)
    edit(folder, f"UPDATE record SET tool = 'Edit' WHERE seq = {seq}")
    assert verified(folder, last).sound is sound


@pytest.mark.parametrize("seq", [8, 9])
def test_a_hole_is_found_in_the_tail_and_at_its_beginning(tmp_path: Path, seq: int) -> None:
    folder = recorded(tmp_path / "state", 12)
    edit(folder, f"DELETE FROM record WHERE seq = {seq}")
    assert not verified(folder, 4).sound


def test_an_end_that_was_cut_off_is_found(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "state", 12)
    edit(folder, "DELETE FROM record WHERE seq > 10")
    assert "cut off" in verified(folder, 4).faults[0].what


def test_a_record_that_retention_has_shortened_is_verified(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    store = open_writer(folder, Retention(days=1))
    store.write([happened(entry(at=NOON + n * 86400)) for n in range(12)])
    assert store.prune(NOON + 8 * 86400)
    store.close()
    for last in (2, 5, 99):
        assert verified(folder, last).sound


def test_an_empty_record_has_an_empty_tail(tmp_path: Path) -> None:
    found = verified(recorded(tmp_path / "state", 0), 5)
    assert (found.sound, found.records) == (True, 0)


def edit(folder: Path, statement: str) -> None:
    with laid_open(folder) as connection:
        connection.execute(statement)
