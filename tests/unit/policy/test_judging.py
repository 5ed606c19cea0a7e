"""One call in front of the law: whose word comes first, and how it is told."""

import pytest

from tests.unit.policy.law import bash, policy, rule, surroundings


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("ls", {"command"}),
        ("ls > a", {"command", "write"}),
        ("ls < a", {"command", "read"}),
        ("python3 .env", {"command", "name"}),
        ("# a", {"tool"}),
    ],
)
def test_every_part_says_what_it_is(command: str, kinds: set[str]) -> None:
    ruling = policy(rule("allow", "Bash(ls *)")).examine(bash(command), surroundings())
    assert {part.kind for part in ruling.parts} == kinds


def test_what_is_hidden_is_told_only_where_it_decides() -> None:
    ruling = policy(rule("deny", "Bash(rm *)")).examine(bash("sudo rm x"), surroundings())
    assert [(part.text, part.hidden) for part in ruling.parts] == [
        ("sudo rm x", False),
        ("rm x", True),
    ]
    ruling = policy().examine(bash("sudo rm x"), surroundings())
    assert [part.text for part in ruling.parts] == ["sudo rm x"]


def test_a_trouble_is_why_nothing_may_be_allowed() -> None:
    ruling = policy(rule("allow", "Bash")).examine(bash("$x"), surroundings())
    assert ruling.verdict is None
    assert ruling.troubles
    assert ruling.troubles[0] in ruling.why


def test_a_note_is_told_with_the_rule() -> None:
    noted = rule("deny", "Bash(rm *)")
    noted = type(noted)(noted.verdict, noted.texts, noted.matchers, note="ask me")
    ruling = policy(noted).examine(bash("rm x"), surroundings())
    assert "ask me" in ruling.why
