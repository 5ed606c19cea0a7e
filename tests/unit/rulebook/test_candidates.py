"""Rules that could be suggested, and what each one covers."""

from crabhook.model.event import Event
from crabhook.policy.evaluate import Policy
from crabhook.policy.rule import RuleSet
from crabhook.rulebook.candidates import Candidate, Coverage, JudgedCall, candidates, distinct, seen
from tests.unit.policy.law import bash, call
from tests.unit.rulebook.pasts import PROTECTED, past, under

MARK = "[redacted assigned len=42 #4acecfe0]"


def looked_at(*events: Event) -> list[JudgedCall]:
    found = [seen(one, under(), PROTECTED) for one in distinct(map(past, events))]
    return [one for one in found if one is not None]


def made_of(*events: Event) -> list[Candidate]:
    return candidates(looked_at(*events), PROTECTED)


def texts(*events: Event) -> list[str]:
    return list(dict.fromkeys(" ".join(one.rule.texts) for one in made_of(*events)))


def test_they_are_what_an_always_allow_would_offer_save_for_one_session() -> None:
    found = made_of(bash("git log -n 3"))
    assert [one.rule.texts for one in found] == [
        ("Bash(git log -n 3)",),
        ("Bash(git log *)",),
        ("Bash(git log *)",),
    ]
    assert [one.rule.scope.project for one in found] == [("/work/app",), ("/work/app",), ()]
    assert not any(one.rule.scope.session for one in found)
    assert [one.width for one in found] == [0, 1, 2]
    assert found[0].covers == "exactly `git log -n 3`, in /work/app"


def test_none_is_made_twice_and_the_narrowest_place_counts() -> None:
    found = made_of(bash("ls a; cat b"), bash("cat c; ls d"))
    wide = [one for one in found if set(one.rule.texts) == {"Bash(ls *)", "Bash(cat *)"}]
    assert [one.rule.scope.project for one in wide] == [("/work/app",), ()]


def test_none_takes_in_what_no_rule_is_made_of() -> None:
    assert texts(bash("python3 a.py")) == ["Bash(python3 a.py)"]
    assert texts(bash("rm a")) == ["Bash(rm a)"]
    assert texts(bash("git stash list")) == ["Bash(git stash list)"]
    assert texts(bash("rm -rf a"), bash("sudo ls")) == []


def test_none_names_a_secret_nor_could_be_read_as_an_option() -> None:
    assert texts(bash(f"deploy --key {MARK}")) == ["Bash(deploy *)"]
    assert texts(call("--add")) == []


def test_a_folder_that_is_not_absolute_has_no_rules() -> None:
    assert {one.rule.scope.project for one in made_of(bash("ls", "elsewhere/x"))} == {()}


def test_what_is_looked_up_is_what_the_policy_says() -> None:
    calls = looked_at(
        bash("ls a | grep b"),
        bash("ls c", "/work/other"),
        bash("grep d > e"),
        call("Read", file_path="/work/app/src/a"),
        call("Edit", file_path="/work/app/src/b"),
        call("Grep", pattern="x", path="/work/app/src"),
        call("WebFetch", url="https://a.org/b"),
        call("mcp__a__b"),
        call("mcp__a__c"),
        call("Skill", skill="a", args="b"),
        call("Agent", subagent_type="Explore"),
    )
    among = candidates(calls, PROTECTED)
    coverage = Coverage(among)
    covers = 0
    for one in calls:
        found = set(coverage.covering(one, coverage.parts(one)))
        for number, candidate in enumerate(among):
            policy = Policy([RuleSet((candidate.rule,))], PROTECTED)
            assert (one.verdict_of(policy) == "allow") == (number in found)
        covers += len(found)
    assert covers > len(among)
