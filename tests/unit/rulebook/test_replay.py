"""Past calls held against today's rules."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.wording import CRABHOOK
from crabhook.policy.rule import RuleScope
from crabhook.rulebook.history import ChangeKind, replay
from tests.support.rows import every_row
from tests.unit.policy.law import NOW, bash, rule
from tests.unit.rulebook.pasts import past, under

RULE = "rule allow Bash(ls *) (rules.toml, line 1)"
ORDER = "allow everything of this session"
LAW = under(
    rule("allow", "Bash(ls *)"),
    rule("deny", "Bash(rm *)"),
    rule("ask-operator", "Bash(make *)"),
    rule("ask-agent's-user", "Bash(who *)"),
    rule("pass", "Bash(id *)"),
)


@every_row(
    "command, was, by, edited, kind",
    [
        ("ls", "allow", "operator", False, None),
        ("ls", "deny", "operator", False, ChangeKind.OVERRULED),
        ("ls", "deny", RULE, False, ChangeKind.ALLOWED),
        ("ls", "ask-agent's-user", "operator", False, ChangeKind.ALLOWED),
        ("ls", "pass", CRABHOOK, False, ChangeKind.ALLOWED),
        ("ls", "allow", "operator", True, ChangeKind.EDITED),
        ("rm x", "allow", "operator", False, ChangeKind.DENIED),
        ("rm x", "allow", ORDER, False, ChangeKind.DENIED),
        ("rm x", "deny", "operator", False, None),
        ("rm x", "allow", "operator", True, ChangeKind.EDITED),
        ("make", "allow", "operator", False, None),
        ("make", "allow", "operator", True, None),
        ("make", "allow", RULE, False, ChangeKind.ASKED),
        ("make", "allow", ORDER, False, ChangeKind.ASKED),
        ("make", "pass", CRABHOOK, False, None),
        ("who", "allow", "operator", False, ChangeKind.ASKED),
        ("who", "ask-agent's-user", RULE, False, None),
        ("id", "allow", "operator", False, ChangeKind.PASSED),
        ("id", "pass", "operator", False, None),
        ("cat a", "allow", "operator", False, None),
        ("cat a", "allow", "operator", True, None),
        ("cat a", "deny", RULE, False, ChangeKind.OPEN),
        ("cat a", "deny", "the rules", False, ChangeKind.OPEN),
        ("cat a", "allow", ORDER, False, None),
        ("cat a", "pass", CRABHOOK, False, None),
    ],
)  # fmt: skip
def test_a_call_changes_where_it_would_end_in_another_way(
    command: str, was: str, by: str, edited: bool, kind: ChangeKind | None
) -> None:
    found = replay([past(bash(command), was, by=by, edited=edited)], LAW)
    assert [change.kind for change in found.changes] == ([kind] if kind else [])
    assert (found.calls, found.unchanged) == (1, 0 if kind else 1)


def test_a_change_says_what_was_what_is_and_by_which_rule() -> None:
    call = past(bash("ls -l"), "deny")
    (change,) = replay([call], LAW).changes
    assert (change.call, change.was, change.now) == (call, "deny", "allow")
    assert change.rule is not None
    assert change.rule.texts == ("Bash(ls *)",)
    assert "Bash(ls *)" in change.why
    (opened,) = replay([past(bash("cat a"), "allow", by=RULE)], LAW).changes
    assert (opened.now, opened.rule) == (None, None)


def test_what_the_operator_decided_and_rules_would_now_is_counted_apart() -> None:
    calls = [past(bash("ls")), past(bash("cat a")), past(bash("ls"), by=RULE)]
    found = replay(calls, LAW)
    assert (found.unchanged, found.spared) == (3, 1)
    assert not found.counts


def test_a_rule_that_has_ended_or_is_for_another_session_changes_nothing() -> None:
    law = under(
        rule("deny", "Bash", expires=NOW - timedelta(seconds=1)),
        rule("deny", "Bash", scope=RuleScope(session=("s2",))),
    )
    assert replay([past(bash("ls"))], law).changes == []


def test_a_rule_for_one_session_is_held_against_that_sessions_calls() -> None:
    law = under(rule("deny", "Bash", scope=RuleScope(session=("s1",))))
    assert replay([past(bash("ls"))], law).counts == {ChangeKind.DENIED: 1}


COMMANDS = st.sampled_from(["ls", "ls a", "rm x", "make", "who", "id", "ls; rm x", "ls | id", "cat a", "ls `", "sudo rm x"])  # fmt: skip


@given(st.lists(COMMANDS, max_size=20))
def test_what_the_same_rules_decided_does_not_change(commands: list[str]) -> None:
    events = [bash(command) for command in commands]
    rulings = [LAW(event).ruling(event) for event in events]
    calls = [
        past(event, str(ruling.verdict), by=f"rule {ruling.rule} (rules.toml, line 1)")
        for event, ruling in zip(events, rulings, strict=True)
        if ruling.verdict not in (None, "ask-operator")
    ]
    found = replay(calls, LAW)
    assert (found.changes, found.unchanged) == ([], len(calls))
