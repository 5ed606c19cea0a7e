"""The tables of rules as a whole."""

import re

from crabhook.lint.rules import ALWAYS, PROFILES, STANDARD
from crabhook.lint.rules.subjects import RULES as WORDS
from crabhook.lint.script import LintRule, Severity
from tests.support.rows import every_row

RULES = list(dict.fromkeys(rule for profile in PROFILES.values() for rule in profile.rules()))

# The standard's own ids and severities, as they were asked for.
AS_ASKED = {
    "HP-001": Severity.CRITICAL,
    "HP-002": Severity.CRITICAL,
    "HP-003": Severity.CRITICAL,
    "HP-004": Severity.HIGH,
    "HP-005": Severity.HIGH,
    "HP-006": Severity.MEDIUM,
    "HP-007": Severity.MEDIUM,
    "HP-008": Severity.CRITICAL,
}


def test_an_id_names_one_rule() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


@every_row("rule", RULES)
def test_a_rule_says_what_it_comes_to_and_what_to_do(rule: LintRule) -> None:
    assert re.fullmatch(r"CH[01]\d\d|HP-\d{3}|HP-EVENT", rule.id)
    assert rule.title
    assert rule.means.endswith(".")
    assert len(rule.do) > 15


def test_every_rule_that_has_words_is_looked_for() -> None:
    assert {rule.id for rule in RULES} == set(WORDS)


def test_hp_001_to_hp_008_have_the_standards_severities() -> None:
    found = {rule.id: rule.severity for rule in STANDARD.rules() if rule not in ALWAYS}
    assert {id_: found[id_] for id_ in AS_ASKED} == AS_ASKED
    assert set(found) - set(AS_ASKED) == {"HP-EVENT"}


def test_severities_are_ordered() -> None:
    assert Severity.LOW < Severity.MEDIUM < Severity.HIGH < Severity.CRITICAL
    assert [str(one) for one in Severity] == ["low", "medium", "high", "critical"]
