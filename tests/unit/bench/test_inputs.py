"""What is measured on: calls that are new, and rules that decide them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bench.inputs import (
    DECIDED_EVENT,
    RULED,
    calls_of_tools,
    crowded_rule_file,
    new_call,
    rule_file,
)
from crabhook.platforms import PLATFORMS
from crabhook.policy.context import Context
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import RuleVerdict
from crabhook.policy.rulefile import read_rules

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.thorough

WHERE = Context("/home/dev/project", "/home/dev", datetime(2026, 1, 1, tzinfo=UTC), str)


def test_no_two_calls_are_taken_for_the_same() -> None:
    first, second = (json.loads(new_call(DECIDED_EVENT)) for _ in range(2))
    assert first["tool_use_id"] != second["tool_use_id"]
    assert first["session_id"] != second["session_id"]
    assert first["tool_input"] == second["tool_input"]


@pytest.mark.parametrize("text_of", [rule_file, crowded_rule_file])
@pytest.mark.parametrize("size", [10, 60])
def test_every_recorded_call_of_the_ruled_session_is_allowed_and_the_others_wait(
    text_of: Callable[[int], str], size: int
) -> None:
    policy = Policy([read_rules(text_of(size), "rules.toml")], Protected(()))
    assert len(policy) == size
    for name in calls_of_tools():
        ruled, other = (
            policy.judge(PLATFORMS["claude"].read(new_call(name, session=session)), WHERE)
            for session in (RULED, "other")
        )
        assert ruled is not None
        assert ruled.verdict is RuleVerdict.ALLOW
        assert other is None
