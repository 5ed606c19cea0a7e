"""REQ-006.3 done rightly: real pairs, and the raw name for the rest."""

import pytest

from crabhook.sdk import Platform, PreToolUse
from crabhook.sdk.compat import NORMALIZED_TO_TOOL
from crabhook.sdk.event import COMMON, common_name
from tests.unit.sdk import samples

CLAUDE, GEMINI, CODEX = Platform.CLAUDE, Platform.GEMINI, Platform.CODEX


@pytest.mark.parametrize("name", NORMALIZED_TO_TOOL[CLAUDE])
def test_006_3_each_specified_tool_has_a_pair_that_is_real(name: str) -> None:
    assert NORMALIZED_TO_TOOL[CLAUDE][name] in COMMON[name][CLAUDE]
    for own in COMMON[name][GEMINI]:
        assert common_name(GEMINI, own) == name


def test_006_3_geminis_five_other_names_are_known() -> None:
    others = {
        "shell": "run_shell_command",
        "edit_file": "replace",
        "grep": "grep_search",
        "web_search": "google_web_search",
        "task": "invoke_agent",
    }
    for name, own in others.items():
        assert common_name(GEMINI, own) == name
        assert COMMON[name][GEMINI][0] == own


def test_006_3_a_tool_without_a_pair_keeps_its_name_letter_for_letter() -> None:
    for platform in Platform:
        assert common_name(platform, "mcp__Linear__saveIssue") == "mcp__Linear__saveIssue"
    assert common_name(CODEX, "apply_patch") == "apply_patch"
    assert common_name(CLAUDE, "run_shell_command") == "run_shell_command"


def test_a_tool_of_an_mcp_server_has_one_name_everywhere() -> None:
    event = samples.event("gemini", "BeforeTool-mcp")
    assert isinstance(event, PreToolUse)
    assert (event.tool_name, event.tool) == ("mcp_crabtest_say", "mcp__crabtest__say")


@pytest.mark.parametrize("context", [None, [], {}, {"server_name": 1, "tool_name": "x"}])
def test_a_context_that_names_no_server_changes_nothing(context: object) -> None:
    assert common_name(GEMINI, "replace", context) == "edit_file"  # type: ignore[arg-type]


def test_no_two_tools_of_an_agent_share_a_name() -> None:
    owns = [(platform, own) for row in COMMON.values() for platform in row for own in row[platform]]
    assert len(owns) == len(set(owns))
