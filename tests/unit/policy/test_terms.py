"""Rules that say who must allow a call: how they are read, and that all that match count."""

import json

import pytest

from crabhook.model.ballot import LadderStep, Terms
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import RuleFileError, RuleVerdict, Ruling
from crabhook.policy.rulefile import read_rules
from tests.support.ruled import judge_by

ASKS = '[[rule]]\nverdict = "ask-operator"\n'
TERRAFORM = f'{ASKS}match = "Bash(terraform apply *)"\nneed = 2\nof = ["@leads", "ann"]\n'
PROD = f'{ASKS}match = "Bash(* prod*)"\nof = "@oncall"\n'


def bash(command: str) -> Event:
    fields = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/p"}
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t"}
    return PLATFORMS["claude"].read(json.dumps(fields | call).encode())


def ruled(rules: str, command: str) -> Ruling:
    ruling = judge_by(rules)(bash(command))
    assert ruling is not None
    return ruling


def test_all_five_keys_are_read() -> None:
    rules = f"""{ASKS}match = "Bash"
need = 2
of = ["@leads", "ann"]
not_self = true
after = [["2m", "@oncall"], ["10m", "@all"]]
step_up = true
"""
    (rule,) = read_rules(rules, "rules.toml").rules
    steps = (LadderStep(120, "@oncall"), LadderStep(600, "@all"))
    where = "rules.toml, line 1"
    assert rule.terms == Terms(2, ("@leads", "ann"), True, steps, True, where)


def test_a_rule_without_them_has_no_terms() -> None:
    (rule,) = read_rules(f'{ASKS}match = "Bash"\n', "rules.toml").rules
    assert rule.terms is None


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("need = 0", "must be a number of people"),
        ("need = true", "must be a number of people"),
        ("need = 1.5", "must be a number of people"),
        ("need = 21", "1 to 20"),
        ('of = ["not a name"]', "names of people, or groups"),
        ("of = []", "a text, or a list of texts"),
        ("not_self = 1", "true or false"),
        ('after = ["2m"]', "pairs of a time and people"),
        ('after = [["2 minutes", "@all"]]', "pairs of a time and people"),
        ('after = [["0m", "@all"]]', "pairs of a time and people"),
        ("after = []", "must be a list of pairs"),
        ('step_up = "yes"', "true or false"),
    ],
)
def test_a_wrong_value_is_told_with_its_line(line: str, what: str) -> None:
    with pytest.raises(RuleFileError, match=f"line 4: .*{what}"):
        read_rules(f'{ASKS}match = "Bash"\n{line}\n', "rules.toml")


@pytest.mark.parametrize("verdict", [each for each in RuleVerdict if each != "ask-operator"])
def test_only_a_question_to_the_operator_says_who_must_allow(verdict: RuleVerdict) -> None:
    rules = f'[[rule]]\nverdict = "{verdict}"\nmatch = "Bash"\nneed = 2\n'
    with pytest.raises(RuleFileError, match="line 4: need says who may allow"):
        read_rules(rules, "rules.toml")


def test_every_rule_that_matches_a_part_of_the_call_counts() -> None:
    ruling = ruled(TERRAFORM + PROD, "cd infra && terraform apply -auto-approve prod.tf")
    assert [terms.of for terms in ruling.terms] == [("@leads", "ann"), ("@oncall",)]
    assert [terms.of for terms in ruled(TERRAFORM + PROD, "echo prod").terms] == [("@oncall",)]


def test_a_rule_that_hands_it_to_the_agents_user_takes_nobody_out() -> None:
    hand = '[[rule]]\nverdict = "ask-agent\'s-user"\nmatch = "Bash(terraform *)"\n'
    ruling = ruled(hand + TERRAFORM, "terraform apply -auto-approve")
    assert ruling.verdict is RuleVerdict.ASK_OPERATOR
    assert [terms.need for terms in ruling.terms] == [2]


def test_an_allow_of_the_same_call_takes_nobody_out() -> None:
    allow = '[[rule]]\nverdict = "allow"\nmatch = "Bash(terraform *)"\n'
    assert [terms.need for terms in ruled(allow + TERRAFORM, "terraform apply x").terms] == [2]


def test_a_denial_stays_one() -> None:
    deny = '[[rule]]\nverdict = "deny"\nmatch = "Bash(terraform *)"\n'
    ruling = ruled(TERRAFORM + deny, "terraform apply x")
    assert (ruling.verdict, ruling.terms) == (RuleVerdict.DENY, ())


@pytest.mark.parametrize(
    "line",
    [
        "bash -c 'terraform apply x'",
        "$(echo terraform) apply x; terraform apply x",
        "find . -exec terraform apply x ';'",
        "x=terraform; $x apply y",
        "env terraform apply x",
    ],
)
def test_a_program_that_may_run_unseen_brings_its_terms(line: str) -> None:
    assert [terms.need for terms in ruled(TERRAFORM, line).terms] == [2]
