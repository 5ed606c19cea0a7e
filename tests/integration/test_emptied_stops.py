"""A stopped session that was freed by hand while no server ran is told by the next server."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp

import pytest

from crabhook.store import entries
from crabhook.store.change import Halt, halted
from crabhook.store.opening import open_writer
from tests.support.service import Service
from tests.unit.store.making import NOON

pytestmark = pytest.mark.process


def test_a_session_that_was_freed_by_hand_is_told_at_the_next_start_and_for_ever() -> None:
    home = Path(mkdtemp(prefix="crabhook-service-", dir="/tmp"))
    state = home / ".local" / "state" / "crabhook"
    store = open_writer(state)
    stopped = (Halt("s1", "stop"), Halt("s2", "stop"))
    store.write([halted(stopped, entries.stops((), 0, NOON))])
    store.close()
    with Service("--headless", folder=home):
        pass
    with closing(sqlite3.connect(state / "record.db")) as connection, connection:
        connection.execute("DELETE FROM halt WHERE session = 's1'")
    with Service("--headless", folder=home) as service:
        assert any("a stopped session may go on" in line for line in service.said), service.said
        assert service.end() == 0
        assert "a stopped session may go on" in service.audit("--all-kinds")
