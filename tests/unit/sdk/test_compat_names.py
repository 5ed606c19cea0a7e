"""REQ-006.1 to 006.3: the names."""

import pytest

from crabhook.sdk.compat import (
    EVENT_TO_NORMALIZED,
    NORMALIZED_TO_EVENT,
    NORMALIZED_TO_TOOL,
    TOOL_TO_NORMALIZED,
    NormalizedEvent,
    normalize_event,
    normalize_tool,
)
from crabhook.sdk.event import Platform

N = NormalizedEvent

EVENTS = {
    Platform.CLAUDE: {
        "Stop": N.AFTER_AGENT,
        "SubagentStop": N.AFTER_AGENT,
        "PreToolUse": N.BEFORE_TOOL,
        "PostToolUse": N.AFTER_TOOL,
        "UserPromptSubmit": N.BEFORE_PROMPT,
        "SessionStart": N.SESSION_START,
        "SessionEnd": N.SESSION_END,
    },
    Platform.GEMINI: {
        "AfterAgent": N.AFTER_AGENT,
        "BeforeTool": N.BEFORE_TOOL,
        "AfterTool": N.AFTER_TOOL,
        "BeforeAgent": N.BEFORE_PROMPT,
        "SessionStart": N.SESSION_START,
        "SessionEnd": N.SESSION_END,
        "BeforeModel": N.BEFORE_MODEL,
        "AfterModel": N.AFTER_MODEL,
    },
}
TOOLS = {
    "Write": "write_file",
    "Edit": "edit_file",
    "Read": "read_file",
    "Bash": "shell",
    "Glob": "glob",
    "Grep": "grep",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
    "Task": "task",
}


def test_006_1_the_platforms_are_strings() -> None:
    assert [*EVENT_TO_NORMALIZED] == ["claude", "gemini", "codex"]
    assert Platform("claude") is Platform.CLAUDE
    assert f"{Platform.GEMINI}" == "gemini"


def test_006_2_the_events_are_these_eight() -> None:
    assert {event.name for event in NormalizedEvent} == {
        "AFTER_AGENT",
        "BEFORE_TOOL",
        "BEFORE_PROMPT",
        "SESSION_START",
        "SESSION_END",
        "AFTER_TOOL",
        "BEFORE_MODEL",
        "AFTER_MODEL",
    }
    assert all(isinstance(event, str) for event in NormalizedEvent)


@pytest.mark.parametrize("platform", EVENTS)
def test_006_2_every_event_has_its_normalized_name(platform: Platform) -> None:
    assert EVENT_TO_NORMALIZED[platform] == EVENTS[platform]
    for name, event in EVENTS[platform].items():
        assert normalize_event(platform, name) is event


@pytest.mark.parametrize("platform", EVENT_TO_NORMALIZED)
def test_006_2_the_way_back_leads_to_an_event_of_the_same_name(platform: Platform) -> None:
    assert set(NORMALIZED_TO_EVENT[platform]) == set(EVENT_TO_NORMALIZED[platform].values())
    for event, name in NORMALIZED_TO_EVENT[platform].items():
        assert EVENT_TO_NORMALIZED[platform][name] is event


def test_006_2_the_way_back_from_after_agent_is_stop() -> None:
    assert NORMALIZED_TO_EVENT[Platform.CLAUDE][N.AFTER_AGENT] == "Stop"
    assert N.BEFORE_MODEL not in NORMALIZED_TO_EVENT[Platform.CLAUDE]


def test_006_3_claudes_tools_have_names_in_snake_case() -> None:
    assert TOOL_TO_NORMALIZED[Platform.CLAUDE] == TOOLS
    assert NORMALIZED_TO_TOOL[Platform.CLAUDE] == {name: own for own, name in TOOLS.items()}


def test_006_3_geminis_names_map_to_themselves() -> None:
    themselves = {name: name for name in TOOLS.values()}
    assert TOOL_TO_NORMALIZED[Platform.GEMINI] == themselves
    assert NORMALIZED_TO_TOOL[Platform.GEMINI] == themselves


@pytest.mark.parametrize("platform", EVENT_TO_NORMALIZED)
def test_006_3_an_unknown_name_is_lower_cased(platform: Platform) -> None:
    assert normalize_tool(platform, "MyTool") == "mytool"
    assert normalize_tool(platform, "mcp__Linear__Save") == "mcp__linear__save"
