"""Rules that would have spared the operator decisions."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.event import Event
from crabhook.policy.evaluate import Policy
from crabhook.policy.propose import DEFAULT_LIFE
from crabhook.policy.rule import Rule, RuleSet
from crabhook.rulebook.history import PastCall, recalled
from crabhook.rulebook.suggest import Suggested, SuggestionLimits, suggest
from tests.support.examples import examples
from tests.unit.policy.law import NOW, bash, call, rule
from tests.unit.rulebook.pasts import PROTECTED, past, under

OTHER = "/work/other"


def wish_for(
    *calls: PastCall, today: Sequence[Rule] = (), wish: SuggestionLimits | None = None
) -> Suggested:
    return suggest(calls, under(*today), PROTECTED, wish)


def texts(found: Suggested) -> list[tuple[str, ...]]:
    return [one.rule.texts for one in found.suggestions]


def allowed(*commands: str, cwd: str = "/work/app") -> list[PastCall]:
    return [past(bash(command, cwd)) for command in commands]


LOGS = allowed("git log -n 1", "git log -n 2", "git log -n 3")


def test_a_rule_that_would_have_spared_three_decisions_is_suggested() -> None:
    found = wish_for(*LOGS, *allowed("cat a", "cat b"))
    (one,) = found.suggestions
    assert one.rule.texts == ("Bash(git log *)",)
    assert one.rule.scope.project == ("/work/app",)
    assert one.rule.expires == NOW + DEFAULT_LIFE
    assert (one.covered, one.spares, one.adds, one.denials) == (3, 3, 3, ())
    assert list(one.examples) == LOGS[::-1]
    assert (found.allows, found.different, found.looked_at, found.decided) == (5, 5, 5, 0)


def test_how_often_it_must_have_served_can_be_chosen() -> None:
    assert texts(wish_for(*LOGS, wish=SuggestionLimits(at_least=4))) == []
    assert texts(wish_for(*allowed("cat a"), wish=SuggestionLimits(at_least=1))) == [
        ("Bash(cat a)",)
    ]
    assert texts(wish_for(*allowed("cat a"), wish=SuggestionLimits(at_least=0))) == [
        ("Bash(cat a)",)
    ]


def test_the_narrower_of_two_that_cover_as_much_is_suggested() -> None:
    (one,) = wish_for(*allowed("npm run build") * 3).suggestions
    assert one.rule.texts == ("Bash(npm run build)",)
    assert one.rule.scope.project == ("/work/app",)
    (wide,) = wish_for(*LOGS, *allowed("git log", cwd=OTHER)).suggestions
    assert wide.rule.scope.project == ()


def test_the_most_useful_comes_first_and_none_repeats_another() -> None:
    found = wish_for(*LOGS, *allowed("cat a", "cat b", "cat c", "cat d", "ls; cat e"))
    assert texts(found) == [("Bash(cat *)",), ("Bash(git log *)",)]
    assert [one.adds for one in found.suggestions] == [4, 3]


def test_a_matcher_that_hardly_served_is_not_brought_in_by_a_long_line() -> None:
    found = wish_for(*LOGS, *allowed("git log; make all"))
    assert texts(found) == [("Bash(git log *)",)]
    together = wish_for(*allowed("git log; make a", "git log; make b", "git log -n 1; make c"))
    assert texts(together) == []
    daily = wish_for(*allowed("cd src && make", "cd src && make", "cd src; make"))
    assert texts(daily) == [("Bash(cd src)", "Bash(make)")]


@pytest.mark.parametrize(
    "call",
    [
        past(bash("cat a"), by="rule allow Bash (rules.toml, line 1)"),
        past(bash("cat a"), by="allow everything of this session"),
        past(bash("cat a"), edited=True),
        past(bash("cat a"), "pass"),
        past(bash("cat a"), "ask-agent's-user"),
    ],
)
def test_only_what_the_operator_allowed_as_it_was_asked_speaks_for_a_rule(call: PastCall) -> None:
    found = wish_for(call, call, call)
    assert (texts(found), found.allows) == ([], 0)


@pytest.mark.parametrize("by", ["operator", "rule deny Bash (rules.toml, line 1)"])
def test_what_was_denied_by_whomever_speaks_against_it(by: str) -> None:
    denied = past(bash("git log --patch x"), "deny", by=by)
    assert texts(wish_for(denied, *LOGS)) == []
    assert texts(wish_for(*LOGS, denied)) == []
    exact = allowed("git log") * 3
    assert texts(wish_for(denied, *exact, *LOGS)) == [("Bash(git log)",)]


def test_a_denial_in_another_project_speaks_against_a_rule_for_all_of_them() -> None:
    denied = past(bash("git log --patch x", OTHER), "deny")
    found = wish_for(denied, *LOGS, *allowed("git log", "git log", cwd=OTHER))
    assert [one.rule.scope.project for one in found.suggestions] == [("/work/app",)]


def test_with_denials_they_are_shown_with_the_rule() -> None:
    denied = past(bash("git log --patch x"), "deny")
    found = wish_for(denied, *LOGS, wish=SuggestionLimits(with_denials=True))
    (one,) = found.suggestions
    assert one.denials == (denied,)


def test_two_rules_never_let_through_together_what_was_denied() -> None:
    calls = [*LOGS, *allowed("cat a", "cat b", "cat c", "cat d")]
    denied = past(bash("cat a; git log -p"), "deny")
    assert texts(wish_for(*calls, denied)) == [("Bash(cat *)",)]
    today = [rule("allow", "Bash(cat *)")]
    assert texts(wish_for(*calls, denied, today=today)) == []
    assert texts(wish_for(*calls, today=today)) == [("Bash(git log *)",)]


def test_a_secret_that_was_taken_out_hides_nothing_of_what_was_denied() -> None:
    mark = "[redacted assigned len=42 #4acecfe0]"
    denied = past(bash(f"export TOKEN={mark}; git log"), "deny")
    today = [rule("allow", "Bash(export *)")]
    assert texts(wish_for(denied, *LOGS, today=today)) == []
    assert texts(wish_for(*LOGS, today=today)) == [("Bash(git log *)",)]


def test_what_todays_rules_speak_of_already_is_counted_but_needs_no_rule() -> None:
    today = [rule("allow", "Bash(git log -n 1)"), rule("ask-operator", "Bash(git log -n 2)")]
    found = wish_for(*LOGS, *allowed("git log -n 4", "git log -n 5"), today=today)
    (one,) = found.suggestions
    assert (one.covered, one.spares, one.adds, found.decided) == (5, 3, 3, 2)
    assert texts(wish_for(*LOGS, today=[rule("deny", "Bash")])) == []


def test_a_rule_is_suggested_for_what_it_would_spare_beside_todays_denials() -> None:
    """Beside a denial, a line that writes a file and then runs code is asked about."""
    may_start = allowed(*["echo a > b && npm run a"] * 3)
    assert texts(wish_for(*may_start)) != []
    assert texts(wish_for(*may_start, today=[rule("deny", "Bash(ls *)")])) == []


def test_only_so_many_different_calls_are_looked_at_the_most_frequent_first() -> None:
    calls = [*allowed("cat a", "cat b", "cat c"), *allowed("ls") * 3]
    found = wish_for(*calls, wish=SuggestionLimits(distinct=1))
    assert texts(found) == [("Bash(ls)",)]
    assert (found.allows, found.different, found.looked_at) == (6, 4, 1)


def test_only_so_many_are_suggested() -> None:
    calls = [one for n in range(5) for one in allowed(f"tool{n} a") * 3]
    assert len(wish_for(*calls, wish=SuggestionLimits(most=2)).suggestions) == 2


def test_no_past_no_suggestion() -> None:
    assert wish_for() == Suggested((), 0, 0, 0, 0)


def test_other_tools_are_suggested_too() -> None:
    reads = [past(call("Read", file_path=f"/work/app/src/{name}")) for name in "abc"]
    fetches = [past(call("WebFetch", url=f"https://a.org/{name}")) for name in "abcd"]
    asked = [past(call("AskUserQuestion"))] * 3
    assert texts(wish_for(*reads, *fetches, *asked)) == [
        ("WebFetch(domain:a.org)",),
        ("Read(//work/app/src/**)",),
    ]


WORDS = st.sampled_from(
    ["ls", "ls a", "ls 'a b'", "cat a", "cat b", "git log", "git log -p", "git status", "npm run a",
     "npm run a -- b", "make x", "cd src", "rm a", "python3 a.py", "echo a > b", "FOO=1 ls", "$x"]
)  # fmt: skip
COMMANDS = st.lists(WORDS, min_size=1, max_size=3).map(" && ".join)
EVENTS = st.one_of(
    st.builds(bash, COMMANDS, st.sampled_from(["/work/app", "/work/app/src", OTHER])),
    st.builds(lambda name: call("Read", file_path=f"/work/app/{name}"), st.sampled_from("abcd")),
    st.builds(lambda name: call(f"mcp__s__{name}"), st.sampled_from("abc")),
)
PASTS = st.lists(
    st.builds(past, EVENTS, st.sampled_from(["allow", "allow", "allow", "deny"])), max_size=40
)
TODAYS = st.lists(
    st.builds(
        rule,
        st.sampled_from(["allow", "deny", "ask-operator", "pass"]),
        st.sampled_from(["Bash(ls *)", "Bash(cat a)", "Bash(cd *)", "Read", "mcp__s__a"]),
    ),
    max_size=3,
)


def allows(event: Event, *rules: Rule) -> bool:
    event = recalled(event)
    there = under()(event)
    ruling = Policy([RuleSet(rules)], PROTECTED).examine(event, there.context)
    return ruling.verdict == "allow"


@examples(60)
@given(PASTS, TODAYS)
def test_nothing_that_was_denied_is_ever_let_through(
    calls: list[PastCall], today: list[Rule]
) -> None:
    found = wish_for(*calls, today=today, wish=SuggestionLimits(at_least=1))
    rules = [one.rule for one in found.suggestions]
    for one in calls:
        if one.verdict == "deny":
            assert not any(allows(one.event, each) for each in rules)
            assert allows(one.event, *today) or not allows(one.event, *today, *rules)


@examples(60)
@given(PASTS, TODAYS)
def test_a_suggestion_allows_each_call_that_it_counts(
    calls: list[PastCall], today: list[Rule]
) -> None:
    found = wish_for(*calls, today=today, wish=SuggestionLimits(at_least=1))
    mine = [one.event for one in calls if one.verdict == "allow"]
    law = under(*today)
    open_today = [one for one in mine if law(recalled(one)).ruling(recalled(one)).verdict is None]
    done: list[Event] = []
    for one in found.suggestions:
        assert one.covered == sum(allows(event, one.rule) for event in mine)
        spared = [event for event in open_today if allows(event, *today, one.rule)]
        assert one.spares == len(spared)
        assert one.adds == sum(event not in done for event in spared) > 0
        done += spared
