"""What a hook says of itself is understood, or refused; nothing is guessed."""

import pytest
from multidict import CIMultiDict

from crabhook.model.card import Stance
from crabhook.server.http.listener import hook_headers
from crabhook.server.http.middleware import TurnedAwayError
from tests.support.rows import every_row


def test_nothing_said_is_the_gate_as_it_is_over_grpc() -> None:
    assert hook_headers(CIMultiDict({"Accept": "*/*"})) == (Stance.GATE, 0.0)


@pytest.mark.parametrize("stance", Stance)
def test_every_stance_can_be_said(stance: Stance) -> None:
    said = CIMultiDict({"x-crabhook-stance": stance.value, "X-CRABHOOK-WAIT": "3630"})
    assert hook_headers(said) == (stance, 3630.0)


@every_row(
    "said",
    [
        [("X-Crabhook-Stance", "")],
        [("X-Crabhook-Stance", "Gate")],
        [("X-Crabhook-Stance", "gate, companion")],
        [("X-Crabhook-Stance", "gate"), ("X-Crabhook-Stance", "gate")],
        [("X-Crabhook-Wait", "0")],
        [("X-Crabhook-Wait", "1.5")],
        [("X-Crabhook-Wait", "1e3")],
        [("X-Crabhook-Wait", "\u0661")],
        [("X-Crabhook-Wait", "1" * 99)],
        [("X-Crabhook-Verdict", "allow")],
    ],
)
def test_what_is_not_understood_is_refused(said: list[tuple[str, str]]) -> None:
    with pytest.raises(TurnedAwayError) as turned:
        hook_headers(CIMultiDict(said))
    assert turned.value.status == 400
