"""A server takes up what a server of an older commit left in its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.model.actor import UNKNOWN
from crabhook.model.decision import Decision, Verdict
from crabhook.store.opening import open_writer
from crabhook.store.record import RecordKind
from crabhook.store.recorder import Recorder
from tests.support.ledger import Ledger
from tests.support.older_record import copied
from tests.support.runners import bare_runner
from tests.support.seat import seat

if TYPE_CHECKING:
    from pathlib import Path


async def test_what_waited_at_an_older_server_is_decided_at_this_one(tmp_path: Path) -> None:
    folder = copied(tmp_path / "crabhook")
    recorder = Recorder(lambda: open_writer(folder))
    runner = bare_runner(recorder)
    await runner.restore()
    assert [card.number for card in runner.broker.waiting()] == [21, 22]
    owed = runner.broker.card(20)
    assert owed is not None
    assert owed.decided is not None
    assert owed.decided.by == UNKNOWN  # an operator, of whom it kept no more
    seat(runner).answer(21, Decision(Verdict.ALLOW))
    runner.close()
    recorder.close()
    ledger = Ledger(folder)
    assert [one.card for one in ledger.of(RecordKind.TAKEN_UP)] == [21, 22]
    assert [one.verdict for one in ledger.of(RecordKind.DECIDED) if one.card == 21] == ["allow"]
    assert ledger.verified.sound
