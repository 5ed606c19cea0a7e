"""The order of the law, and what counts in it."""

from datetime import timedelta

import pytest

from crabhook.model.event import Event
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import RuleScope, RuleSet, RuleVerdict, Trust
from tests.support.rows import every_row
from tests.unit.policy.law import NOW, OPEN, bash, call, context, policy, rule, verdict


def test_an_event_without_a_tool_is_left_open() -> None:
    assert verdict(policy(rule("allow", "Bash")), Event("claude", "Stop")) == OPEN


@pytest.mark.parametrize("backwards", [False, True])
def test_the_order_is_deny_ask_allow_pass_whatever_the_order_in_the_file(backwards: bool) -> None:
    rules = [
        rule("pass", "Bash(a *)", "Bash(b *)", "Bash(c *)", "Bash(d *)"),
        rule("allow", "Bash(a *)", "Bash(b *)", "Bash(c *)"),
        rule("ask-operator", "Bash(a *)", "Bash(b *)"),
        rule("deny", "Bash(a *)"),
    ]
    law = policy(*(reversed(rules) if backwards else rules))
    said = [verdict(law, bash(f"{name} x")) for name in "abcde"]
    assert said == ["deny", "ask-operator", "allow", "pass", OPEN]


def test_of_two_questions_the_first_in_the_file_is_asked() -> None:
    one, two = rule("ask-agent's-user", "Bash(a *)"), rule("ask-operator", "Bash(* x)")
    assert verdict(policy(one, two), bash("a x")) == "ask-agent's-user"
    assert verdict(policy(two, one), bash("a x")) == "ask-operator"
    assert verdict(policy(one, two), bash("b x; a y")) == "ask-agent's-user"


def test_a_ruling_names_the_rule_and_says_why_part_by_part() -> None:
    deny = rule("deny", "Bash(rm *)")
    ruling = policy(rule("allow", "Bash(ls *)"), deny).judge(bash("ls && rm x"), context())
    assert ruling is not None
    assert (ruling.verdict, ruling.rule) == (RuleVerdict.DENY, deny)
    assert [(part.text, part.verdict) for part in ruling.parts[:2]] == [
        ("ls", RuleVerdict.ALLOW),
        ("rm x", RuleVerdict.DENY),
    ]
    assert "Bash(rm *)" in ruling.why


def test_what_is_left_open_can_still_be_examined() -> None:
    ruling = policy(rule("allow", "Bash(ls *)")).examine(bash("ls; who"), context())
    assert ruling.verdict is None
    assert "who" in ruling.why
    assert [part.verdict for part in ruling.parts] == [RuleVerdict.ALLOW, None]


def test_a_pass_beside_an_allow_passes_the_whole() -> None:
    law = policy(rule("allow", "Bash(ls *)"), rule("pass", "Bash(date)"))
    assert verdict(law, bash("ls && date")) == "pass"


def test_a_rule_ends_when_it_expires() -> None:
    law = policy(rule("allow", "Bash(ls *)", expires=NOW + timedelta(seconds=1)))
    assert verdict(law, bash("ls")) == "allow"
    late = law.judge(bash("ls"), context(now=NOW + timedelta(seconds=1)))
    assert late is None


@every_row(
    "scope, holds",
    [
        (RuleScope(session=("s1",)), True),
        (RuleScope(session=("s2",)), False),
        (RuleScope(session=("s2", "s1")), True),
        (RuleScope(project=("/work/app",)), True),
        (RuleScope(project=("/work",)), True),
        (RuleScope(project=("/work/ap",)), False),
        (RuleScope(project=("/work/app/sub",)), False),
        (RuleScope(project=("~/x",)), False),
        (RuleScope(mode=("default",)), True),
        (RuleScope(mode=("manual",)), True),
        (RuleScope(mode=("plan",)), False),
        (RuleScope(platform=("claude",)), True),
        (RuleScope(platform=("codex",)), False),
        (RuleScope(agent_type=("",)), True),
        (RuleScope(agent_type=("Explore",)), False),
        (RuleScope(session=("s1",), mode=("plan",)), False),
    ],
)
def test_a_rule_holds_in_its_scope_alone(scope: RuleScope, holds: bool) -> None:
    for said in ("allow", "deny"):
        law = policy(rule(said, "Bash(ls *)", scope=scope))
        assert verdict(law, bash("ls")) == (said if holds else OPEN)


def _project(*rules: object, trust: Trust) -> Policy:
    return Policy([RuleSet(rules, "/work/app", trust)], Protected())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("trust", "allowed", "denied", "asked"),
    [
        (Trust.NONE, OPEN, OPEN, OPEN),
        (Trust.RESTRICT, OPEN, "deny", "ask-operator"),
        (Trust.FULL, "allow", "deny", "ask-operator"),
    ],
)
def test_a_projects_rules_count_as_far_as_they_are_trusted(
    trust: Trust, allowed: str, denied: str, asked: str
) -> None:
    rules = rule("allow", "Bash(a *)"), rule("deny", "Bash(b *)"), rule("ask-operator", "Bash(c *)")
    law = _project(*rules, trust=trust)
    assert [verdict(law, bash(f"{name} x")) for name in "abc"] == [allowed, denied, asked]


def test_a_projects_pass_needs_full_trust_as_its_allow_does() -> None:
    assert verdict(_project(rule("pass", "Bash"), trust=Trust.RESTRICT), bash("ls")) == OPEN


def test_a_projects_rules_hold_in_that_project_alone() -> None:
    rules = RuleSet((rule("deny", "Bash"),), "/work/other", Trust.FULL)
    assert verdict(Policy([rules], Protected()), bash("ls")) == OPEN


def test_a_projects_deny_beats_the_users_allow() -> None:
    user = RuleSet((rule("allow", "Bash(ls *)"),))
    theirs = RuleSet((rule("deny", "Bash(ls *)"),), "/work/app", Trust.RESTRICT)
    assert verdict(Policy([user, theirs], Protected()), bash("ls")) == "deny"


def test_only_the_users_own_file_takes_entries_off_the_protected_list() -> None:
    allow, off = rule("allow", "Bash", "Edit"), frozenset({"ci"})
    event = bash("tee .gitlab-ci.yml")
    own = Policy([RuleSet((allow,), unprotect=off)], Protected())
    theirs = Policy([RuleSet((allow,)), RuleSet((), "/work/app", Trust.FULL, off)], Protected())
    assert verdict(own, event) == "allow"
    assert verdict(theirs, event) == "ask-operator"


def test_slash_is_the_projects_root_in_its_own_file_and_in_the_users() -> None:
    own = rule("allow", "Edit(/src/**)")
    user = policy(own)
    theirs = _project(own, trust=Trust.FULL)
    for law in (user, theirs):
        assert (
            verdict(law, call("Edit", cwd="/work/app/sub", file_path="/work/app/src/a")) == "allow"
        )
        assert (
            verdict(law, call("Edit", cwd="/work/app/sub", file_path="/work/app/sub/src/a")) == OPEN
        )


def test_slash_in_a_rule_for_one_project_is_that_projects_root() -> None:
    law = policy(rule("allow", "Edit(/src/**)", scope=RuleScope(project=("/work",))))
    assert verdict(law, call("Edit", file_path="/work/src/a")) == "allow"
    assert verdict(law, call("Edit", file_path="/work/app/src/a")) == OPEN


def test_a_policy_knows_how_many_rules_count() -> None:
    assert len(policy(rule("allow", "Bash"), rule("deny", "Read"))) == 2
