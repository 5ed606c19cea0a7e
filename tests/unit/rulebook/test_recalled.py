"""A past call as rules can be asked about it again."""

from crabhook.policy.calls.parts import CommandPart
from crabhook.policy.calls.read import read_call
from crabhook.policy.rule import RuleScope
from crabhook.rulebook.history import holds_a_stand_in, recalled
from crabhook.store.redact import Redactor
from tests.unit.policy.law import bash, call, context, rule
from tests.unit.rulebook.pasts import under

TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789AB"


def redacted(command: str) -> str:
    return Redactor(b"k" * 32).text(command)


def test_a_secrets_mark_is_one_word_to_the_shell_so_nothing_after_it_is_lost() -> None:
    recorded = redacted(f"export TOKEN={TOKEN}; rm -rf x")
    assert "[redacted" in recorded
    read = read_call(recalled(bash(recorded)), context())
    assert read is not None
    texts = [part.text for part in read.required if isinstance(part, CommandPart)]
    assert len(texts) == 2
    assert texts[1] == "rm -rf x"
    assert holds_a_stand_in(texts[0])


def test_a_call_is_judged_in_the_default_mode_since_no_other_is_known() -> None:
    law = under(rule("deny", "Bash(ls *)", scope=RuleScope(mode=("default",))))
    event = recalled(bash("ls"))
    assert event.permission_mode == "default"
    assert law(event).ruling(event).verdict == "deny"


def test_lists_and_what_is_no_text_are_left_as_they_are_save_for_marks() -> None:
    mark = redacted(TOKEN)
    event = recalled(call("ReadMany", paths=["a", mark, 1], limit=3, deep={"a": [mark]}))
    assert event.tool is not None
    given = event.tool.input
    assert isinstance(given, dict)
    assert given["limit"] == 3
    assert given["deep"] == {"a": [mark]}
    first, second, third = given["paths"] if isinstance(given["paths"], list) else ()
    assert (first, third) == ("a", 1)
    assert holds_a_stand_in(str(second))
