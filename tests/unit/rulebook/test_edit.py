"""One rule in, one rule out."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from crabhook.policy.rule import Rule, RuleFileError, RuleScope, RuleVerdict
from crabhook.policy.rulefile import read_rules
from crabhook.rulebook.edit import add, written
from crabhook.rulebook.files import RuleFiles, RulesError
from tests.support.examples import examples
from tests.support.ruled import cut


@pytest.fixture
def files(tmp_path: Path) -> RuleFiles:
    return RuleFiles(tmp_path)


def new(text: str, note: str = "", scope: RuleScope | None = None) -> Rule:
    return Rule(RuleVerdict.DENY, (text,), (), note, scope or RuleScope())


@pytest.mark.parametrize(
    "before",
    ["", "# a", "# a\n", '[[rule]]\nverdict = "deny"\nmatch = "Read"', "unprotect = ['ci']\n\n"],
)
def test_a_rule_is_added_after_what_is_there(files: RuleFiles, before: str) -> None:
    files.user.write_text(before)
    added = add(files, new("Bash(rm *)", "no"))
    assert files.user.read_text().startswith(before)
    assert files.user_rules().rules[-1] == added
    assert (added.texts, added.note) == (("Bash(rm *)",), "no")


def test_a_rule_written_by_hand_in_another_form_is_left_to_the_hand(files: RuleFiles) -> None:
    text = 'rule = [{ verdict = "deny", match = "Read" }]\n'
    files.user.write_text(text)
    with pytest.raises((RulesError, RuleFileError)):
        add(files, new("Bash"))
    with pytest.raises(RulesError, match="table of its own"):
        cut(files, 1)
    assert files.user.read_text() == text


def test_only_a_rule_that_is_there_is_removed(files: RuleFiles) -> None:
    add(files, new("Bash"))
    for number in (0, 2, -1):
        with pytest.raises(RulesError, match="there is no rule"):
            cut(files, number)


def test_what_was_added_is_removed_without_a_trace(files: RuleFiles) -> None:
    for text in ("Bash(a)", "Bash(b)", "Bash(c)"):
        add(files, new(text))
    whole = files.user.read_text()
    add(files, new("Bash(d)"))
    cut(files, 4)
    assert files.user.read_text().rstrip() == whole.rstrip()
    assert cut(files, 2).texts == ("Bash(b)",)
    assert [rule.texts for rule in files.user_rules().rules] == [("Bash(a)",), ("Bash(c)",)]


def test_all_that_is_not_the_removed_rule_stays_byte_for_byte(files: RuleFiles) -> None:
    head = '# mine\nunprotect = ["ci"]  # why\n\n# about the first\n'
    first = '[[rule]]\nverdict = "deny"\nmatch = "Read"   # no\n'
    second = "# about the second\n[[rule]]\nmatch=\"Edit\"\n\n  verdict = 'allow'\n\n# the end"
    files.user.write_text(f"{head}{first}\n{second}")
    cut(files, 1)
    assert files.user.read_text() == f"{head}\n{second}"
    cut(files, 1)
    assert files.user.read_text() == f"{head}\n# about the second\n\n# the end"


WORDS = st.text(st.characters(codec="utf-8"), max_size=12)


@examples(50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(note=WORDS, session=WORDS, mode=WORDS)
def test_a_rule_is_read_as_it_was_written(note: str, session: str, mode: str) -> None:
    rule = new('Bash(a "b c" \\*)', note, RuleScope(session=(session,), mode=(mode, "plan")))
    (read,) = read_rules(written(rule), "a").rules
    assert (read.verdict, read.texts, read.note, read.scope) == (
        rule.verdict,
        rule.texts,
        rule.note,
        rule.scope,
    )
