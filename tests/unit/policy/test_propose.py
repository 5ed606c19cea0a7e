"""Rules that "always allow" and "always deny" may mean."""

from dataclasses import replace
from datetime import timedelta

import pytest

from crabhook.model.event import Event
from crabhook.policy.evaluate import Policy
from crabhook.policy.propose import (
    DEFAULT_LIFE,
    MOST_DENIALS,
    RuleProposal,
    propose,
    propose_denials,
    tried_each,
    why_no_denial,
)
from crabhook.policy.protected import Protected
from crabhook.policy.rule import RuleSet, RuleVerdict
from tests.support.rows import every_row
from tests.unit.policy.law import NOW, allowing, bash, call, context, verdict

OF_A_SERVER = {"mcp_context": {"server_name": "a", "tool_name": "b"}}


def proposals(event: Event) -> list[RuleProposal]:
    return list(propose(event, context(), Protected()))


def texts(event: Event) -> list[str]:
    return list(dict.fromkeys(" ".join(one.rule.texts) for one in proposals(event)))


@every_row(
    "event, offered",
    [
        (bash("git log --oneline"), ["Bash(git log --oneline)", "Bash(git log *)"]),
        (bash("npm run build"), ["Bash(npm run build)", "Bash(npm run build *)"]),
        (bash("pytest -q tests"), ["Bash(pytest -q tests)", "Bash(pytest *)"]),
        (bash("python3.12 tool.py"), ["Bash(python3.12 tool.py)"]),
        (bash("rm a.txt"), ["Bash(rm a.txt)"]),
        (bash("timeout 5 ls -l"), ["Bash(ls -l)", "Bash(ls *)"]),
        (bash("ls a | grep b"), ["Bash(ls a) Bash(grep b)", "Bash(ls *) Bash(grep *)"]),
        (call("Read", file_path="/work/app/src/a"), ["Read(//work/app/src/a)", "Read(//work/app/src/**)", "Read(./**)"]),
        (call("Write", file_path="/work/app/src/a"), ["Edit(//work/app/src/a)", "Edit(//work/app/src/**)", "Edit(./**)"]),
        (call("WebFetch", url="https://a.org/b"), ["WebFetch(domain:a.org)"]),
        (call("mcp__a__b"), ["mcp__a__b", "mcp__a__*"]), (call("Agent", subagent_type="Explore"), ["Agent(Explore)"]),
        (replace(call("mcp_a_b", platform="gemini"), fields=OF_A_SERVER), ["mcp__a__b", "mcp__a__*"]),
        (call("Skill", skill="a", args="b"), ["Skill(a b)", "Skill(a *)"]), (call("WebSearch", query="a"), ["WebSearch"]),
    ],
)  # fmt: skip
def test_rules_are_offered_from_narrow_to_wide(event: Event, offered: list[str]) -> None:
    assert texts(event) == offered


def test_every_rule_that_is_offered_allows_the_call_it_was_made_of_and_ends() -> None:
    for event in (
        bash("git log -n 3 && ls > /work/app/a"),
        call("Edit", file_path="/work/app/a"),
        bash("ls 'a b' \"c\""),
    ):
        found = proposals(event)
        assert found
        for one in found:
            assert verdict(allowing(*one.rule.texts), event) == "allow"
            assert one.rule.expires == NOW + DEFAULT_LIFE
            assert one.covers


def test_the_narrowest_is_for_this_session_and_the_widest_for_every_project() -> None:
    scopes = [one.rule.scope for one in proposals(bash("ls a"))]
    assert scopes[0].session == ("s1",)
    assert scopes[1].project == ("/work/app",)
    assert (scopes[-1].session, scopes[-1].project) == ((), ())


@every_row(
    "event",
    [
        bash("rm -rf x"), bash("sudo ls"), bash("curl x | sh"), bash("git push --force"), bash("ls; $x"), bash("ls `"), bash("cat ~/.ssh/id_rsa"), bash("echo a > ~/.bashrc"),
        call("Read", file_path="/work/app/.env"), call("AskUserQuestion"), call("Edit"), Event("claude", "Stop"),
    ],
)  # fmt: skip
def test_for_some_calls_none_is_offered(event: Event) -> None:
    assert texts(event) == []


def test_a_command_that_a_rule_cannot_write_is_offered_only_wider() -> None:
    assert texts(bash("ls 'a*'")) == ["Bash(ls *)"]
    assert texts(bash("ls 'a b' c")) == ['Bash(ls "a b" c)', "Bash(ls *)"]
    assert texts(bash("git -C a log")) == ["Bash(git -C a log)"]


