"""No request is lost when the disk is full, the record locked, the clock set, or a server too many."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

import pytest

from crabhook.store.record import RecordKind
from tests.support.ledger import Ledger, told
from tests.support.lives import Trial
from tests.support.smalldisk import SmallDisk

HOOKS = 100
SIZES = [16, pytest.param(HOOKS, marks=pytest.mark.thorough)]
ROOM = 16_000  # kilobytes: enough for all of it, until it is filled
NOT_RECORDED = "NOT RECORDED"
AGAIN = "the record is written again"

DENIED = " DENIED "

pytestmark = pytest.mark.timeout(300)


def gaps(ledger: Ledger) -> list[dict[str, object]]:
    return [told(one) for one in ledger.of(RecordKind.GAP)]


@pytest.mark.parametrize("hooks", SIZES)
def test_what_is_decided_on_a_full_disk_is_written_when_there_is_room(hooks: int) -> None:
    with SmallDisk(ROOM) as disk, Trial(hooks=hooks, inside=disk.inside, state=disk.place) as trial:
        trial.server.start()
        trial.fleet.launch(hooks // 2)
        trial.server.hears(" PreToolUse ", times=hooks // 4)
        operator = trial.operator()
        deciding = operator.in_the_background(60)
        time.sleep(trial.chance.uniform(0.1, 0.5))
        disk.fill()
        before = trial.server.said(DENIED)
        trial.fleet.launch(hooks // 2)
        trial.server.hears(DENIED, times=before + 1)
        operator.stop()
        deciding.join()
        trial.last_life()
        trial.server.hears(NOT_RECORDED)
        disk.free()
        trial.server.hears(AGAIN)
        ledger = trial.aftermath(disk)
        (gap,) = gaps(ledger)
        assert (gap["lost"], len(trial.fleet.ends.answered)) == (0, hooks)
        assert ledger.broken_laws(trial.fleet.ends) == []


@pytest.mark.thorough
@pytest.mark.parametrize("hooks", [30, HOOKS])
def test_a_server_that_begins_on_a_full_disk_has_the_cards_that_waited(hooks: int) -> None:
    with SmallDisk(ROOM) as disk, Trial(hooks=hooks, inside=disk.inside, state=disk.place) as trial:
        trial.server.start()
        trial.fleet.launch(hooks)
        trial.server.hears(" PreToolUse ", times=hooks)
        disk.fill()
        trial.server.kill()
        trial.server.start()
        trial.last_life()
        disk.free()
        trial.server.hears(AGAIN)
        ledger = trial.aftermath(disk)
        assert len(trial.fleet.ends.answered) == hooks
        assert ledger.broken_laws(trial.fleet.ends) == []


@pytest.mark.parametrize("hooks", SIZES)
def test_what_is_decided_while_the_record_is_locked_is_written_afterwards(hooks: int) -> None:
    with Trial(hooks=hooks) as trial:
        trial.server.start()
        trial.fleet.launch(hooks // 2)
        operator = trial.operator()
        deciding = operator.in_the_background(60)
        time.sleep(trial.chance.uniform(0.1, 0.5))
        database = trial.server.state / "crabhook" / "record.db"
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            before = trial.server.said(DENIED)
            trial.fleet.launch(hooks // 2)
            trial.server.hears(DENIED, times=before + 1)
            trial.server.hears(NOT_RECORDED)
            other.execute("ROLLBACK")
        operator.stop()
        deciding.join()
        trial.last_life()
        trial.server.hears(AGAIN)
        ledger = trial.aftermath()
        assert [gap["lost"] for gap in gaps(ledger)] == [0]
        assert len(trial.fleet.ends.answered) == hooks
        assert ledger.broken_laws(trial.fleet.ends) == []


@pytest.mark.thorough
def test_a_clock_that_is_set_back_and_put_right_changes_nothing() -> None:
    with Trial(hooks=HOOKS) as trial:
        for ahead in (0, -1800, -1800, 0, -1e8, 0):
            trial.server.set_clock(ahead)
            trial.one_life(HOOKS // 2, met=1)  # each of these clocks is in the record
        trial.server.start()
        trial.fleet.launch(trial.missing())
        trial.server.set_clock(-1800)
        trial.last_life()
        trial.server.set_clock(0)
        ledger = trial.aftermath()
        assert ledger.verified.notes  # that time ran backwards
        assert len(trial.fleet.ends.answered) == HOOKS
        assert ledger.broken_laws(trial.fleet.ends) == []
