"""Past calls, each different one once."""

from crabhook.policy.calls.parts import CommandPart
from crabhook.rulebook.candidates import JudgedCall, distinct, seen
from tests.unit.policy.law import bash, call, rule
from tests.unit.rulebook.pasts import PROTECTED, past, under

LAW = under(rule("allow", "Bash(ls *)"))


def looked_at(command: str) -> JudgedCall | None:
    (one,) = distinct([past(bash(command))])
    return seen(one, LAW, PROTECTED)


def test_the_same_input_to_the_same_tool_in_the_same_folder_is_one_call() -> None:
    events = [
        bash("ls"),
        bash("ls", "/work/other"),
        bash("ls"),
        call("mcp__a__b", command="ls"),
        call("mcp__a__c", x=1, y=2),
        call("mcp__a__c", y=2, x=1),
    ]
    calls = [past(event, at=str(number)) for number, event in enumerate(events)]
    found = [(one.latest.at, one.times) for one in distinct(calls)]
    assert found == [("5", 2), ("2", 2), ("3", 1), ("1", 1)]


def test_a_call_is_seen_with_its_parts_and_with_what_todays_rules_say_of_each() -> None:
    one = looked_at("ls; cat a")
    assert one is not None
    parts = [part for part in one.call.required if isinstance(part, CommandPart)]
    assert [(part.text, one.allowed_today(part)) for part in parts] == [
        ("ls", True),
        ("cat a", False),
    ]
    assert one.today is None
    allowed = looked_at("ls")
    assert allowed is not None
    assert allowed.today == "allow"


def test_what_no_rule_could_allow_is_not_seen() -> None:
    for command in ("ls `", "$x", "cat ~/.ssh/id_rsa", "crabhook rules suggest --add 1"):
        assert looked_at(command) is None
    for event in (call("AskUserQuestion"), call("Read", file_path="/work/app/\ud800")):
        (one,) = distinct([past(event)])
        assert seen(one, LAW, PROTECTED) is None
