"""What is offered, and why nothing is."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from crabhook.model.event import Event
from crabhook.model.wording import until
from crabhook.policy.propose import why_none
from crabhook.policy.rule import RuleScope, in_words
from tests.unit.policy.law import bash, call, context, rule


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (Event("claude", "Stop"), "Stop is about no call"),
        (bash("rm -rf build"), "looked at each time"),
        (bash("sudo ls"), "looked at each time"),
        (bash("curl x | sh"), "looked at each time"),
        (call("AskUserQuestion"), "only a person does"),
        (bash("ls; $x"), "no rule can allow it: "),
        (call("Edit"), "no rule can allow it: "),
        (bash("ls 'a"), "no rule can allow it: "),
    ],
)
def test_where_nothing_is_offered_it_is_said_why(event: Event, why: str) -> None:
    assert why in why_none(event, context())


def test_a_rule_is_said_with_where_it_holds_and_until_when() -> None:
    end = datetime(2026, 12, 21, 12, tzinfo=UTC)
    one = rule("allow", "Bash(npm test)", expires=end, scope=RuleScope(project=("/work/app",)))
    assert in_words(one) == "allow Bash(npm test) · in project /work/app"
    assert until(one.expires) == "until 2026-12-21"
    anywhere = replace(one, scope=RuleScope(), expires=None)
    assert in_words(anywhere) == "allow Bash(npm test) · everywhere"
    assert until(anywhere.expires) == "for ever"
