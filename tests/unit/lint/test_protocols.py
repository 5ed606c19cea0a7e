"""The tables of what each agent reads."""

import json

import pytest

from crabhook.lint.configuration import protocols
from crabhook.platforms.claude import settings as claude
from crabhook.platforms.claude.events import EVENTS
from crabhook.platforms.codex import settings as codex
from crabhook.platforms.gemini import settings as gemini
from crabhook.platforms.rows import ANY, NOTHING
from tests.unit.lint.corpus import CORPUS

SAMPLES = CORPUS.parent


def test_claude_codes_events_are_those_of_the_platform() -> None:
    assert list(claude.PROTOCOL.events) == list(EVENTS)


@pytest.mark.parametrize("protocol", protocols().values(), ids=list(protocols()))
def test_every_event_and_tool_that_an_agent_was_seen_to_send_is_known(protocol: object) -> None:
    agent = next(one for one in protocols().values() if one is protocol)
    seen = 0
    for path in sorted((SAMPLES / agent.name).glob("*.json")):
        payload = json.loads(path.read_text(encoding="utf-8"))
        tool = payload.get("tool_name", "")
        assert payload["hook_event_name"] in agent.events
        assert not tool or tool.startswith("mcp_") or tool in agent.tools, path
        seen += 1
    assert seen > 10


@pytest.mark.parametrize("protocol", protocols().values(), ids=list(protocols()))
def test_other_agents_names_are_none_of_its_own_and_lead_to_one(protocol: object) -> None:
    agent = next(one for one in protocols().values() if one is protocol)
    known = agent.tools | set(agent.events)
    assert not set(agent.elsewhere) & known
    assert set(agent.elsewhere.values()) <= known


def test_tool_events_match_tools_and_turn_events_match_nothing() -> None:
    for protocol, event in ((claude.PROTOCOL, "PreToolUse"), (gemini.PROTOCOL, "BeforeTool")):
        assert protocol.events[event].matcher == ANY
    assert claude.PROTOCOL.events["Stop"].matcher == NOTHING
    assert codex.PROTOCOL.events["Stop"].matcher == NOTHING


@pytest.mark.parametrize(
    ("event", "silent"),
    [
        ("PreToolUse", False),
        ("Stop", False),
        ("TeammateIdle", False),
        ("WorktreeCreate", False),
        ("PermissionRequest", True),
        ("SessionStart", True),
        ("Notification", True),
    ],
)
def test_exit_code_2_does_nothing_on_the_events_on_which_the_protocol_says_so(
    event: str, silent: bool
) -> None:
    assert claude.PROTOCOL.events[event].silent is silent
