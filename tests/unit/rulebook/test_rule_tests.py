"""Tests in rule files: what they say of the rules, and which rules they set aside."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import Expected, RuleSet, Trust
from crabhook.policy.rulefile import read_rules
from crabhook.rulebook.rule_tests import in_words, with_tests_held
from tests.unit.policy import law

RULES = """
[[rule]]
verdict = "allow"
match = ["Bash(git *)", "Bash(pytest *)"]

[[rule]]
verdict = "deny"
match = "Bash(git push *)"
note = "never"

[[rule]]
verdict = "ask-operator"
match = "Bash(terraform *)"

[[rule]]
verdict = "pass"
match = "Bash(ls *)"
"""


def held(tests: str, rules: str = RULES, folder: str = "") -> RuleSet:
    return with_tests_held(read_rules(rules + tests, "rules.toml", folder), Protected())


def table(expected: str, *calls: str, more: str = "") -> str:
    return f"\n[[test]]\n{expected} = {[*calls]}\n{more}\n"


@pytest.mark.parametrize(
    ("expected", "calls"),
    [
        ("allow", ("pytest -q", "git status && pytest")),
        ("deny", ("git push origin", "pytest; git push")),
        ("ask", ("terraform apply", "make", "cat .env", "pytest && make")),
    ],
)
def test_a_test_holds_where_the_rules_do_as_it_wants(expected: str, calls: tuple[str, ...]) -> None:
    rules = held(table(expected, *calls))
    assert (len(rules.tests), rules.failed, rules.set_aside) == (len(calls), (), ())
    assert in_words(rules) == ""
    others = {*Expected} - {Expected(expected)}
    assert all(len(held(table(other, *calls)).failed) == len(calls) for other in others)


def test_what_the_rules_leave_to_the_agent_is_neither_allowed_nor_asked() -> None:
    assert [len(held(table(wanted, "ls -l")).failed) for wanted in Expected] == [1, 1, 1]


def test_a_failed_test_names_its_line_its_call_and_the_rule_that_decided() -> None:
    rules = held(table("deny", "git push", "git pull", more='why = "no news by surprise"'))
    (failed,) = rules.failed
    assert str(failed) == (
        "rules.toml, line 20: the rules must deny `git pull` (no news by surprise), but they allow "
        "it: rules.toml, line 2: allow Bash(git *)"
    )
    assert in_words(rules).startswith("1 OF 2 TESTS OF THE RULES FAIL: rules.toml, line 20")
    assert "set aside until the tests hold: allow Bash(git *)" in in_words(rules)


def verdict(rules: RuleSet, command: str) -> str:
    return law.verdict(Policy([rules], Protected()), law.bash(command))


def test_rules_that_let_through_what_a_test_wants_denied_are_set_aside_and_no_others() -> None:
    rules = held(table("deny", "git pull"))
    assert [rule.line for rule in rules.set_aside] == [2]
    assert verdict(rules, "git pull") == verdict(rules, "pytest") == law.OPEN
    assert verdict(rules, "git push") == "deny"
    assert verdict(rules, "ls") == "pass"


def test_what_another_rule_would_open_then_is_set_aside_too() -> None:
    more = '\n[[rule]]\nverdict = "allow"\nmatch = "Bash(git pull)"\n'
    rules = held(table("ask", "git pull"), RULES + more)
    assert len(rules.set_aside) == 2
    assert verdict(rules, "git pull") == law.OPEN


def test_a_failed_test_that_wanted_more_allowed_sets_nothing_aside() -> None:
    rules = held(table("allow", "make") + table("deny", "terraform apply"))
    assert (len(rules.failed), rules.set_aside, rules.counting) == (2, (), rules.rules)


COMMANDS = ("git pull", "git push", "pytest", "terraform plan", "ls", "make", "pytest && ls")


@given(
    st.lists(st.sampled_from(["allow", "deny", "ask-operator", "pass"]), max_size=6).flatmap(
        lambda verdicts: st.tuples(
            st.just(verdicts),
            st.lists(
                st.sampled_from(
                    ["Bash(git *)", "Bash(ls *)", "Bash(pytest)", "Bash", "Bash(git p*)"]
                ),
                min_size=len(verdicts),
                max_size=len(verdicts),
            ),
        )
    ),
    st.sampled_from(["deny", "ask"]),
    st.sampled_from(COMMANDS),
)
def test_whatever_the_rules_a_failing_test_never_opens_anything(
    rules: tuple[list[str], list[str]], wanted: str, call: str
) -> None:
    text = "".join(
        f'[[rule]]\nverdict = "{said}"\nmatch = "{match}"\n'
        for said, match in zip(*rules, strict=True)
    )
    before, after = read_rules(text, "r"), held(table(wanted, call), text)
    assert verdict(after, call) not in ("allow", "pass")
    for command in COMMANDS:
        if verdict(after, command) in ("allow", "pass"):
            assert verdict(before, command) in ("allow", "pass")
        if verdict(before, command) in ("deny", "ask-operator"):
            assert verdict(after, command) == verdict(before, command)


FILES = '[[rule]]\nverdict = "allow"\nmatch = "Edit(/src/**)"\nscope = { project = "~/shop" }\n'


def test_a_test_may_name_a_tool_and_a_project() -> None:
    there = 'tool = "Edit"\nproject = "~/shop"'
    assert held(table("allow", "src/a.py", more=there), FILES).failed == ()
    (failed,) = held(table("allow", "src/a.py", more='tool = "Edit"'), FILES).failed
    assert "must allow `Edit src/a.py`" in str(failed)


def test_a_projects_file_is_tested_there_as_if_it_were_trusted_in_full() -> None:
    rules = '[[rule]]\nverdict = "allow"\nmatch = "Edit(/src/**)"\n'
    text = rules + table("allow", "/work/app/src/a.py", more='tool = "Edit"')
    read = read_rules(text, "rules.toml", "/work/app", Trust.RESTRICT)
    assert with_tests_held(read, Protected()).failed == ()
    assert with_tests_held(read, Protected()).counting == ()


def test_tests_look_at_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / ".env").write_text("KEY=1")
    (tmp_path / "shop" / "out").symlink_to("/etc")
    rules = '[[rule]]\nverdict = "allow"\nmatch = ["Bash(grep *)", "Read(./**)"]\n'
    here = 'project = "~/shop"'
    tests = table("allow", "grep -r x .", more=here)
    assert held(tests + table("allow", "out/a", more=f'{here}\ntool = "Read"'), rules).failed == ()
