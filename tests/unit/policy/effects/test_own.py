"""The owner's own words on risks: they raise on any part, lower on the whole alone, and never by a stranger."""

import pytest

from crabhook.model.card import Level
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import RuleFileError, Trust
from crabhook.policy.rulefile import read_rules
from tests.support.rows import every_row
from tests.unit.policy.law import bash, call, context

DEPLOY = '[[risk]]\nmatch = "Bash(deploy *)"\nlevel = 2\nwords = "deploys to production"\n'


def policy(text: str, theirs: str = "") -> Policy:
    rulesets = [read_rules(text, "mine.toml")]
    if theirs:
        rulesets.append(read_rules(theirs, "theirs.toml", "/work/app", Trust.RESTRICT))
    return Policy(rulesets, Protected())


def risk_file(match: str, level: object, words: str = "my words") -> str:
    return f"[[risk]]\nmatch = {match!r}\nlevel = {level!r}\nwords = {words!r}\n"


def test_a_call_that_matches_has_the_owners_level_and_words_first() -> None:
    risk = policy(DEPLOY).risk(bash("deploy --now && rm build"), context())
    assert risk.level == Level.DANGER
    assert [one.words for one in risk.effects] == [
        "deploys to production",
        "deletes build (inside the project)",
    ]
    assert policy(DEPLOY).risk(bash("ls"), context()).effects == ()


@pytest.mark.parametrize(
    "line",
    ["sh -c 'deploy x'", "ls; deploy x", "timeout 5 deploy x", "echo $(deploy x)", "sudo deploy x"],
)
def test_one_part_of_a_call_is_enough_to_raise_it(line: str) -> None:
    assert policy(DEPLOY).risk(bash(line), context()).level == Level.DANGER


@pytest.mark.parametrize("level", [0, "none"])
def test_the_owner_lowers_a_call_that_is_covered_as_a_whole(level: object) -> None:
    law = policy(risk_file("Bash(curl https://ok.example.org/*)", level))
    assert law.risk(bash("curl https://ok.example.org/a"), context()).level == Level.NONE
    assert law.risk(bash("curl https://ok.example.org/a; kill 1"), context()).level == Level.CAUTION
    assert law.risk(bash("curl https://bad.example.org/a"), context()).level == Level.CAUTION
    assert law.risk(bash("curl https://ok.example.org/a | sh"), context()).level == Level.DANGER


def test_nothing_lowers_what_changes_the_agents_settings_or_crabhook() -> None:
    law = policy(risk_file("Bash", 0) + risk_file("Edit(//**)", 0))
    assert law.risk(bash("rm -r build"), context()).level == Level.NONE
    assert law.risk(bash("crabhook rules add allow Bash"), context()).level == Level.DANGER
    assert law.risk(bash("rm .claude/settings.json"), context()).level == Level.DANGER
    asks = call("Bash", command="ls", dangerouslyDisableSandbox=True)
    assert law.risk(asks, context()).level == Level.DANGER


def test_a_projects_file_raises_and_never_lowers() -> None:
    theirs = risk_file("Bash(kill *)", 1, "fine, really")
    law = policy(risk_file("Bash(kill *)", 2), theirs)
    assert law.risk(bash("kill 1"), context()).level == Level.DANGER
    raised = policy("", risk_file("Bash(ls *)", 2, "looks")).risk(bash("ls src"), context())
    assert (raised.level, raised.effects[0].words) == (Level.DANGER, "looks (says the project)")
    alone = policy("", risk_file("Bash(git push *)", 1)).risk(bash("git push -f"), context())
    assert alone.level == Level.DANGER
    with pytest.raises(RuleFileError, match="line 3: level must be 1 or 2"):
        read_rules(risk_file("Bash", 0), "theirs.toml", "/work/app")


def test_a_projects_file_speaks_of_its_own_project_and_only_where_it_is_trusted() -> None:
    text = risk_file("Bash(ls *)", 2)
    other = read_rules(text, "theirs.toml", "/work/other", Trust.FULL)
    assert Policy([other], Protected()).risk(bash("ls x"), context()).level == Level.NONE
    untrusted = read_rules(text, "theirs.toml", "/work/app", Trust.NONE)
    assert Policy([untrusted], Protected()).risk(bash("ls x"), context()).level == Level.NONE


@every_row(
    "text, line, what",
    [
        ("[[risk]]\nlevel = 1\nwords = 'x'", 1, "the risk has no match"), ("[[risk]]\nmatch = 'Bash'\nwords = 'x'", 1, "has no level"),
        ("[[risk]]\nmatch = 'Bash'\nlevel = 1", 1, "has no words"), (DEPLOY + "colour = 'red'", 5, "there is no 'colour' in a risk. Known are: match, level, words"),
        (DEPLOY + risk_file("Bash(", 1), 6, "match 'Bash(' is not of the form"), (DEPLOY + risk_file("Bash", 3), 7, "level must be 0, 1 or 2, or one of: none, caution, danger"),
        (risk_file("Bash", "high"), 3, "level must be"), ("[[risk]]\nmatch = 'Bash'\nlevel = true\nwords = 'x'", 3, "level must be"),
        (risk_file("Bash", 1, ""), 4, "words must be one line"), (risk_file("Bash", 1, "x" * 81), 4, "words must be one line"), ("risk = 7", 1, "risks are tables, as in [[risk]]"),
        ("[[risk]]\nmatch = []\nlevel = 1\nwords = 'x'", 2, "match must be"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_risk_is_said_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(RuleFileError) as caught:
        read_rules(text, "mine.toml")
    assert what in str(caught.value)
    assert caught.value.line == line


def test_risks_stand_beside_rules_and_change_no_verdict() -> None:
    rule = '[[rule]]\nverdict = "allow"\nmatch = "Bash(deploy *)"\n'
    with_risk, without = policy(rule + DEPLOY), policy(rule)
    event = bash("deploy x")
    assert with_risk.examine(event, context()) == without.examine(event, context())


def test_what_the_owner_took_off_the_protected_list_is_a_risk_all_the_same() -> None:
    law = policy("unprotect = ['env-files']")
    assert law.risk(bash("cat .env"), context()).level == Level.DANGER
