"""What counts of what was found."""

from pathlib import Path

from crabhook.lint.linting import MAX_ON_A_FILE, counting
from crabhook.lint.rules import UNREASONED
from crabhook.lint.script import LintFinding, LintRule, Severity, SourcePlace

PATH = Path("hook.sh")
RULE = LintRule("CH003", Severity.HIGH, "title", "means", "do")
OTHER = LintRule("CH010", Severity.HIGH, "title", "means", "do")


def found(line: int, rule: LintRule = RULE) -> LintFinding:
    return LintFinding(PATH, SourcePlace(line, 1), rule, "message")


def test_findings_come_in_the_order_of_the_file_and_each_once() -> None:
    assert counting([found(3), found(1), found(3)], {PATH: ""}) == [found(1), found(3)]


def test_a_line_that_is_excused_with_a_reason_gives_no_finding_of_that_rule() -> None:
    text = "x  # crabhook: ignore[CH003, CH001] looked at\ny"
    kept = counting([found(1), found(1, OTHER), found(2)], {PATH: text})
    assert kept == [found(1, OTHER), found(2)]


def test_an_excuse_without_a_reason_excuses_nothing_and_is_a_finding() -> None:
    kept = counting([found(1)], {PATH: "exit 1  # crabhook: ignore[CH003]"})
    assert [one.rule.id for one in kept] == ["CH003", UNREASONED.id]
    assert kept[1].place == SourcePlace(1, 9)


def test_a_file_cannot_fill_the_report() -> None:
    assert len(counting(map(found, range(1, 5000)), {PATH: ""})) == MAX_ON_A_FILE
