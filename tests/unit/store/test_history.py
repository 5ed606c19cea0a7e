"""Reading and querying the record."""

import sqlite3
from typing import Any

import pytest

from crabhook.store.change import happened
from crabhook.store.interface import Query, ReadOnlyError, StoreError
from crabhook.store.opening import Place, open_history
from crabhook.store.postgres.history import PgHistory
from crabhook.store.record import RecordKind, iso
from crabhook.store.sqlite.journal import SqliteHistory
from crabhook.store.writer import Writer
from tests.unit.store.making import NOON, decision, entry


@pytest.fixture
def filled(place: Place, store: Writer) -> Place:
    store.write(
        [
            happened(
                entry(RecordKind.ASKED, card=1),
                decision(1, at=NOON + 10),
                decision(2, "deny", at=NOON + 20, tool="mcp__a__b", session="s2"),
                decision(3, at=NOON + 30, tool="mcp__a?c", session="s22", agent_id="a1"),
                entry(RecordKind.EXPIRED, NOON + 40, tool="", session=""),
            )
        ]
    )
    return place


@pytest.mark.parametrize(
    ("query", "seqs"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"last": 2}, [4, 5]),
        ({"after": 1, "before": 4, "backwards": True}, [3, 2]),
        ({"since": iso(NOON + 10), "until": iso(NOON + 30)}, [2, 3]),
        ({"tool": "Bash"}, [1, 2]),
        ({"tool": "mcp__*"}, [3, 4]),
        ({"tool": "mcp__a?*"}, [4]),
        ({"tool": "mcp__a?b"}, []),
        ({"session": "s2"}, [3, 4]),
        ({"session": "s22"}, [4]),
        ({"verdict": "allow"}, [2, 4]),
        ({"verdict": "allow", "last": 1}, [4]),
        ({"kinds": ("asked", "expired")}, [1, 5]),
        ({"card": 1}, [1, 2]),
        ({"last": 3, "backwards": True}, [5, 4, 3]),
        ({"verdict": "allow", "backwards": True}, [4, 2]),
        ({"tool": "'; DROP TABLE record; --"}, []),
    ],
)
def test_a_query_finds_what_it_asks_for(
    filled: Place, query: dict[str, Any], seqs: list[int]
) -> None:
    with open_history(filled) as history:
        assert [record.seq for record in history.find(Query(**query))] == seqs


def test_sessions_have_their_agents(filled: Place) -> None:
    with open_history(filled) as history:
        found = [
            (one.session, one.agent_id, one.records, one.decisions) for one in history.agents()
        ]
    assert found == [("s22", "a1", 1, 1), ("s2", "", 1, 1), ("s1", "", 2, 1)]


def test_a_reader_sees_one_moment_and_keeps_nobody_from_writing(
    filled: Place, store: Writer
) -> None:
    with open_history(filled) as history:
        store.write([happened(entry())])
        store.anchor()
        assert len(list(history.find())) == 5
    with open_history(filled) as history:
        assert len(list(history.find())) == 6


def test_a_record_that_is_not_there_is_said(place: Place) -> None:
    with pytest.raises(StoreError, match="crabhook serve"):
        open_history(place)


def test_a_reader_writes_nothing(filled: Place) -> None:
    with open_history(filled) as history:
        if isinstance(history, SqliteHistory):
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                history._connection.execute("INSERT INTO counter VALUES ('x', 1)")
        else:
            assert isinstance(history, PgHistory)
            with pytest.raises(ReadOnlyError, match="may only be read"):
                history._ask(history._connection.execute("DELETE FROM crabhook.waiting"))
