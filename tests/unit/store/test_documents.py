"""Documents: texts that belong to the store, each version of which is on record."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from crabhook.store.change import happened, written
from crabhook.store.opening import Place, open_history, open_writer
from crabhook.store.record import DAY, Document, Retention, iso
from crabhook.store.writer import Writer
from tests.support.cluster import Cluster
from tests.unit.store.making import NOON, entry, records, verified

ANN = {"kind": "operator", "id": "o1", "name": "ann", "desk": "laptop"}


def put(writer: Writer, text: str, before: Document | None = None, at: float = NOON) -> Document:
    """Write the next version of the rules."""
    version = before.version + 1 if before else 1
    document = Document("rules", version, text, iso(at), "ann at laptop")
    writer.write([written(document, document.entry(before, at, ANN))])
    return document


def test_a_document_is_there_again_as_it_was_written(place: Place) -> None:
    writer = open_writer(place)
    first = put(writer, "a = 1 # é \0 \uf8ff\n")
    second = put(writer, "a = 2 # é \0 \uf8ff\n", first)
    writer.close()
    with open_history(place) as history:
        assert history.documents() == {"rules": second}
    again = open_writer(place)
    assert again.journal.documents() == {"rules": second}
    assert again.journal.recover(NOON).documents == (second,)
    again.close()
    assert verified(place).sound


def test_the_record_tells_who_wrote_a_document_and_never_what_is_in_it(
    place: Place, store: Writer
) -> None:
    first = put(store, "token = 'hunter2'\n")
    second = put(store, "token = 'hunter3'\n", first)
    begun, changed = records(place)
    assert (begun.kind, changed.kind) == ("document", "document")
    assert "hunter" not in begun.body + changed.body
    assert begun.data()["from"] == ""
    told = changed.data()
    assert (told["from"], told["to"]) == (first.hash, second.hash)
    assert told["what"] == "the document rules was changed by ann at laptop: version 2"
    assert told["actor"] == ANN
    assert "hunter" not in repr(second)


def changed_by_hand(place: Place, request: pytest.FixtureRequest, statement: str) -> None:
    if isinstance(place, Path):
        with sqlite3.connect(place / "record.db") as connection:
            connection.execute(statement)
        connection.close()
        return
    cluster = request.getfixturevalue("cluster")
    assert isinstance(cluster, Cluster)
    cluster.sql(statement)


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE document SET text = 'a = 9'", "is not what was written"),
        ("UPDATE document SET version = 7", "is not what was written"),
        ("DELETE FROM document", "is on record, and is gone"),
        ("UPDATE document SET name = 'team'", "no record tells who wrote it"),
    ],
)
def test_a_document_that_was_changed_by_hand_is_found(
    place: Place, request: pytest.FixtureRequest, statement: str, what: str
) -> None:
    writer = open_writer(place)
    put(writer, "a = 1")
    writer.close()
    changed_by_hand(place, request, statement)
    assert any(what in fault.what for fault in verified(place).faults)


def test_that_one_was_changed_by_hand_is_told_for_good(
    place: Place, request: pytest.FixtureRequest
) -> None:
    writer = open_writer(place)
    first = put(writer, "a = 1")
    writer.close()
    changed_by_hand(place, request, "UPDATE document SET text = 'a = 9'")
    writer = open_writer(place)
    put(writer, "a = 2", replace(first, text="a = 9"))
    writer.close()
    found = verified(place)
    assert found.sound
    assert any("was changed by hand before this" in note.what for note in found.notes)


def test_retention_takes_no_document_out_of_the_record(
    place: Place, request: pytest.FixtureRequest
) -> None:
    writer = open_writer(place, Retention(days=3))
    document = put(writer, "a = 1", at=NOON - 9 * DAY)
    writer.write([happened(*(entry(at=NOON) for _ in range(3)))])
    assert writer.prune(NOON) == 1
    assert writer.journal.documents() == {"rules": replace(document, at=iso(NOON))}
    writer.close()
    assert verified(place).sound
    changed_by_hand(place, request, "UPDATE document SET text = 'a = 9'")
    assert not verified(place).sound
