"""What a standby reads of a record that another server writes: at once by a bell, or a second late."""

import re
from pathlib import Path
from time import monotonic

import pytest

from crabhook.store.change import happened, settled, waits
from crabhook.store.interface import CorruptError, UnreachableError
from crabhook.store.opening import open_writer
from crabhook.store.postgres import standby_reader
from crabhook.store.postgres.journal import lead
from crabhook.store.postgres.leader import AnotherLeadsError, Leader, skewed
from crabhook.store.postgres.standby_reader import PROBE_WITHIN, StandbyReader
from crabhook.store.record import RecordKind
from crabhook.store.writer import Writer
from tests.support.cluster import Cluster
from tests.unit.store.making import answer, decision, entry, waiting
from tests.unit.store.postgres.test_connection import between, put_back, short

__all__ = ["short"]
pytestmark = pytest.mark.process

WITHIN = 60.0  # seconds to wait for a bell that rings at once


def test_a_tail_tells_what_waits_and_how_it_ended_as_soon_as_that_is_written(
    place: str, store: Writer
) -> None:
    store.write([waits(waiting("r1"), entry())])
    reader = StandbyReader(place)
    try:
        first = reader.look(WITHIN)  # the first does not wait
        assert first is not None
        assert [one.request_id for one in first.new] == ["r1"]
        assert first.leader.epoch == 1
        assert reader.deaf == ""
        reader.look(0.2)  # the bells of before
        store.write([waits(waiting("r2", card=2), entry()), settled([answer("r1")], decision())])
        begun = monotonic()
        then = reader.look(WITHIN)
        assert monotonic() - begun < WITHIN / 2
        assert then is not None
        assert [one.request_id for one in then.new] == ["r2"]
        assert then.gone == {"r1": 1}
        assert [(one.card, one.verdict) for one in then.records] == [(1, "allow")]
        assert then.seq == first.seq + 2
        assert (first.anew, then.anew) == (True, False)
    finally:
        reader.close()


def test_what_came_and_went_between_two_looks_is_told_in_the_order_of_the_record(
    place: str, store: Writer
) -> None:
    reader = StandbyReader(place)
    try:
        reader.look(WITHIN)
        store.write([waits(waiting("r1"), entry(RecordKind.ASKED, request_id="r1", card=1))])
        store.write(
            [waits(waiting("r2", card=2), entry(RecordKind.ASKED, request_id="r2", card=2))]
        )
        store.write([settled([answer("r1")], decision()), happened(entry())])
        store.write(
            [waits(waiting("r3", card=3), entry(RecordKind.ASKED, request_id="r3", card=3))]
        )
        store.write([settled([answer("r3")], decision(3, "deny"))])
        then = reader.look(0.2)
        while then is not None and not then.records:  # a bell of before
            then = reader.look(0.2)
        assert then is not None
        told = [(one.kind, one.card) for one in then.records]
        kept = [("asked", 1), ("asked", 2), ("decided", 1), ("asked", 3), ("decided", 3)]
        assert told == kept
        assert [one.request_id for one in then.new] == ["r2"]
        assert then.gone == {"r1": 1, "r3": 3}
    finally:
        reader.close()


def test_who_is_far_behind_begins_anew_with_the_ends_of_what_was_known(
    place: str, store: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby_reader, "MOST", 2)
    store.write([waits(waiting("r1"), entry(RecordKind.ASKED, request_id="r1", card=1))])
    reader = StandbyReader(place)
    try:
        reader.look(WITHIN)
        asked = entry(RecordKind.ASKED, request_id="r2", card=2)
        come_and_gone = waits(waiting("r2", card=2), asked), settled([answer("r2")], decision(2))
        store.write([*come_and_gone, settled([answer("r1")], decision())])
        then = reader.look(0.2)
        while then is not None and then.seq < 4:  # a bell of before
            then = reader.look(0.2)
        assert then is not None
        assert then.anew
        assert [(one.kind, one.card) for one in then.records] == [("decided", 1)]
        assert (then.new, then.gone) == ([], {"r1": 1})
    finally:
        reader.close()


def test_a_connection_that_passes_no_bells_on_is_said_and_the_record_is_followed_all_the_same(
    cluster: Cluster, place: str, store: Writer, short: Path
) -> None:
    bell = re.compile(rb"A.{8}crabhook\0[^\0]*\0", re.DOTALL)
    with between(cluster, short, lambda said: bell.sub(b"", said)) as url:
        reader = StandbyReader(url)
        try:
            begun = monotonic()
            assert reader.look(0.2) is not None
            assert monotonic() - begun >= PROBE_WITHIN
            assert "passes no notifications on, as a pooler does" in reader.deaf
            store.write([waits(waiting("r1"), entry())])
            then = reader.look(0.2)
            assert then is not None
            assert [one.request_id for one in then.new] == ["r1"]
        finally:
            reader.close()


def test_a_tail_that_lost_its_connection_says_so_and_goes_on_where_it_was(
    cluster: Cluster, place: str, store: Writer
) -> None:
    reader = StandbyReader(place)
    try:
        reader.look(WITHIN)
        cluster.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' "
            "AND pid NOT IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')"
        )
        store.write([waits(waiting("r1"), entry())])
        with pytest.raises(UnreachableError):
            reader.look(0.1)
        then = reader.look(WITHIN)
        assert then is not None
        assert [one.request_id for one in then.new] == ["r1"]
    finally:
        reader.close()


def test_a_server_that_only_stood_by_leads_over_no_older_backup(
    cluster: Cluster, place: str, store: Writer, tmp_path: Path
) -> None:
    beside = tmp_path / "standby"
    store.write([happened(entry(body={"n": n})) for n in range(5)])
    reader = StandbyReader(place, beside)
    try:
        reader.look(WITHIN)
        (kept,) = beside.glob("record-*.head")
        assert (kept.stat().st_mode & 0o777, beside.stat().st_mode & 0o777) == (0o600, 0o700)
        store.close()
        put_back(cluster, 3)
        until = monotonic() + WITHIN
        while "an older backup was put back" not in reader.older and monotonic() < until:
            reader.look(0.1)
    finally:
        reader.close()
    with pytest.raises(CorruptError, match=r"ends at 3, and this machine saw .* up to 5: .*backup"):
        open_writer(place, beside=beside)


def test_who_waits_for_the_lock_has_it_as_soon_as_it_is_free_and_hears_who_leads_until_then(
    place: str,
) -> None:
    first, _ = lead(place, Leader("one", "a:1", "a:2", page="https://a"), 0.0)
    with pytest.raises(AnotherLeadsError, match=r"another crabhook \(one\)") as told:
        lead(place, Leader("two"), 0.1)
    assert told.value.leader == Leader("one", "a:1", "a:2", 1, "https://a")
    first.close()
    begun = monotonic()
    second, pace = lead(place, Leader("two"), WITHIN)
    assert monotonic() - begun < WITHIN / 2
    assert pace.epoch == 2
    second.close()


def test_a_clock_that_differs_from_the_databases_is_said(place: str) -> None:
    store = open_writer(place)
    store.close()
    pace = store.journal.pace
    assert abs(pace.skew) < 5
    assert skewed(pace) == ""
    pace.skew = 61.2
    assert "61 s ahead of the database's" in skewed(pace)
    pace.skew = -7
    assert "7 s behind the database's" in skewed(pace)
