"""Tools by their names."""

from typing import Any

import pytest

from crabhook.platforms import PLATFORMS
from crabhook.policy.calls.parts import KINDS, CallKind, canonical, kind_of, mcp_name
from crabhook.policy.calls.read import changed_paths
from crabhook.vocabulary import folder_keys, path_key, vocabulary
from tests.support.client import sample
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


OWN_PATHS = [
    (agent.name, tool, key)
    for agent in PLATFORMS.values()
    for tool, key in agent.tools.path_keys.items()
]
OWN_COMMANDS = [
    (agent.name, tool)
    for agent in PLATFORMS.values()
    for tool in ("Bash", *agent.tools.aliases)
    if kind_of(tool) is CallKind.COMMAND
]


@every_row("agent, tool, key", OWN_PATHS)
def test_a_path_is_read_from_the_input_of_the_agents_own_tool(
    agent: str, tool: str, key: str
) -> None:
    assert path_key(tool, agent) == key


@every_row("name", ["claude-agent-acp-Write", "copilot-edit", "gemini-edit", "opencode-edit"])
def test_the_file_of_an_edit_that_a_proxy_asks_about_is_read_for_every_agent(name: str) -> None:
    event = PLATFORMS["acp"].read(sample(name, agent="acp"))
    assert changed_paths(event) == (event.given["file_path"],)


@every_row("agent, tool", OWN_COMMANDS)
def test_a_folder_is_read_from_the_inputs_of_the_agents_own_tool(agent: str, tool: str) -> None:
    assert folder_keys(tool, agent) == PLATFORMS[agent].tools.folder_keys


def test_no_agent_means_another_tool_than_the_next_by_a_name() -> None:
    meant = {
        own: {
            agent.tools.aliases[own] for agent in PLATFORMS.values() if own in agent.tools.aliases
        }
        for own in vocabulary().aliases
    }
    assert all(len(names) == 1 for names in meant.values()), meant


@every_row("tool, keys", [("run_shell_command", {"dir_path", "directory"}), ("Bash", set())])
def test_a_name_that_only_other_agents_have_is_read_by_each_of_them(
    tool: str, keys: set[str]
) -> None:
    assert set(folder_keys(tool, "claude")) == keys


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
