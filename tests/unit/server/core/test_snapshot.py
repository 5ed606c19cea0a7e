"""What is kept for a restart comes back as it was."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.broker.messages import Resolve
from crabhook.model.actor import OWNER, Actor
from crabhook.model.card import Card, Origin, Request, Stance, State
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.jsontext import MAX_DEPTH, parse_object
from crabhook.platforms import PLATFORMS
from crabhook.server.core.journal_mapper import (
    answer_kept,
    restored,
    waiting_kept,
)
from crabhook.store.actors import decided_read, decided_text
from crabhook.store.change import Recovered
from tests.support.actors import ACTORS
from tests.support.playbook import ALLOW, bash

ALLOWED = Decided(ALLOW, OWNER)
WALL = 1_700_000_000.0
TEXT = st.text(st.characters())  # lone surrogates too, as agents can write them
OBJECT = st.dictionaries(TEXT, TEXT | st.integers() | st.none())


def leg() -> Request:
    asked = bash("a", "ls \ud800")
    return replace(
        asked,
        event=replace(asked.event, machine="build1"),
        stance=Stance.COMPANION,
        origin=Origin("here", 7, "me", "build1"),
        wait_until=600.0,
        gives_up_at=900.0,
        note="a note",
    )


def test_a_request_that_waits_comes_back_on_another_clock() -> None:
    one = leg()
    kept = waiting_kept(Card(3, (one,), asked_at=0.0), one, one.secret, 100.0, WALL)
    found = restored(Recovered((kept,), (), 3), PLATFORMS, 5_000.0, WALL + 10)
    (before,) = found.waiting
    assert (before.number, found.last_number, found.now) == (3, 3, 5_000.0)
    assert before.waited == 110.0  # 100 when it was kept, and 10 by the wall clock since
    size = len(kept.payload)
    assert before.request == replace(one, wait_until=5_490.0, gives_up_at=5_790.0, size=size)


@pytest.mark.parametrize("set_back", [1, 3600, 10**8])
def test_a_wall_clock_set_back_lets_nobody_wait_longer(set_back: float) -> None:
    one = leg()
    kept = waiting_kept(Card(3, (one,), asked_at=0.0), one, one.secret, 0.0, WALL)
    (again,) = restored(Recovered((kept,), (), 3), PLATFORMS, 0.0, WALL - set_back).waiting
    assert (again.request.wait_until, again.waited) == (600.0, 0.0)


def test_by_no_wall_clock_has_anybody_waited_past_the_end() -> None:
    one = leg()
    kept = waiting_kept(Card(3, (one,), asked_at=0.0), one, one.secret, 0.0, WALL)
    (again,) = restored(Recovered((kept,), (), 3), PLATFORMS, 0.0, WALL + 10**8).waiting
    assert again.waited == 600.0


def test_what_was_decided_comes_back_with_its_answer() -> None:
    one = leg()
    card = Card(3, (one,), asked_at=0.0, state=State.DECIDED, decided=ALLOWED)
    reply = PLATFORMS["claude"].write(one.event, ALLOW)
    kept = answer_kept(one, Resolve("a", 1, one.secret, reply, confirm=True), WALL, card)
    found = restored(Recovered((), (kept,), 3), PLATFORMS, 5.0, WALL)
    (decided,) = found.decided
    assert (decided.number, decided.decided, decided.delivered) == (3, ALLOWED, None)
    assert decided.request.event == one.event
    (answer,) = found.answers
    assert (answer.request_id, answer.secret, answer.reply) == ("a", one.secret, reply)


@pytest.mark.parametrize("card", [None, Card(3, (leg(),), 0.0, State.DECIDED, ALLOWED)])
def test_an_answer_whose_receipt_nobody_waits_for_is_never_owed(card: Card | None) -> None:
    reply = PLATFORMS["claude"].write(leg().event, ALLOW)
    kept = answer_kept(leg(), Resolve("a", 1, "secret of a", reply), WALL, card)
    assert not kept.owed
    assert restored(Recovered((), (kept,), 0), PLATFORMS, 0.0, WALL).decided == ()


def test_a_platform_that_is_no_longer_known_is_left_alone() -> None:
    one = leg()
    kept = waiting_kept(Card(3, (one,), asked_at=0.0), one, one.secret, 0.0, WALL)
    found = restored(Recovered((kept,), (), 3), {}, 0.0, WALL)
    assert (found.waiting, found.decided) == ((), ())


@given(
    st.builds(
        Decision,
        verdict=st.sampled_from(Verdict),
        reason=TEXT,
        note=TEXT,
        updated_input=st.none() | OBJECT,
        output=st.none() | TEXT | OBJECT,
        content=st.none() | OBJECT,
        permissions=st.lists(OBJECT, max_size=3).map(tuple),
        interrupt=st.booleans(),
        halt=TEXT,
        user_message=TEXT,
    ),
    ACTORS,
)
def test_a_decision_comes_back_whole_with_who_made_it(decision: Decision, by: Actor) -> None:
    decided = Decided(decision, by)
    assert decided_read(decided_text(decided)) == (decided, "")


def test_a_decision_about_the_deepest_input_that_is_read_comes_back() -> None:
    deepest = parse_object(b'{"x":' * MAX_DEPTH + b"1" + b"}" * MAX_DEPTH)
    decided = Decided(Decision(Verdict.ALLOW, updated_input=deepest), OWNER)
    assert decided_read(decided_text(decided)) == (decided, "")


def test_no_field_of_a_decision_is_forgotten() -> None:
    text = decided_text(ALLOWED).decode()
    assert all(f'"{one.name}":' in text for one in fields(Decision))
