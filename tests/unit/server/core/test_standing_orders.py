"""Standing orders in a shared record: the next server goes by them, and only as long as was said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crabhook.model.actor import Operator
from crabhook.model.order import Order, OrderKind, Standing
from crabhook.server.core.documents import Documents
from crabhook.server.core.persisted_orders import KeptOrders
from crabhook.store.opening import open_history, open_writer
from crabhook.store.record import ORDERS
from crabhook.store.recorder import Recorder
from tests.support.runners import bare_runner
from tests.support.seat import seat
from tests.unit.store.making import verified

if TYPE_CHECKING:
    from pathlib import Path

ANN = Operator("o1", "ann", "laptop")
WALL = 1_767_960_000.0


class Server:
    """A server with this record as if it shared it, until it is killed; or without `documents`."""

    def __init__(self, folder: Path, *, documents: bool = True, **wrong: str) -> None:
        self.recorder = Recorder(lambda: open_writer(folder))
        assert self.recorder.journal is not None
        shared = Documents(self.recorder, self.recorder.journal, wrong)
        standing = KeptOrders(shared if documents else None)
        self.runner = bare_runner(self.recorder, standing=standing)

    def orders(self) -> list[str]:
        return [str(one) for one in self.runner.broker.orders()]

    def kill(self) -> None:
        self.runner.hand_over()
        self.recorder.close()


async def test_the_next_server_goes_by_the_orders_that_stand(tmp_path: Path) -> None:
    first = Server(tmp_path)
    now = first.runner.now()
    desk = seat(first.runner)
    for order in (
        Order(OrderKind.AWAY, until=now + 600),
        Order(OrderKind.HOLD, name="Stop", session="s1", machine=""),
        Order(OrderKind.ALLOW_ALL, session="s2", until=now + 60, machine="build1"),
        Order(OrderKind.KEEP_GOING, name="Stop", session="s3", times=3, words="go on"),
    ):
        desk.order(order)
    stood = first.orders()
    assert len(stood) == 4
    first.kill()
    second = Server(tmp_path)
    await second.runner.restore()
    assert second.orders() == stood
    away, *others = second.runner.broker.orders()
    assert [one.machine for one in others] == ["", "build1", None]
    assert away.until == pytest.approx(now + 600, abs=1)
    seat(second.runner).revoke(frozenset([away.id]))
    second.kill()
    third = Server(tmp_path)
    await third.runner.restore()
    assert third.orders() == stood[1:]
    third.kill()
    assert verified(tmp_path).sound


async def test_without_documents_orders_end_with_the_server(tmp_path: Path) -> None:
    first = Server(tmp_path, documents=False)
    seat(first.runner).order(Order(OrderKind.AWAY))
    assert first.orders() == ["away"]
    first.kill()
    second = Server(tmp_path)
    await second.runner.restore()
    assert second.orders() == []
    second.kill()
    with open_history(tmp_path) as history:
        assert history.documents() == {}


async def test_orders_changed_by_hand_are_not_taken_up(tmp_path: Path) -> None:
    first = Server(tmp_path)
    seat(first.runner).order(Order(OrderKind.AWAY))
    first.kill()
    second = Server(tmp_path, orders="the document orders is not what was written here")
    await second.runner.restore()
    assert second.orders() == []
    second.kill()


@pytest.mark.parametrize("ahead", [-3600, 0, 30, 3600])
def test_a_clock_that_was_set_makes_no_order_longer(tmp_path: Path, ahead: float) -> None:
    recorder = Recorder(lambda: open_writer(tmp_path))
    assert recorder.journal is not None
    documents = Documents(recorder, recorder.journal, {})
    allow = Order(OrderKind.ALLOW_ALL, session="s1", until=1060)
    given = KeptOrders(documents, lambda: WALL)
    (change,) = given.changes((Standing.of(allow, 1, ANN),), 1000)
    assert given.changes((Standing.of(allow, 7, ANN),), 1000) == []
    (document,) = change.documents
    assert document.name == ORDERS
    found = KeptOrders(documents, lambda: WALL + ahead).taken_up(5)
    left = [one.until - 5 for one in found if one.until is not None]
    assert left == ([min(60, 60 - ahead)] if ahead < 60 else [])
    assert all(one.by == ANN for one in found)
    recorder.close()
