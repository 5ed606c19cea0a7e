"""Old records go, and what is left can still be verified."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from crabhook.store.change import happened
from crabhook.store.opening import Place, open_writer
from crabhook.store.record import DAY, Entry, Head, RecordKind, Retention, iso
from crabhook.store.redact import Redactor
from crabhook.store.writer import Writer, chained, head_line, read_head
from tests.unit.store.making import NOON, entry, laid_open, records, verified


def aged(place: Place, retention: Retention, *, days: int = 10, each: int = 5) -> Writer:
    """A store with some records of every day up to noon."""
    store = open_writer(place, retention)
    for day in range(days):
        at = NOON - (days - 1 - day) * DAY
        store.write([happened(*(entry(at=at, body={"day": day}) for _ in range(each)))])
    return store


def test_records_past_their_age_go_and_the_rest_is_verifiable(place: Place) -> None:
    store = aged(place, Retention(days=3.5))
    assert store.prune(NOON) == 30
    store.close()
    found = verified(place)
    assert found.sound, found.faults
    assert (found.first, found.records, found.head.seq) == (31, 21, 51)
    checkpoint = records(place)[-1]
    assert checkpoint.kind == "checkpoint"
    assert '"begins":31' in checkpoint.body


def test_nothing_goes_before_its_time(place: Place, store: Writer) -> None:
    store.write([happened(entry(at=NOON))])
    assert store.prune(NOON + 1) == 0
    assert verified(place).head.seq == 1


def test_the_last_record_never_goes(place: Place) -> None:
    store = aged(place, Retention(days=1))
    while store.prune(NOON + 1000 * DAY, at_most=7):
        assert verified(place).sound
        if len(records(place)) <= 2:
            break
    store.close()
    assert records(place)
    assert verified(place).sound


def test_removing_in_steps_is_verifiable_after_each(place: Place) -> None:
    store = aged(place, Retention(days=2.5))
    removed = []
    while count := store.prune(NOON, at_most=8):
        removed.append(count)
        assert verified(place).sound
    store.close()
    assert removed == [8, 8, 8, 8, 3]
    reopened = open_writer(place)
    reopened.write([happened(entry())])
    reopened.close()
    assert verified(place).sound


def test_a_record_that_grows_too_large_loses_its_beginning(folder: Path) -> None:
    limit = 400_000
    store = open_writer(folder, Retention(days=10_000, size=limit))
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
    store = open_writer(folder, Retention(days=1))
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
    schema, *faults = found.faults
    assert "lacks what crabhook makes: trigger record_goes_by_retention_alone" in schema.what
    assert "no checkpoint tells of it" in faults[0].what


def forged(folder: Path, begins: int, **said: object) -> None:
    """Cut the record's beginning off as a forger would: a checkpoint of their own, a new chain."""
    kept = [record for record in records(folder) if record.seq >= begins]
    before = next(record for record in records(folder) if record.seq == begins - 1)
    body = {"begins": begins, "hash": before.hash.hex(), "removed": begins - 1} | said
    entries = [Entry(RecordKind.CHECKPOINT, NOON + 60, body=body)]
    with laid_open(folder) as connection:
        connection.execute("DELETE FROM record WHERE seq < ?", (begins,))
        connection.execute("UPDATE counter SET value = ? WHERE name = 'begins'", (begins,))
        head = Head(kept[-1].seq, kept[-1].hash)
        for record in chained([(one, ()) for one in entries], head, Redactor(b"k" * 32)):
            connection.execute(f"INSERT INTO record VALUES ({', '.join('?' * 15)})", record)


def span(until: float, why: str) -> dict[str, object]:
    return {"from": iso(NOON - 10 * DAY), "to": iso(until), "latest": iso(until), "why": why}


def test_a_head_whose_record_retention_has_removed_is_sound_if_the_span_can_be_true(
    place: Place,
) -> None:
    store = aged(place, Retention(days=3.5))
    early = head_of(place, 12)
    store.prune(NOON)
    store.close()
    found = verified(place, early)
    assert found.sound, found.faults
    assert any("retention has removed" in note.what for note in found.notes)
    assert not verified(place, replace(early, at=iso(NOON - DAY))).sound


@pytest.mark.parametrize("why", ["older than 3.5 days", "more than 1000 bytes"])
def test_a_beginning_that_was_cut_off_is_found_by_a_head_that_is_too_young_to_have_gone(
    folder: Path, why: str
) -> None:
    aged(folder, Retention(days=1000)).close()
    sent_away = head_of(folder, 40)  # of two days before noon
    forged(folder, 46, **span(NOON - 4 * DAY, why))
    found = verified(folder, sent_away)
    assert [fault.seq for fault in found.faults] == [40]
    assert "none later than" in found.faults[0].what


@pytest.mark.parametrize(
    "said",
    [
        span(NOON - DAY, "older than 3.5 days"),
        span(NOON - 9 * DAY, "older than 3.5 days") | {"removed": 46},
        span(NOON - 9 * DAY, "older than 3.5 days") | {"removed": 0},
        {"why": "older than 3.5 days"},
    ],
)
def test_a_checkpoint_that_cannot_be_true_is_a_fault_without_any_head(
    folder: Path, said: dict[str, object]
) -> None:
    aged(folder, Retention(days=1000)).close()
    forged(folder, 46, **said)
    assert any("cannot be true" in fault.what for fault in verified(folder).faults)


def test_a_head_of_a_record_that_no_checkpoint_tells_of_is_a_fault(folder: Path) -> None:
    aged(folder, Retention(days=1000)).close()
    early = head_of(folder, 12)
    with sqlite3.connect(folder / "record.db") as connection:
        connection.execute("DROP TRIGGER record_goes_by_retention_alone")
        connection.execute("DELETE FROM record WHERE seq < 20")
    connection.close()
    assert {12, 20} <= {fault.seq for fault in verified(folder, early).faults}


def head_of(place: Place, seq: int) -> Head:
    """The head as `crabhook log head` printed it when this was the last record."""
    record = records(place)[seq - 1]
    return read_head(head_line(Head(record.seq, record.hash, record.at)))


def test_a_clock_that_was_set_back_makes_no_checkpoint_untrue(place: Place) -> None:
    store = open_writer(place, Retention(days=3.5))
    for at in (NOON - 5 * DAY, NOON - 9 * DAY, NOON - 6 * DAY, NOON):
        store.write([happened(entry(at=at))])
    heads = [head_of(place, seq) for seq in (1, 2, 3)]
    assert store.prune(NOON) == 3
    store.close()
    assert verified(place, *heads).sound
