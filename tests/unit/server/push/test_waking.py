"""Who is called for which card: laws that hold whatever happens."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from crabhook.desk.updates import OrdersChanged, Snapshot
from crabhook.model.actor import Operator
from crabhook.model.card import Card, State
from crabhook.model.decision import Decided
from crabhook.server.push.waking import APART, LATER, Waking
from tests.support.playbook import ALLOW, bash

AFTER = 5.0
PEOPLE = ("ann", "bob")


def card(number: int, at: float = 0.0, wait: float = 3600.0) -> Card:
    return Card(number, (bash("a", "ls", wait=at + wait).leg(""),), at)


def ended(waited: Card, by: str = "", at: float = 0.0) -> Card:
    decided = Decided(ALLOW, Operator(by, by, "laptop")) if by else None
    return replace(waited, state=State.DECIDED, decided=decided, ended_at=at)


def called(
    waking: Waking, now: float, *, visible: tuple[str, ...] = (), may: tuple[str, ...] = PEOPLE
) -> list[str]:
    return waking.look(
        now, PEOPLE, lambda person: person in visible, lambda person, _: person in may
    )


def numbers(waking: Waking, person: str) -> list[int]:
    return [each.number for each in waking.called_for(person)]


def test_a_card_that_outlived_rules_and_hooks_calls_who_may_decide_it_once() -> None:
    waking = Waking(AFTER)
    waking.hear(card(1, at=100.0))
    assert called(waking, 104.9) == []
    assert called(waking, 105.0, may=("ann",)) == ["ann"]
    assert called(waking, 200.0, may=("ann",)) == []
    assert numbers(waking, "ann") == [1]
    assert numbers(waking, "bob") == []


def test_who_looks_is_not_called_and_is_once_they_looked_away_for_a_while() -> None:
    waking = Waking(AFTER)
    waking.hear(card(1))
    assert called(waking, 10.0, visible=("ann",)) == ["bob"]
    assert called(waking, 14.9) == []
    assert called(waking, 15.0) == ["ann"]


def test_what_ends_in_time_calls_nobody() -> None:
    waking = Waking(AFTER)
    waking.hear(card(1))
    waking.hear(ended(card(1)))
    assert called(waking, 10.0) == []
    assert not waking.anything_waits


def test_calls_keep_a_distance_and_the_next_one_takes_in_what_came() -> None:
    waking = Waking(AFTER)
    waking.hear(card(1, at=0.0))
    assert called(waking, 5.0) == ["ann", "bob"]
    for number in (2, 3, 4):
        waking.hear(card(number, at=6.0))
    assert called(waking, 5.0 + APART - 0.1) == []
    assert called(waking, 5.0 + APART) == ["ann", "bob"]
    assert numbers(waking, "ann") == [1, 2, 3, 4]
    waking.hear(ended(card(2)))
    assert numbers(waking, "ann") == [1, 3, 4]


def test_a_card_that_was_put_aside_calls_when_it_comes_back() -> None:
    waking = Waking(AFTER)
    waking.hear(replace(card(1), snoozed_until=60.0))
    assert called(waking, 59.9) == []
    assert called(waking, 60.0) == ["ann", "bob"]


def test_later_means_once_more_after_a_while() -> None:
    waking = Waking(AFTER)
    waking.hear(card(1))
    assert called(waking, 10.0, may=("ann",)) == ["ann"]
    waking.later("ann", 20.0)
    waking.hear(card(2, at=30.0))
    assert called(waking, 19.9 + LATER, may=("ann",)) == []
    assert called(waking, 20.0 + LATER, may=("ann",)) == ["ann"]
    assert numbers(waking, "ann") == [1, 2]


def test_a_card_whose_time_is_over_calls_nobody() -> None:
    waking = Waking(AFTER)
    waking.hear(card(1, wait=4.0))
    assert called(waking, 10.0) == []


def test_a_snapshot_is_all_there_is() -> None:
    waking = Waking(AFTER)
    waking.hear(card(1))
    assert called(waking, 10.0, may=("ann",)) == ["ann"]
    waking.hear(Snapshot(20.0, (card(2),), (ended(card(1), "bob", 19.0),)))
    waking.hear(OrdersChanged(()))
    assert numbers(waking, "ann") == []
    assert called(waking, 30.0, may=("ann",)) == ["ann"]
    assert numbers(waking, "ann") == [2]


def test_it_knows_when_a_person_last_decided() -> None:
    waking = Waking(AFTER)
    waking.hear(ended(card(1), "ann", 50.0))
    waking.hear(ended(card(2), "ann", 40.0))
    waking.hear(ended(card(3)))
    assert waking.acted_at("ann") == 50.0
    assert waking.acted_at("bob") == 0.0


class Anything(RuleBasedStateMachine):
    """Cards come and go, people look and look away, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.now, self.number = 1000.0, 0
        self.waking = Waking(AFTER)
        self.waiting: dict[int, Card] = {}
        self.visible: set[str] = set()
        self.looked_at = dict.fromkeys(PEOPLE, 0.0)
        self.times: dict[tuple[str, int], int] = {}
        self.laters = dict.fromkeys(PEOPLE, 0)

    @rule(wait=st.sampled_from([1.0, 8.0, 3600.0]), aside=st.sampled_from([0.0, 20.0]))
    def comes(self, wait: float, aside: float) -> None:
        self.number += 1
        came = replace(card(self.number, self.now, wait), snoozed_until=self.now + aside)
        self.waiting[self.number] = came
        self.waking.hear(came)

    @rule(draw=st.data())
    def ends(self, draw: st.DataObject) -> None:
        if self.waiting:
            number = draw.draw(st.sampled_from(sorted(self.waiting)))
            self.waking.hear(ended(self.waiting.pop(number), at=self.now))

    @rule(person=st.sampled_from(PEOPLE))
    def looks(self, person: str) -> None:
        self.visible ^= {person}

    @rule(person=st.sampled_from(PEOPLE))
    def chooses_later(self, person: str) -> None:
        self.waking.later(person, self.now)
        self.laters[person] += 1

    @rule()
    def begins_anew(self) -> None:
        self.waking.hear(Snapshot(self.now, tuple(self.waiting.values())))

    @rule(seconds=st.sampled_from([0.3, 1.0, 6.0, 30.0, 700.0]))
    def time_passes(self, seconds: float) -> None:
        for person in self.visible:
            self.looked_at[person] = self.now
        self.now += seconds
        # Bob may decide what has an even number.
        may = {"ann": lambda _: True, "bob": lambda number: number % 2 == 0}
        before = {person: set(numbers(self.waking, person)) for person in PEOPLE}
        called = self.waking.look(
            self.now,
            PEOPLE,
            self.visible.__contains__,
            lambda person, card: may[person](card.number),
        )
        assert not set(called) & self.visible
        for person in called:
            new = set(numbers(self.waking, person)) - before[person]
            assert new, "a call is for something new"
            assert self.now - self.looked_at[person] >= AFTER or person not in self.visible
            for number in new:
                self.times[person, number] = self.times.get((person, number), 0) + 1
                assert self.now >= max(
                    self.waiting[number].asked_at + AFTER, self.waiting[number].snoozed_until
                )
                assert self.now < self.waiting[number].wait_until
                assert may[person](number)

    @invariant()
    def nobody_is_called_twice_for_a_card(self) -> None:
        for (person, _), times in self.times.items():
            assert times <= 1 + self.laters[person]

    @invariant()
    def nobody_is_told_of_what_ended(self) -> None:
        for person in PEOPLE:
            assert set(numbers(self.waking, person)) <= self.waiting.keys()


Anything.TestCase.settings = settings(max_examples=60, stateful_step_count=40)
TestAnything = Anything.TestCase


@given(st.floats(0.1, 60.0), st.integers(1, 30))
def test_a_person_who_is_away_is_called_for_every_card_in_the_end(after: float, many: int) -> None:
    waking, now = Waking(after), 0.0
    for number in range(1, many + 1):
        waking.hear(card(number, now))
        now += 3.0
        called(waking, now, may=("ann",))
    called(waking, now + after + APART, may=("ann",))
    assert numbers(waking, "ann") == list(range(1, many + 1))
