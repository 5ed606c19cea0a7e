"""Everything the broker can be told, it handles."""

from dataclasses import MISSING, fields
from typing import get_args

from crabhook.broker.broker import _HANDLERS
from crabhook.broker.messages import Fact
from tests.support.rows import every_row


def test_every_fact_has_its_handler() -> None:
    assert set(_HANDLERS) == set(get_args(Fact))


@every_row("fact", get_args(Fact))
def test_every_fact_says_when_since_the_broker_has_no_clock(fact: type) -> None:
    (now,) = (field for field in fields(fact) if field.name == "now")
    assert now.default is MISSING
