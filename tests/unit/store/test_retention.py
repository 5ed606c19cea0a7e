"""Old records go, and what is left can still be verified."""

import sqlite3
from pathlib import Path

import pytest

from crabhook.store.change import happened
from crabhook.store.retention import DAY, Retention
from crabhook.store.sqlite import SqliteStore
from tests.unit.store.making import NOON, entry, records, verified


def aged(folder: Path, retention: Retention, *, days: int = 10, each: int = 5) -> SqliteStore:
    """A store with some records of every day up to noon."""
    store = SqliteStore(folder, retention)
    for day in range(days):
        at = NOON - (days - 1 - day) * DAY
        store.write([happened(*(entry(at=at, body={"day": day}) for _ in range(each)))])
    return store


def test_records_past_their_age_go_and_the_rest_is_verifiable(folder: Path) -> None:
    store = aged(folder, Retention(days=3.5))
    assert store.prune(NOON) == 30
    store.close()
    found = verified(folder)
    assert found.sound, found.faults
    assert (found.first, found.records, found.head.seq) == (31, 21, 51)
    checkpoint = records(folder)[-1]
    assert checkpoint.kind == "checkpoint"
    assert '"begins":31' in checkpoint.body


def test_nothing_goes_before_its_time(folder: Path, store: SqliteStore) -> None:
    store.write([happened(entry(at=NOON))])
    assert store.prune(NOON + 1) == 0
    assert verified(folder).head.seq == 1


def test_the_last_record_never_goes(folder: Path) -> None:
    store = aged(folder, Retention(days=1))
    while store.prune(NOON + 1000 * DAY, at_most=7):
        assert verified(folder).sound
        if len(records(folder)) <= 2:
            break
    store.close()
    assert records(folder)
    assert verified(folder).sound


def test_removing_in_steps_is_verifiable_after_each(folder: Path) -> None:
    store = aged(folder, Retention(days=2.5))
    removed = []
    while count := store.prune(NOON, at_most=8):
        removed.append(count)
        assert verified(folder).sound
    store.close()
    assert removed == [8, 8, 8, 8, 3]
    reopened = SqliteStore(folder)
    reopened.write([happened(entry())])
    reopened.close()
    assert verified(folder).sound


def test_a_record_that_grows_too_large_loses_its_beginning(folder: Path) -> None:
    limit = 400_000
    store = SqliteStore(folder, Retention(days=10_000, size=limit))
    for number in range(60):
        text = " ".join(f"word{number}x{place}" for place in range(1500))
        store.write([happened(entry(body={"text": text}))])
        while store.prune(NOON, at_most=10):
            pass
    store.close()
    assert (folder / "record.db").stat().st_size < 3 * limit
    found = verified(folder)
    assert found.sound, found.faults
    assert found.first > 1
    assert found.head.seq >= 60


def test_what_was_removed_is_gone_from_the_file(folder: Path) -> None:
    store = SqliteStore(folder, Retention(days=1))
    store.write([happened(entry(at=NOON - 5 * DAY, body={"text": "a word long forgotten"}))])
    store.write([happened(entry(at=NOON))])
    assert store.prune(NOON) == 1
    store.close()
    assert b"long forgotten" not in (folder / "record.db").read_bytes()


def test_removing_by_hand_is_no_retention(folder: Path) -> None:
    store = aged(folder, Retention(days=5.5))
    store.prune(NOON)
    store.close()
    with sqlite3.connect(folder / "record.db") as other:
        with pytest.raises(sqlite3.IntegrityError, match="retention alone"):
            other.execute("DELETE FROM record WHERE seq = (SELECT min(seq) FROM record)")
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            other.execute("UPDATE record SET body = '' WHERE seq = (SELECT min(seq) FROM record)")
        other.execute("DROP TRIGGER record_goes_by_retention_alone")
        other.execute("DELETE FROM record WHERE seq = (SELECT min(seq) FROM record)")
    other.close()
    found = verified(folder)
    assert "no checkpoint tells of it" in found.faults[0].what
