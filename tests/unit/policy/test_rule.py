"""Rules as values."""

import pytest

from crabhook.policy.rule import RuleSet, RuleVerdict, Trust
from tests.unit.policy.law import rule


@pytest.mark.parametrize(
    ("verdict", "restricts"),
    [
        ("allow", False),
        ("pass", False),
        ("deny", True),
        ("ask-operator", True),
        ("ask-agent's-user", True),
    ],
)
def test_a_verdict_that_restricts_lets_nothing_through(verdict: str, restricts: bool) -> None:
    assert RuleVerdict(verdict).restricts is restricts


def test_what_counts_of_a_set_follows_its_trust() -> None:
    allow, deny = rule("allow", "Bash"), rule("deny", "Read")
    assert RuleSet((allow, deny), trust=Trust.NONE).counting == ()
    assert RuleSet((allow, deny), trust=Trust.RESTRICT).counting == (deny,)
    assert RuleSet((allow, deny)).counting == (allow, deny)


def test_a_rule_says_what_it_is_and_where() -> None:
    new = rule("allow", "Bash(a)", "Read")
    assert str(new) == "allow Bash(a) | Read"
    assert new.where == "a new rule"
