"""Rule files, and what is wrong with them, by line."""

import contextlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.policy.rule import Expected, RuleFileError, RuleScope, RuleVerdict, Trust
from crabhook.policy.rulefile import read_rules
from tests.support.examples import examples
from tests.support.rows import every_row

WHOLE = """# mine
unprotect = ["ci"]

[[rule]]
verdict = "allow"
match = ["Bash(npm run *)", "Edit(./src/**)"]
note = "the day's work"
expires = 2027-01-31T00:00:00Z

[[rule]]  # never
verdict = "deny"
match = "Bash(rm *)"
scope = { project = "~/work", mode = ["plan", "default"] }

[[rule]]
verdict = "ask-agent's-user"
match = "Bash(x)"
[rule.scope]
session = "s"
"""


def test_a_file_is_read_as_it_is_written() -> None:
    rules = read_rules(WHOLE, "mine.toml")
    assert rules.unprotect == {"ci"}
    one, two, three = rules.rules
    assert (one.verdict, one.texts, one.note) == (
        RuleVerdict.ALLOW,
        ("Bash(npm run *)", "Edit(./src/**)"),
        "the day's work",
    )
    assert one.expires == datetime(2027, 1, 31, tzinfo=UTC)
    assert two.scope == RuleScope(project=("~/work",), mode=("plan", "default"))
    assert (three.verdict, three.scope) == (RuleVerdict.ASK_AGENTS_USER, RuleScope(session=("s",)))
    assert [rule.line for rule in rules.rules] == [4, 10, 15]
    assert two.where == "mine.toml, line 10"


@pytest.mark.parametrize("text", ["", "\n# nothing\n", "rule = []"])
def test_an_empty_file_has_no_rules(text: str) -> None:
    assert read_rules(text, "a").rules == ()


def test_a_file_remembers_whose_it_is() -> None:
    rules = read_rules("", "a", "/work/app", Trust.RESTRICT)
    assert (rules.folder, rules.trust) == ("/work/app", Trust.RESTRICT)


GOOD = '[[rule]]\nverdict = "deny"\nmatch = "Bash"\n'


@every_row(
    "text, line, what",
    [
        ("a = 1", 1, "there is no 'a'"), (GOOD + "\n[other]\nb = 1", 5, "there is no 'other'"),
        ("x y", 1, "not TOML"), (GOOD + "oops", 4, "not TOML"), ('[[rule]]\nverdict = "deny', 2, "not TOML"),
        (GOOD + "[[rule]]\nmatch = 'Bash'", 4, "has no verdict"), (GOOD + "[[rule]]\nverdict = 'deny'", 4, "has no match"),
        (GOOD + "[[rule]]\nverdict = 'maybe'\nmatch = 'Bash'", 5, "verdict must be one of"), (GOOD + "[[rule]]\nverdict = 7\nmatch = 'Bash'", 5, "verdict must be"),
        (GOOD + "colour = 'red'", 4, "there is no 'colour'"), (GOOD + "[[rule]]\nverdict = 'deny'\nmatch = 7", 6, "match must be"),
        (GOOD + "[[rule]]\nverdict = 'deny'\nmatch = []", 6, "match must be"), (GOOD + "[[rule]]\nverdict = 'deny'\nmatch = [7]", 6, "must be a text"),
        (GOOD + "[[rule]]\nverdict = 'deny'\nmatch = ['Bash',\n 'Read(!x)']", 7, "Read(!x)"), (GOOD + "[[rule]]\nverdict = 'allow'\nmatch = 'mcp__*'", 6, "star"),
        (GOOD + "note = 7", 4, "note must be"), (GOOD + "scope = 7", 4, "scope must be"), (GOOD + "scope = { day = 'x' }", 4, "scope has no 'day'"),
        (GOOD + "scope = { mode = 7 }", 4, "must be a text"), (GOOD + "scope = { project = 'work' }", 4, "absolute"), (GOOD + "[rule.scope]\nday = 'x'", 4, "scope has no"),
        (GOOD + "expires = 2027-01-31", 4, "with its zone"), (GOOD + "expires = 2027-01-31T00:00:00", 4, "with its zone"), (GOOD + "expires = 'soon'", 4, "with its zone"),
        ("unprotect = 'nothing'", 1, "nothing protected is called"), ("\nunprotect = 7", 2, "unprotect must be"), ("rule = 7", 1, "rules are tables"),
        ("\n[rule]\nverdict = 'deny'", 2, "rules are tables"), ("rule = [{ verdict = 'deny' }]", 1, "has no match"),
        ('[[rule]]\nverdict = "deny"\nmatch = "Bash"\nnote = """\n[[rule]]\nmatch = 1\n"""\n[[rule]]\nverdict = "x"\nmatch = "Bash"', 9, "verdict must"),
        ("a = " + "[" * 5000, 1, "not TOML"),
        ("test = 7", 1, "tests are tables"), (GOOD + "[[test]]\nwhy = 'x'", 4, "has none of: allow, deny, ask"), (GOOD + "[[test]]\nallow = 'a'\npass = 'b'", 6, "there is no 'pass'"),
        ("[[test]]\nallow = ['a',\n '']", 2, "allow holds an empty text"), ("[[test]]\ndeny = [7]", 2, "deny must be a text"), ("[[test]]\nask = []", 2, "ask must be"),
        ("[[test]]\nallow = 'a'\ntool = 'mcp__*'", 3, "the name of one tool"), ("[[test]]\nallow = 'a'\nproject = 'shop'", 3, "absolute path"), ("[[test]]\nallow = 'a'\nwhy = 7", 3, "why must be"),
        ("[[test]]\nallow = [" + "\n'a'," * 1001 + "]", 2, "more than 1000 calls"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(RuleFileError) as caught:
        read_rules(text, "mine.toml")
    assert what in str(caught.value)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"mine.toml, line {line}: ")


def test_each_call_of_a_test_is_read_with_its_line() -> None:
    text = (
        GOOD
        + '\n[[test]]\nwhy = "x"\nask = ["b",\n  "c d"]\nallow = "a"\ntool = "Edit"\nproject = "~/y"\n'
    )
    tests = read_rules(text, "r").tests
    assert [(test.expected, test.text, test.line) for test in tests] == [
        (Expected.ALLOW, "a", 9),
        (Expected.ASK, "b", 7),
        (Expected.ASK, "c d", 8),
    ]
    assert {(test.tool, test.project, test.why) for test in tests} == {("Edit", "~/y", "x")}


def test_a_projects_file_is_tested_in_no_other_project() -> None:
    with pytest.raises(RuleFileError, match="line 3: a project's file is tested in its own"):
        read_rules('[[test]]\nallow = "a"\nproject = "/b"', "a", "/work/app")


def test_a_projects_file_takes_nothing_off_the_protected_list() -> None:
    with pytest.raises(RuleFileError, match="only the user's own"):
        read_rules("unprotect = ['ci']", "a", "/work/app")


@examples(60)
@given(st.text(max_size=60) | st.sampled_from([WHOLE[n:] for n in range(0, len(WHOLE), 7)]))
def test_any_text_is_rules_or_an_error_with_a_line(text: str) -> None:
    lines = range(1, text.count("\n") + 2)
    with contextlib.suppress(RuleFileError):
        assert all(rule.line in lines for rule in read_rules(text, "a").rules)
        return
    with pytest.raises(RuleFileError) as caught:
        read_rules(text, "a")
    assert caught.value.line in lines
