"""Acts that decide no card become the same commands in every face."""

from dataclasses import replace

import pytest

from crabhook.desk.commands import Extend, Snooze
from crabhook.desk.other_acts import away, here, snooze, wait_longer
from crabhook.model.actor import OWNER, OrderKind
from crabhook.model.card import Card, Leg
from crabhook.model.event import Event
from crabhook.model.order import Order, Standing

NOW = 1_000.0


def card(left: float) -> Card:
    return Card(7, (Leg("a", Event("claude", "PreToolUse"), NOW + left),), NOW)


@pytest.mark.parametrize(
    ("left", "seconds"),
    [
        (1_000.0, 300.0),
        (350.0, 290.0),  # back a minute before its end
        (100.0, 50.0),  # or after half of what is left
    ],
)
def test_a_card_is_put_aside_no_longer_than_lets_it_be_decided(left: float, seconds: float) -> None:
    command = snooze(card(left), NOW)
    assert command == Snooze(7, seconds, id=command.id)


def test_a_card_that_is_aside_is_brought_back() -> None:
    assert snooze(replace(card(1_000.0), snoozed_until=NOW + 1), NOW).seconds == 0


def test_a_card_waits_ten_minutes_longer() -> None:
    command = wait_longer(card(5.0))
    assert command == Extend(7, 600.0, id=command.id)


def test_who_leaves_is_away_for_a_time_or_until_they_come_back() -> None:
    assert away(NOW, 60.0).until == NOW + 60
    assert away(NOW, None).until is None


def test_coming_back_ends_every_order_of_leaving_and_no_other() -> None:
    holds = Standing.of(Order(OrderKind.HOLD_ALL, session="s"), 1, OWNER)
    left = [Standing.of(away(NOW, None), number, OWNER) for number in (2, 3)]
    end = here([holds, *left])
    assert end is not None
    assert end.ids == {2, 3}
    assert here([holds]) is None
