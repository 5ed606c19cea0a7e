"""The rules under measurement: as many as are said, and they decide the recorded calls."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from bench.events import DECIDED_EVENT, LEFT_WAITING, calls_of_tools, new_call
from bench.lawbook import RULED, crowded_lawbook, lawbook
from crabhook.platforms import PLATFORMS
from crabhook.policy.context import Context
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import RuleVerdict
from crabhook.policy.rulefile import read_rules

WHERE = Context("/home/dev/project", "/home/dev", datetime(2026, 1, 1, tzinfo=UTC), str)


def policy(text: str) -> Policy:
    return Policy([read_rules(text, "rules.toml")], Protected(()))


@pytest.mark.parametrize("book", [lawbook, crowded_lawbook])
@pytest.mark.parametrize("size", [10, 60])
def test_every_recorded_call_of_the_ruled_session_is_allowed(
    book: Callable[[int], str], size: int
) -> None:
    law = policy(book(size))
    assert len(law) == size
    for name in calls_of_tools():
        ruling = law.judge(PLATFORMS["claude"].read(new_call(name, session=RULED)), WHERE)
        assert ruling is not None
        assert ruling.verdict is RuleVerdict.ALLOW


def test_the_calls_that_are_to_wait_are_left_open() -> None:
    law = policy(lawbook(60))
    assert law.judge(PLATFORMS["claude"].read(new_call(DECIDED_EVENT, LEFT_WAITING)), WHERE) is None


def test_other_rules_are_of_every_kind() -> None:
    rules = read_rules(lawbook(60), "rules.toml").rules
    assert {rule.verdict for rule in rules} >= {
        RuleVerdict.ALLOW,
        RuleVerdict.DENY,
        RuleVerdict.ASK_OPERATOR,
    }
    assert len({rule.texts for rule in rules}) == 60
