"""Rules that can never decide: each that is named decides nothing, and the plain cases are named."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.policy.dead_rules import dead_rules
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import Rule, RuleScope, RuleSet
from tests.support.examples import examples
from tests.support.rows import every_row
from tests.unit.policy import law

DENY, ASK, ALLOW, PASS = "deny", "ask-operator", "allow", "pass"


def dead(*rules: Rule) -> list[Rule]:
    return [found.rule for found in dead_rules(RuleSet(rules))]


@every_row(
    "before, wide, verdict, narrow",
    [
        (DENY, "Bash(git push *)", DENY, "Bash(git push origin *)"), (DENY, "Bash(rm *)", DENY, "Bash(rm -f)"), (DENY, "Bash(rm x)", ASK, "Bash(rm x)"),
        (ALLOW, "Bash(npm *)", ALLOW, "Bash(npm run *)"), (ALLOW, "Bash(npm *)", PASS, "Bash(npm:*)"), (ALLOW, "Bash", ALLOW, "Bash(ls *)"),
        (DENY, "Bash", ALLOW, "Bash(ls *)"), (ASK, "Bash", ALLOW, "Bash(ls)"), (DENY, "mcp__git", ALLOW, "mcp__git__push"),
        (DENY, "*", ALLOW, "WebSearch"), (DENY, "mcp__a__*", ASK, "mcp__a__b(key:x)"), (DENY, "Agent", ALLOW, "Agent(Explore)"),
        (ALLOW, "WebFetch", ALLOW, "WebFetch(domain:a.org)"), (DENY, "WebFetch(domain:a.org)", ALLOW, "WebFetch(domain:a.org)"), (ALLOW, "Edit(./src/**)", ALLOW, "Edit(./src/**)"),
    ],
)  # fmt: skip
def test_a_rule_behind_one_that_takes_in_all_of_it_is_named(
    before: str, wide: str, verdict: str, narrow: str
) -> None:
    other, rule = law.rule(before, wide), law.rule(verdict, narrow)
    assert dead(other, rule) == [rule]
    assert dead(rule, other) == ([rule] if before != verdict else [other] if wide == narrow else [])


@every_row(
    "verdict, text",
    [
        (ALLOW, "AskUserQuestion"), (PASS, "ExitPlanMode"), (DENY, "WebFetch(domain:.example.com)"), (ALLOW, "WebFetch(domain:a..org)"),
        (ALLOW, "WebFetch(domain:localhost:3000)"),
    ],
)  # fmt: skip
def test_a_rule_that_nothing_can_match_is_named(verdict: str, text: str) -> None:
    rule = law.rule(verdict, text)
    assert dead(rule) == [rule]


@every_row(
    "before, wide, verdict, narrow",
    [
        (ALLOW, "Bash(git *)", ALLOW, "Bash(git)"), (ALLOW, "Bash", ALLOW, "Bash(find . -delete)"), (DENY, "Edit", DENY, "Edit(./a)"), (DENY, "Read", DENY, "Read(.env)"),
        (DENY, "Bash(ls*)", DENY, "Bash(lsof *)"), (ALLOW, "Bash(A*)", ALLOW, "Bash(A=1 x *)"), (DENY, "Bash(git * main)", DENY, "Bash(git push main)"),
        (DENY, "AskUserQuestion", DENY, "WebFetch(domain:*)"), (ALLOW, "Bash(npm *)", ALLOW, "Bash(npm --script-shell *)"), (DENY, "Bash(git push *)", ALLOW, "Bash(git *)"),
    ],
)  # fmt: skip
def test_a_rule_that_may_decide_is_not_named(
    before: str, wide: str, verdict: str, narrow: str
) -> None:
    assert dead(law.rule(before, wide), law.rule(verdict, narrow)) == []


def test_a_rule_behind_one_that_holds_elsewhere_or_ends_sooner_is_not_named() -> None:
    narrow = law.rule(DENY, "Bash(git push)")
    here = RuleScope(project=("/work/app",))
    soon, later = law.NOW, law.NOW + timedelta(days=1)
    assert dead(law.rule(DENY, "Bash(git *)", scope=here), narrow) == []
    assert dead(law.rule(DENY, "Bash(git *)", expires=later), narrow) == []
    first = law.rule(DENY, "Bash(git *)", scope=here, expires=soon)
    assert dead(first, law.rule(DENY, "Bash(git push)", scope=here, expires=later)) == []
    ends = law.rule(DENY, "Bash(git push)", scope=here, expires=soon)
    assert dead(first, ends) == [ends]


def test_paths_below_the_project_of_another_scope_are_others() -> None:
    one, other = (RuleScope(project=(name,)) for name in ("/a", "/b"))
    wide = law.rule(ALLOW, "Edit(/src/**)")
    assert dead(wide, law.rule(ALLOW, "Edit(/src/**)", scope=one)) == []
    assert (
        dead(law.rule(ALLOW, "Edit(/x)", scope=one), law.rule(ALLOW, "Edit(/x)", scope=other)) == []
    )


def test_each_matcher_of_a_rule_must_be_taken_and_each_taker_is_named() -> None:
    rules = law.rule(DENY, "Bash(rm *)"), law.rule(DENY, "Bash(git *)")
    both = law.rule(DENY, "Bash(rm x)", "Bash(git push)")
    (found,) = dead_rules(RuleSet((*rules, both)))
    assert "deny Bash(rm *)" in found.why
    assert "deny Bash(git *)" in found.why
    assert "can never decide" in str(found)
    assert dead(*rules, law.rule(DENY, "Bash(rm x)", "Bash(mv *)")) == []


TEXTS = [
    "Bash",
    "Bash(git *)",
    "Bash(git push *)",
    "Bash(git push)",
    "Bash(git*)",
    "Bash(rm *)",
    "Bash(rm x)",
    "Bash(A=1 rm *)",
    "Bash(sh *)",
    "Bash(sh -c *)",
    "Bash(find *)",
    "Bash(find . -delete)",
    "Bash(find b -delete)",
    "Bash(npm *)",
    "Bash(npm --script-shell *)",
    "Read",
    "Read(./**)",
    "Edit",
    "Edit(./a)",
    "Write",
    "WebFetch",
    "WebFetch(domain:a.org)",
    "Agent",
    "Agent(x)",
    "mcp__a",
    "mcp__a__b",
    "Bash('rm' *)",
    'Bash(rm "x" *)',
]
CALLS = [
    *map(
        law.bash,
        [
            "git push",
            "git push origin main",
            "git",
            "rm x",
            "A=1 rm x",
            "sh -c 'rm x'",
            "find . -delete",
            "find b -delete",
            "npm --script-shell x",
            "timeout 5 git push",
            "xargs rm < l",
            "$X x",
            "git $(echo push)",
            "echo rm x | sh",
            "> a",
            'rm "x" y',
            "cat < a && git push",
            "env rm x",
            "find . -exec rm x \\",
            "",
            "gitk",
            "python3 -c 'rm x'",
            "cat a",
        ],
    ),
    law.call("Read", file_path="/work/app/a"),
    law.call("Edit", file_path="/work/app/a"),
    law.call("Write", file_path="/work/app/a"),
    law.call("WebFetch", url="https://a.org/x"),
    law.call("Agent", subagent_type="x"),
    law.call("mcp__a__b", key="x"),
]


# A rule, and another that it may take in; of each two, other calls tell.
PAIRS = [
    ("Bash(find *)", "Bash(find b -delete)"),
    ("Bash(npm *)", "Bash(npm --script-shell *)"),
    ("Bash(git *)", "Bash(git push)"),
    ("Bash(rm *)", "Bash(rm x)"),
    ("Read", "Read(./**)"),
    ("Edit", "Edit(./a)"),
    ("WebFetch", "WebFetch(domain:a.org)"),
    ("Agent", "Agent(x)"),
    ("mcp__a", "mcp__a__b"),
]
VERDICTS = st.sampled_from([DENY, ASK, ALLOW, PASS])
ANY_RULES = st.lists(st.builds(law.rule, VERDICTS, st.sampled_from(TEXTS)), min_size=2, max_size=6)


def in_pairs(verdicts: st.SearchStrategy[str]) -> st.SearchStrategy[list[Rule]]:
    """All the pairs at once: so few examples try every pair with most verdicts."""
    texts = [text for pair in PAIRS for text in pair]
    return st.tuples(*(st.builds(law.rule, verdicts, st.just(text)) for text in texts)).map(list)


# Any denial of a command keeps an allow from what may start a program.
RELEASING = st.sampled_from([ALLOW, PASS])


@examples(150)
@given(ANY_RULES | in_pairs(VERDICTS) | in_pairs(RELEASING))
def test_without_the_rules_that_are_named_each_call_is_decided_as_before(
    rules: list[Rule],
) -> None:
    placed = [
        Rule(rule.verdict, rule.texts, rule.matchers, line=line)
        for line, rule in enumerate(rules, 1)
    ]
    if not (named := dead(*placed)):
        return
    whole = Policy([RuleSet(tuple(placed))], Protected())
    rest = Policy([RuleSet(tuple(rule for rule in placed if rule not in named))], Protected())
    for call in CALLS:
        ruling, without = (some.examine(call, law.context()) for some in (whole, rest))
        assert (ruling.verdict, ruling.rule) == (without.verdict, without.rule)
        assert ruling.rule not in named or ruling.rule is None


@pytest.mark.parametrize("count", [3000])
def test_a_file_of_thousands_of_rules_is_looked_through_at_once(count: int) -> None:
    rules = [law.rule(ALLOW, f"Bash(tool{number} *)") for number in range(count)]
    assert dead(*rules, rules[7]) == [rules[7]]
