"""Whoever gets no reply gets a status: never one that could be taken for an answer."""

from crabhook.broker.messages import Refusal
from crabhook.server.http.middleware import STATUS, turned_away
from tests.support.rows import every_row


@every_row("refusal", Refusal)
def test_every_refusal_has_a_status_that_is_a_failure(refusal: Refusal) -> None:
    error = turned_away(refusal)
    assert error.status == STATUS[refusal] >= 400
    assert str(error) == refusal.value
