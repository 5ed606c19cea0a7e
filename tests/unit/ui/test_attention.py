"""When a person is called: once for each card, not while they type, not for what has ended."""

from __future__ import annotations

import pytest

from crabhook.config import KINDS
from crabhook.model.actor import OrderKind
from crabhook.model.order import OF_A_CALL, Order
from crabhook.ui.options import APART, QUIET, Attention, CardKind, Watch, kind_of
from tests.support.sitting import QUESTIONS, Sitting

EVERY = frozenset(CardKind)


def watching(attention: Attention | None = None) -> tuple[Sitting, Watch]:
    sitting = Sitting()
    watch = Watch(attention or Attention(bell=EVERY), sitting.desk.now())
    sitting.desk.listen(lambda news: watch.news(news) if hasattr(news, "requests") else None)
    return sitting, watch


def called(sitting: Sitting, watch: Watch) -> list[int]:
    return [card.number for card in watch.call(sitting.desk.now())]


def test_settings_know_the_same_kinds() -> None:
    assert tuple(CardKind) == KINDS


def test_each_card_is_of_one_kind() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.ask("AskUserQuestion", QUESTIONS, session_id="b")
    sitting.ask("ExitPlanMode", {"plan": "x"}, session_id="c")
    sitting.happen("Elicitation", message="?", session_id="d")
    sitting.happen("Stop", session_id="e")
    sitting.happen("SubagentStop", session_id="f")
    sitting.happen("PreCompact", session_id="g")
    assert [kind_of(card) for card in sitting.desk.waiting()] == [
        CardKind.CALL,
        CardKind.QUESTION,
        CardKind.PLAN,
        CardKind.FORM,
        CardKind.STOP,
        CardKind.STOP,
        CardKind.CALL,
    ]


def test_a_new_card_calls_at_once_and_only_once() -> None:
    sitting, watch = watching()
    assert watch.due is None
    sitting.ask()
    assert called(sitting, watch) == [1]
    sitting.desk.pass_time(60)
    assert called(sitting, watch) == []
    assert watch.due is None


def test_who_types_is_called_when_they_have_stopped() -> None:
    sitting, watch = watching()
    watch.key(sitting.desk.now())
    sitting.ask()
    assert called(sitting, watch) == []
    assert watch.due == sitting.desk.now() + QUIET
    sitting.desk.pass_time(QUIET - 1)
    watch.key(sitting.desk.now())
    sitting.desk.pass_time(QUIET - 1)
    assert called(sitting, watch) == []
    sitting.desk.pass_time(1)
    assert called(sitting, watch) == [1]


def test_what_has_ended_meanwhile_does_not_call() -> None:
    sitting, watch = watching()
    watch.key(sitting.desk.now())
    sitting.ask()
    sitting.leave(1)
    sitting.desk.pass_time(60)
    assert called(sitting, watch) == []


def test_a_burst_is_one_call() -> None:
    sitting, watch = watching()
    for number in range(100):
        sitting.ask(session_id=f"s{number}")
    assert len(called(sitting, watch)) == 100
    sitting.ask(session_id="more")
    assert called(sitting, watch) == []
    sitting.desk.pass_time(APART)
    assert called(sitting, watch) == [101]


def test_only_the_kinds_that_were_asked_for_call() -> None:
    sitting, watch = watching(Attention(notify=frozenset({CardKind.PLAN})))
    sitting.ask()
    assert called(sitting, watch) == []
    sitting.ask("ExitPlanMode", {"plan": "x"}, session_id="b")
    assert called(sitting, watch) == [2]


def test_a_card_put_aside_calls_again_when_it_is_back() -> None:
    sitting, watch = watching()
    sitting.ask()
    assert called(sitting, watch) == [1]
    sitting.desk.snooze(1, 60)
    sitting.desk.pass_time(30)
    assert called(sitting, watch) == []
    sitting.desk.pass_time(31)
    assert called(sitting, watch) == [1]


def test_the_title_counts_the_kinds_it_is_for() -> None:
    sitting, watch = watching(Attention(title=frozenset({CardKind.CALL})))
    sitting.ask()
    sitting.ask("ExitPlanMode", {"plan": "x"}, session_id="b")
    kinds = sitting.screen.selection.queue.kinds
    assert watch.counted(kinds) == 1
    _, silent = watching(Attention())
    assert silent.counted(kinds) == 0


# No command gives an order about one call: its card does.
@pytest.mark.parametrize("kind", [kind for kind in OrderKind if kind not in OF_A_CALL])
def test_orders_call_nobody(kind: OrderKind) -> None:
    sitting, watch = watching()
    name = "Stop" if kind in (OrderKind.HOLD, OrderKind.KEEP_GOING) else ""
    sitting.desk.order(Order(kind, name, session="s", until=2000.0, words="on"))
    assert called(sitting, watch) == []


def test_a_screen_opened_late_calls_for_what_waits_already() -> None:
    sitting = Sitting(attention=Attention(bell=EVERY))
    sitting.ask()
    sitting.sit()
    assert [card.number for card in sitting.screen.watch.call(sitting.desk.now())] == [1]
