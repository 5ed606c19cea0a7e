"""Tools by their names."""

from typing import Any

import pytest

from crabhook.policy.calls.parts import KINDS, CallKind, canonical, kind_of, mcp_name
from crabhook.vocabulary import vocabulary
from tests.support.rows import every_row


@every_row(
    "name, kind",
    [
        ("Bash", CallKind.COMMAND),
        ("run_shell_command", CallKind.COMMAND),
        ("Write", CallKind.EDIT),
        ("replace", CallKind.EDIT),
        ("invoke_agent", CallKind.AGENT),
        ("activate_skill", CallKind.SKILL),
        ("ask_user", CallKind.ASKING),
        ("exit_plan_mode", CallKind.ASKING),
        ("Task", CallKind.AGENT),
        ("apply_patch", CallKind.PATCH),
        ("Nobody", CallKind.OTHER),
    ],
)
def test_a_tool_does_the_same_by_every_name(name: str, kind: CallKind) -> None:
    assert kind_of(name) is kind


def test_an_alias_leads_to_a_name_and_not_to_another_alias() -> None:
    assert all(canonical(name) == name for name in vocabulary().aliases.values())
    assert not set(vocabulary().aliases) & set(KINDS)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"mcp_context": {"server_name": "a", "tool_name": "B"}}, "mcp__a__B"),
        ({"mcp_context": {"server_name": "a"}}, ""),
        ({"mcp_context": ["a"]}, ""),
        ({}, ""),
    ],
)
def test_a_servers_tool_has_one_name_for_rules(fields: dict[str, Any], name: str) -> None:
    assert mcp_name(fields) == name
