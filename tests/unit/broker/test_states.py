"""A card waits, then ends exactly once."""

import pytest

from crabhook.broker.cards import TRANSITIONS, Happening, TooLateError, after
from crabhook.model.card import State


def test_only_a_card_that_waits_can_change() -> None:
    assert {state for state, _ in TRANSITIONS} == {State.WAITING}


@pytest.mark.parametrize("happening", Happening)
def test_everything_that_happens_to_a_card_that_waits_ends_it(happening: Happening) -> None:
    assert after(State.WAITING, happening) is not State.WAITING


@pytest.mark.parametrize("happening", Happening)
@pytest.mark.parametrize("final", [state for state in State if state is not State.WAITING])
def test_nothing_happens_to_a_card_that_has_ended(final: State, happening: Happening) -> None:
    with pytest.raises(TooLateError, match=f"already {final}"):
        after(final, happening)


def test_each_ending_has_its_own_state() -> None:
    assert len({after(State.WAITING, happening) for happening in Happening}) == len(Happening)
