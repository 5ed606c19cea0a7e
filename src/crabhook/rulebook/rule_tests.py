"""The tests that stand in a rule file, held to the rules of the same file.

Tests look at no file of this machine, so they give the same everywhere: no path is a link, and no
folder holds anything. Rules that a project's trust does not let count are tested as if they did.

Where tests fail the newer rules stand all the same, since a new denial must not wait for a test of
something else. But rules that let through what a test wants denied or asked are set aside until the
test holds. So a failing test never opens anything.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from crabhook.policy.context import Below, Context, Wanted
from crabhook.policy.evaluate import Policy
from crabhook.policy.paths import expand_home
from crabhook.policy.protected import Protected
from crabhook.policy.rule import FailedTest, Rule, RuleSet, RuleTest, Ruling, Trust
from crabhook.rulebook.project_policy import ProjectPolicy
from crabhook.rulebook.typed_call import event_of

TEST_PROJECT = "~/project-of-tests"
"""Where the agent of a test works, if neither the test nor its file names a project."""


def with_tests_held(rules: RuleSet, protected: Protected) -> RuleSet:
    """Return a file's rules with the tests that fail, and the rules that these set aside."""
    home = os.path.expanduser("~")  # noqa: PTH111 - a text is wanted
    return _with_tests_held(rules, protected, home)


@lru_cache(maxsize=8)
def _with_tests_held(rules: RuleSet, protected: Protected, home: str) -> RuleSet:
    results = _held(rules, rules.tests, protected, home)
    failed = tuple(
        FailedTest(test, ruling.verdict, ruling.why)
        for test, ruling in results
        if not test.expected.is_met_by(ruling.verdict)
    )
    aside = tuple[Rule, ...]()
    # What one rule opens, another may open too: a test is repeated until none does.
    while opening := _opening(rules, results):
        aside += opening
        tests = [test for test, ruling in results if test.expected.is_opened_by(ruling.verdict)]
        results = _held(replace(rules, set_aside=aside), tests, protected, home)
    return replace(rules, failed=failed, set_aside=aside)


def in_words(rules: RuleSet) -> str:
    """Return in a line which tests fail, and what is done; empty where none does."""
    if not rules.failed:
        return ""
    count = f"{len(rules.failed)} OF {len(rules.tests)} TESTS OF THE RULES FAIL"
    return " · ".join([f"{count}: {rules.failed[0]}", *aside_in_words(rules)])


def aside_in_words(rules: RuleSet) -> Iterator[str]:
    """Yield which rules count for nothing while tests fail."""
    for rule in rules.set_aside:
        yield f"set aside until the tests hold: {rule} ({rule.where})"


def _opening(rules: RuleSet, results: Iterable[tuple[RuleTest, Ruling]]) -> tuple[Rule, ...]:
    """Return the rules that let through, in part, what a test wants denied or asked."""
    opened = (ruling for test, ruling in results if test.expected.is_opened_by(ruling.verdict))
    letting = {part.rule for ruling in opened for part in ruling.parts}
    return tuple(rule for rule in rules.rules if rule in letting and not rule.verdict.restricts)


def _held(
    rules: RuleSet, tests: Iterable[RuleTest], protected: Protected, home: str
) -> list[tuple[RuleTest, Ruling]]:
    """Return each test with what the rules say of its call."""
    law = Policy([replace(rules, trust=Trust.FULL)], protected)
    return [(test, _ruling(law, test, rules.folder, home)) for test in tests]


def _ruling(law: Policy, test: RuleTest, folder: str, home: str) -> Ruling:
    project = expand_home(folder or test.project or TEST_PROJECT, home)
    context = Context(project, home, datetime.now(UTC), _no_link, _nothing)
    return ProjectPolicy(law, context).ruling(event_of(test.tool, test.text, Path(project)))


def _no_link(path: str) -> str:
    return path


def _nothing(_folder: str, _wanted: Wanted) -> Below:
    return Below()