def test_an_end_may_be_chosen() -> None:
    end = NOW + timedelta(days=1)
    assert {one.rule.expires for one in propose(bash("ls"), context(), Protected(), end)} == {end}


def test_a_proposal_shows_what_it_would_have_covered_and_which_denials_it_would_undo() -> None:
    wide = next(
        one
        for one in proposals(bash("git log -p"))
        if one.rule.texts == ("Bash(git log *)",) and not one.rule.scope.session
    )
    denied = bash("git log --patch x")
    past = [
        (bash("git log"), RuleVerdict.ALLOW),
        (denied, RuleVerdict.DENY),
        (bash("git diff"), RuleVerdict.DENY),
        (bash("git log; rm x"), RuleVerdict.DENY),
    ]
    (trial,) = tried_each((wide,), past, lambda _: context(), Protected())
    assert (trial.covered, trial.undone) == (2, (denied,))


def test_several_proposals_are_tried_as_each_would_be_alone() -> None:
    asked = bash("git log -p")
    past = [
        (bash(command), denied)
        for command in ("git log -p", "git log", "git log; rm x", "git log > ~/.bashrc", "ls", "'")
        for denied in (RuleVerdict.ALLOW, RuleVerdict.DENY)
    ]
    offered = proposals(asked)
    trials = tried_each(offered, past, lambda _: context(), Protected())
    assert [trial.covered for trial in trials] == [2, 2, 4, 4]
    assert [list(trial.undone) for trial in trials] == [
        [asked], [asked], [asked, bash("git log")], [asked, bash("git log")],
    ]  # fmt: skip
    for one, trial in zip(offered, trials, strict=True):
        assert tried_each((one,), past, lambda _: context(), Protected()) == (trial,)


def test_a_proposal_says_what_it_gives_away_beside() -> None:
    found = propose(bash("make all"), context(), Protected())
    said = {one.rule.texts[0]: one.gives_away for one in found}
    assert said["Bash(make all)"] == ()
    assert "SHELL=" in said["Bash(make all *)"][0]


def denial_texts(command: str) -> list[str]:
    found = propose_denials(bash(command), context(), Protected())
    return list(dict.fromkeys(text for one in found for text in one.rule.texts))


@pytest.mark.parametrize(
    ("command", "offered"),
    [
        ("rm -rf x", ["Bash(rm -rf x)", "Bash(rm *)"]),
        ("git push --force", ["Bash(git push --force)", "Bash(git push *)"]),
        ("cd x && ls a", ["Bash(cd x)", "Bash(cd *)", "Bash(ls a)", "Bash(ls *)"]),
        ("sudo ls", ["Bash(sudo ls)", "Bash(sudo *)"]),
    ],
)
def test_a_denial_is_offered_of_each_part_and_of_what_no_rule_may_allow(
    command: str, offered: list[str]
) -> None:
    assert denial_texts(command) == offered


@pytest.mark.parametrize(
    "command", ["rm -rf x", "cd x && make", "ls; $x", "curl x | sh", "cat ~/.ssh/id_rsa"]
)
def test_every_denial_that_is_offered_denies_the_call_it_was_made_from(command: str) -> None:
    event = bash(command)
    found = propose_denials(event, context(), Protected())
    assert found
    for one in found:
        assert one.rule.expires == NOW + DEFAULT_LIFE
        ruling = Policy([RuleSet((one.rule,))], Protected()).examine(event, context())
        assert ruling.verdict is RuleVerdict.DENY, one.rule


@pytest.mark.parametrize("event", [bash("ls `"), Event("claude", "Stop")])
def test_of_what_cannot_be_read_no_denial_is_offered(event: Event) -> None:
    assert propose_denials(event, context(), Protected()) == ()
    assert why_no_denial(event, context())


def test_a_line_of_many_commands_offers_a_bounded_number_of_denials() -> None:
    line = " && ".join(f"p{number} a" for number in range(200))
    assert len(propose_denials(bash(line), context(), Protected())) == MOST_DENIALS


def test_a_denial_shows_what_it_would_have_denied_and_which_allows_it_would_undo() -> None:
    wide = propose_denials(bash("rm x"), context(), Protected())[-1]
    assert wide.rule.texts == ("Bash(rm *)",)
    allowed = [bash("rm"), bash("cd x && rm -r a")]
    past = [
        *((event, RuleVerdict.ALLOW) for event in allowed),
        (bash("rm b"), RuleVerdict.DENY),
        (bash("ls"), RuleVerdict.ALLOW),
        (bash("rm b"), RuleVerdict.ASK_OPERATOR),
    ]
    (trial,) = tried_each((wide,), past, lambda _: context(), Protected())
    assert (trial.covered, list(trial.undone)) == (4, allowed)
