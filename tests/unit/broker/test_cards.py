"""What a card tells of itself."""

from dataclasses import replace

import pytest

from crabhook.model.actor import OWNER
from crabhook.model.card import Card, State
from crabhook.model.decision import Decided, Decision
from tests.support.playbook import ALLOW, ASK, DENY, PASS, bash, prompt


def card(**changes: object) -> Card:
    made = Card(1, (bash("a", "ls", wait=5), prompt("b", "ls", wait=9)), asked_at=0.0)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_a_card_shows_the_event_it_first_arrived_with_and_waits_for_its_last_hook() -> None:
    assert card().event.name == "PreToolUse"
    assert card().wait_until == 9


def test_a_card_that_waits_has_no_outcome() -> None:
    assert card().outcome == ""


@pytest.mark.parametrize(
    ("decision", "outcome"),
    [(ALLOW, "ALLOWED"), (DENY, "DENIED"), (ASK, "HANDED BACK"), (PASS, "PASSED")],
)
def test_a_decided_card_says_what_was_decided(decision: Decision, outcome: str) -> None:
    assert card(state=State.DECIDED, decided=Decided(decision, OWNER)).outcome == outcome


@pytest.mark.parametrize("state", [State.EXPIRED, State.WITHDRAWN])
def test_an_undecided_card_says_how_it_ended(state: State) -> None:
    assert card(state=state).outcome == state.name
