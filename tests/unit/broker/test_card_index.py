"""Where cards stand."""

from dataclasses import replace

from crabhook.broker.cards import ENDED_KEPT, CardIndex
from crabhook.model.card import Card, Request, State
from tests.support.playbook import bash, prompt


def put(shelf: CardIndex, *legs: Request, state: State = State.WAITING) -> Card:
    card = Card(shelf.next_number(), legs, asked_at=0.0, state=state)
    shelf.put(card)
    return card


def test_a_number_is_given_once() -> None:
    shelf = CardIndex()
    assert [shelf.next_number() for _ in range(3)] == [1, 2, 3]


def test_a_card_is_found_by_number_request_and_session() -> None:
    shelf, leg, stranger = CardIndex(), bash("a", "ls"), bash("b", "ls", session="else")
    card = put(shelf, leg)
    put(shelf, stranger)
    assert shelf.card(1) is shelf.of_request("a") is shelf.of_leg(leg) is card
    assert shelf.of_session(bash("x", "ls").event.session_key) == [card]
    assert shelf.of_request("c") is None
    assert shelf.card(9) is None


def test_a_changed_card_keeps_its_place_and_loses_the_legs_it_lost() -> None:
    shelf = CardIndex()
    first = put(shelf, bash("a", "ls"), bash("b", "ls"))
    put(shelf, bash("c", "ls"))
    shelf.put(replace(first, requests=first.requests[1:]))
    assert [card.number for card in shelf.waiting()] == [1, 2]
    assert shelf.of_request("a") is None
    assert shelf.of_request("b") is not None


def test_an_ended_card_waits_no_more_but_can_be_read() -> None:
    shelf = CardIndex()
    card = put(shelf, bash("a", "ls"))
    ended = replace(card, state=State.DECIDED)
    shelf.put(ended)
    assert not shelf.waiting()
    assert not shelf.of_session(card.event.session_key)
    assert shelf.card(1) is shelf.of_request("a") is ended
    assert repr(shelf) == "<CardIndex waiting=0 ended=1>"


def test_nothing_is_kept_of_a_session_without_cards() -> None:
    shelf = CardIndex()
    shelf.put(replace(put(shelf, bash("a", "ls")), state=State.EXPIRED))
    assert not shelf._by_session


def test_a_card_whose_first_leg_left_before_it_ended_is_looked_for_no_more() -> None:
    shelf = CardIndex()
    card = put(shelf, bash("a", "ls", "t1"))
    put(shelf, bash("other", "make", "t2"))  # the session goes on
    shelf.put(replace(card, requests=(*card.requests, prompt("b", "ls"))))
    shelf.put(replace(card, requests=(prompt("b", "ls"),)))
    shelf.put(replace(card, requests=(prompt("b", "ls"),), state=State.WITHDRAWN))
    assert shelf.alike(bash("c", "ls", "t1").event) == []
    assert set(shelf._listed) == {2}


def test_the_oldest_ended_cards_are_forgotten_with_their_requests() -> None:
    shelf = CardIndex()
    for number in range(ENDED_KEPT + 3):
        put(shelf, bash(str(number), "ls"), state=State.EXPIRED)
    assert repr(shelf) == f"<CardIndex waiting=0 ended={ENDED_KEPT}>"
    assert shelf.of_request("2") is None
    assert shelf.of_request("3") is not None
    assert len(shelf._by_request) == ENDED_KEPT


def test_a_ticket_that_came_back_on_another_card_is_found_there_for_good() -> None:
    shelf, leg = CardIndex(), bash("a", "ls")
    put(shelf, leg, state=State.WITHDRAWN)
    card = put(shelf, leg)
    for number in range(ENDED_KEPT):
        put(shelf, bash(str(number), "ls"), state=State.EXPIRED)
    assert shelf.card(1) is None
    assert shelf.of_request("a") is card
