"""Whoever gets no reply gets a status: never one that could be taken for an answer."""

import pytest

from crabhook.broker.messages import Refusal
from crabhook.server.http.middleware import STATUS, turned_away


@pytest.mark.parametrize("refusal", Refusal)
def test_every_refusal_has_a_status_that_is_a_failure(refusal: Refusal) -> None:
    error = turned_away(refusal)
    assert error.status == STATUS[refusal] >= 400
    assert str(error) == refusal.value
