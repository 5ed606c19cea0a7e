"""Answers given and perhaps not received."""

import pytest

from crabhook.broker.messages import Refusal
from crabhook.broker.pending import ANSWER_KEPT_FOR, ANSWERS_KEPT, Tickets, same_secret
from crabhook.model.card import Request
from crabhook.model.decision import SILENCE, Reply
from tests.support.playbook import bash

SAID = Reply({"said": True})


def give(tickets: Tickets, request: Request, reply: Reply, now: float) -> None:
    tickets.give(request.id, request.secret, reply, now)


def test_a_reply_is_kept_for_its_own_ticket_alone() -> None:
    tickets = Tickets()
    give(tickets, bash("a", "ls"), SAID, 0.0)
    assert tickets.given(bash("a", "ls")) is SAID
    assert tickets.given(bash("b", "ls")) is None
    assert tickets.given(bash("a", "ls", secret="guess")) is Refusal.NOT_YOURS
    assert tickets.given(bash("b", "ls", secret="guess")) is None


def test_silence_is_a_reply_too() -> None:
    tickets = Tickets()
    give(tickets, bash("a", "ls"), SILENCE, 0.0)
    assert tickets.given(bash("a", "ls")) is SILENCE


def test_the_oldest_replies_are_forgotten_past_the_bound() -> None:
    tickets = Tickets()
    for number in range(ANSWERS_KEPT + 1):
        give(tickets, bash(str(number), "ls"), SAID, 0.0)
    assert repr(tickets) == f"<Tickets given={ANSWERS_KEPT}>"
    assert tickets.given(bash("0", "ls")) is None
    assert tickets.given(bash("1", "ls")) is SAID


def test_old_replies_are_forgotten_when_new_ones_come() -> None:
    tickets = Tickets()
    give(tickets, bash("a", "ls"), SAID, 0.0)
    give(tickets, bash("b", "ls"), SAID, ANSWER_KEPT_FOR + 1)
    assert tickets.given(bash("a", "ls")) is None
    assert tickets.given(bash("b", "ls")) is SAID


@pytest.mark.parametrize(("one", "other"), [("a", "a"), ("", ""), ("ä", "ä")])
def test_equal_secrets_are_the_same(one: str, other: str) -> None:
    assert same_secret(one, other)


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("a", ""), ("a", "aa"), ("ä", "a")])
def test_other_secrets_are_not(one: str, other: str) -> None:
    assert not same_secret(one, other)
