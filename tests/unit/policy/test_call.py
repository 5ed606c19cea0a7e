"""Calls of every kind of tool, read and judged."""

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.policy.law import OPEN, allowing, call, denying, policy, rule, verdict


@pytest.mark.parametrize(
    ("tool", "inputs", "said"),
    [
        ("Read", {"file_path": "/work/app/a"}, "allow"), ("Read", {"file_path": "/etc/a"}, OPEN),
        ("Read", {"file_path": "a"}, "allow"), ("Read", {"file_path": "../a"}, OPEN), ("Read", {"file_path": "/work/app/x/../../a"}, OPEN),
        ("Read", {"file_path": "~/a"}, OPEN), ("Read", {}, OPEN), ("Read", {"file_path": 7}, OPEN), ("Read", {"file_path": ""}, OPEN),
        ("Read", {"file_path": "/work/app/a\u202eb"}, OPEN), ("Read", {"file_path": "/work/app/a\0"}, OPEN),
        ("Edit", {"file_path": "/work/app/src/a"}, "allow"), ("Write", {"file_path": "/work/app/src/a"}, "allow"),
        ("MultiEdit", {"file_path": "/work/app/src/a"}, "allow"), ("NotebookEdit", {"notebook_path": "/work/app/src/a"}, "allow"),
        ("Edit", {"file_path": "/work/app/a"}, OPEN), ("Write", {"file_path": "/work/app/src/../a"}, OPEN),
        ("Grep", {"pattern": "x"}, "allow"), ("Grep", {"pattern": "x", "path": "/work/app/src"}, "allow"), ("Grep", {"pattern": "x", "path": "/etc"}, OPEN),
        ("Glob", {"pattern": "**/*.py"}, "allow"), ("Glob", {"pattern": "/etc/*"}, OPEN), ("Glob", {"pattern": "../*"}, OPEN), ("Glob", {"pattern": "~/*"}, OPEN),
        ("LS", {"path": "/work/app"}, "allow"), ("LS", {"path": "/work"}, OPEN),
        ("WebFetch", {"url": "https://example.com/a"}, "allow"), ("WebFetch", {"url": "https://EXAMPLE.com./a"}, "allow"),
        ("WebFetch", {"url": "https://example.com:8443/"}, "allow"), ("WebFetch", {"url": "https://example.com.evil.org"}, OPEN),
        ("WebFetch", {"url": "https://example.com@evil.org"}, OPEN), ("WebFetch", {"url": "https://evil.org\\@example.com"}, OPEN),
        ("WebFetch", {"url": "https://evil.org#@example.com"}, OPEN), ("WebFetch", {"url": "https://sub.docs.org"}, "allow"),
        ("WebFetch", {"url": "https://docs.org"}, OPEN), ("WebFetch", {"url": "https://a.b.docs.org"}, "allow"), ("WebFetch", {}, OPEN),
        ("WebFetch", {"url": "https://ex\u0430mple.com"}, OPEN), ("WebFetch", {"url": "https://v1.api.net"}, "allow"), ("WebFetch", {"url": "https://v1.x.api.net"}, OPEN),
        ("WebFetch", {"url": "https://[::1"}, OPEN), ("WebSearch", {"query": "x"}, "allow"),
        ("mcp__github__get_issue", {}, "allow"), ("mcp__github__delete", {}, "allow"), ("mcp__gitlab__get", {}, OPEN), ("mcp__githubx__get", {}, OPEN),
        ("mcp__jira__get_issue", {}, "allow"), ("mcp__jira__set_issue", {}, OPEN), ("mcp__slack__send", {}, "allow"), ("mcp__slack__read", {}, OPEN),
        ("Agent", {"subagent_type": "Explore"}, "allow"), ("Task", {"subagent_type": "Explore"}, "allow"), ("Agent", {"subagent_type": "Plan"}, OPEN), ("Agent", {}, OPEN),
        ("Skill", {"skill": "review"}, "allow"), ("Skill", {"skill": "review", "args": "x"}, OPEN), ("Skill", {"skill": "fix", "args": "x y"}, "allow"), ("Skill", {"skill": "fix"}, "allow"),
        ("Skill", {"skill": "fixx"}, OPEN), ("TodoWrite", {"todos": []}, "allow"), ("TodoRead", {}, OPEN),
        ("AskUserQuestion", {"questions": []}, OPEN), ("ExitPlanMode", {"plan": "x"}, OPEN),
        ("Monitor", {"command": "ls"}, "allow"), ("Monitor", {"command": "cat x"}, OPEN),
    ],
)  # fmt: skip
def test_an_allow_covers_what_its_tool_does(tool: str, inputs: dict[str, Any], said: str) -> None:
    law = allowing(
        "Read(./**)", "Edit(/src/**)", "WebFetch(domain:example.com)", "WebFetch(domain:*.docs.org)", "WebFetch(domain:v*.api.net)",
        "WebSearch", "mcp__github", "mcp__jira__get_*", "mcp__slack__send", "Agent(Explore)", "Skill(review)", "Skill(fix *)", "TodoWrite", "Bash(ls *)",
        "AskUserQuestion", "ExitPlanMode",
    )  # fmt: skip
    assert verdict(law, call(tool, **inputs)) == said


@pytest.mark.parametrize(
    ("tool", "inputs", "said"),
    [
        ("Read", {"file_path": "/work/app/private/a"}, "deny"), ("Write", {"file_path": "/work/app/private/a"}, "deny"),
        ("Grep", {"path": "/work/app/private"}, "deny"), ("Grep", {"path": "private"}, "deny"), ("Glob", {"pattern": "private/*"}, "deny"), ("Glob", {"pattern": "pri*/a"}, "deny"),
        ("Edit", {"file_path": "/work/app/a.lock"}, "deny"), ("Read", {"file_path": "/work/app/a.lock"}, "allow"), ("Read", {"file_path": "/work/app/a"}, "allow"),
        ("Bash", {"command": "cat private/a"}, "deny"), ("Bash", {"command": "rm a.lock"}, "deny"), ("Bash", {"command": "cat a.lock"}, "allow"), ("Bash", {"command": "ls > a.lock"}, "deny"),
        ("WebFetch", {"url": "https://bad.org"}, "deny"), ("WebFetch", {"url": "http://BAD.org:80/x"}, "deny"), ("WebFetch", {"url": "https://good@bad.org"}, "deny"), ("WebFetch", {"url": "https://good.org"}, "allow"),
        ("mcp__x__y", {}, "deny"), ("Agent", {"subagent_type": "a", "model": "opus"}, "deny"), ("Agent", {"subagent_type": "a", "model": "haiku"}, OPEN),
        ("Custom", {"count": 7}, "deny"), ("Custom", {"count": 8}, OPEN), ("Custom", {"flag": True}, "deny"), ("Skill", {"skill": "drop", "args": "x"}, "deny"),
        ("AskUserQuestion", {}, "deny"),
    ],
)  # fmt: skip
def test_a_denial_hits_what_its_tool_does(tool: str, inputs: dict[str, Any], said: str) -> None:
    law = denying(
        "Read(private/**)", "Edit(*.lock)", "WebFetch(domain:bad.org)", "mcp__*", "Agent(model:opus)", "Custom(count:7)", "Custom(flag:true)", "Skill(drop)",
        "AskUserQuestion",
    )  # fmt: skip
    assert verdict(law, call(tool, **inputs)) == said


@pytest.mark.parametrize(
    ("tool", "inputs", "said"),
    [
        ("run_shell_command", {"command": "ls -la"}, "allow"), ("run_shell_command", {"command": "rm x"}, "deny"),
        ("read_file", {"file_path": "/work/app/a"}, "allow"), ("read_file", {"absolute_path": "/etc/a"}, OPEN),
        ("write_file", {"file_path": "/work/app/src/a"}, "allow"), ("replace", {"file_path": "/etc/a"}, OPEN),
        ("list_directory", {"dir_path": "/work/app"}, "allow"), ("grep_search", {"dir_path": "/etc"}, OPEN), ("read_many_files", {"paths": ["/etc/a"]}, OPEN),
        ("web_fetch", {"prompt": "read https://example.com/a and http://example.com"}, "allow"), ("web_fetch", {"prompt": "https://example.com https://bad.org"}, OPEN), ("web_fetch", {"prompt": "x"}, OPEN),
        ("apply_patch", {"command": "*** Begin Patch\n*** Update File: src/a\n@@\n*** End Patch"}, "allow"),
        ("apply_patch", {"command": "*** Begin Patch\n*** Add File: src/a\n*** Delete File: b\n*** End Patch"}, OPEN),
        ("apply_patch", {"command": "*** Update File: src/a\n*** Move to: ../b"}, OPEN), ("apply_patch", {"command": "nothing"}, OPEN),
        ("apply_patch", {"command": "*** Update File: .github/workflows/ci.yml"}, "ask-operator"),
    ],
)  # fmt: skip
def test_other_platforms_tools_are_judged_by_the_same_rules(
    tool: str, inputs: dict[str, Any], said: str
) -> None:
    law = policy(
        rule("allow", "Bash(ls *)", "Read(./**)", "Edit(./src/**)", "WebFetch(domain:example.com)"),
        rule("deny", "Bash(rm *)"),
    )
    assert verdict(law, call(tool, platform="gemini", **inputs)) == said


def test_an_input_that_is_no_object_is_left_open() -> None:
    event = call("Bash")
    assert event.tool is not None
    values: tuple[Any, ...] = (None, [], "ls", 7)
    for value in values:
        odd = type(event)(event.platform, event.name, tool=type(event.tool)("Bash", value))
        assert verdict(allowing("Bash(ls *)"), odd) == OPEN


def test_the_last_word_on_a_file_is_where_its_links_lead() -> None:
    law, event = allowing("Read(./**)"), call("Read", file_path="/work/app/a/b")
    assert verdict(law, event) == "allow"
    assert verdict(law, event, {"/work/app/a": "/etc"}) == OPEN
    assert verdict(denying("Read(//etc/**)"), event, {"/work/app/a": "/etc"}) == "deny"


@pytest.mark.parametrize(
    ("tool", "inputs", "said"),
    [
        ("run_shell_command", {"command": "ls src"}, "allow"), ("run_shell_command", {"command": "rm src"}, OPEN),
        ("run_shell_command", {"command": "cat a", "dir_path": "private"}, "deny"), ("run_shell_command", {"command": "cat a", "dir_path": "/work/app/private"}, "deny"),
        ("run_shell_command", {"command": "cat a", "dir_path": "src"}, "allow"), ("run_shell_command", {"command": "cat a", "dir_path": ""}, "allow"),
        ("run_shell_command", {"command": "ls", "additional_permissions": {"network": True}}, OPEN),
        ("run_shell_command", {"command": "ls", "additional_permissions": {}}, "allow"),
        ("read_file", {"file_path": "a"}, "allow"), ("read_file", {"file_path": "private/a"}, "deny"), ("list_directory", {"dir_path": "private"}, "deny"),
        ("grep_search", {"pattern": "x", "dir_path": "private"}, "deny"), ("grep_search", {"pattern": "x", "include_pattern": "private/*"}, "deny"),
        ("grep_search", {"pattern": "x"}, "allow"), ("glob", {"pattern": "*.py"}, "allow"), ("glob", {"pattern": "../*"}, OPEN),
        ("replace", {"file_path": "src/a", "old_string": "a", "new_string": "b"}, "allow"), ("replace", {"file_path": "a"}, OPEN), ("write_file", {"file_path": "src/a"}, "allow"),
        ("web_fetch", {"prompt": "read https://example.com/a"}, "allow"), ("web_fetch", {"prompt": "read https://example.com and http://evil.org"}, OPEN),
        ("google_web_search", {"query": "x"}, "allow"), ("invoke_agent", {"agent_name": "Explore", "prompt": "x"}, "allow"), ("invoke_agent", {"agent_name": "Plan"}, OPEN),
        ("activate_skill", {"name": "review"}, "allow"), ("activate_skill", {"name": "fix"}, OPEN),
        ("ask_user", {"questions": []}, OPEN), ("exit_plan_mode", {"plan_filename": "plan.md"}, OPEN),
    ],
)  # fmt: skip
def test_gemini_clis_tools_fall_under_the_same_rules(
    tool: str, inputs: dict[str, Any], said: str
) -> None:
    law = policy(
        rule("allow", "Bash(ls *)"), rule("allow", "Bash(cat *)"), rule("allow", "Read(./**)"), rule("allow", "Edit(/src/**)"),
        rule("allow", "WebFetch(domain:example.com)"), rule("allow", "WebSearch"), rule("allow", "Agent(Explore)"), rule("allow", "Skill(review)"),
        rule("allow", "AskUserQuestion"), rule("allow", "ExitPlanMode"), rule("deny", "Read(./private/**)"),
    )  # fmt: skip
    assert verdict(law, call(tool, platform="gemini", **inputs)) == said


def test_where_a_command_runs_is_told_by_no_field_that_its_tool_does_not_know() -> None:
    law = policy(rule("allow", "Bash(cat *)"), rule("deny", "Read(./private/**)"))
    assert verdict(law, call("Bash", command="cat private/a", dir_path="/tmp")) == "deny"
    assert verdict(law, call("Bash", command="cat private/a", **{"": "/tmp"})) == "deny"


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({"server_name": "github", "tool_name": "get"}, "allow"),
        ({"server_name": "github", "tool_name": "delete"}, "deny"),
        ({"server_name": "gitlab", "tool_name": "get"}, OPEN),
        ({"server_name": "", "tool_name": "get"}, OPEN),
        ({"server_name": 1, "tool_name": "get"}, OPEN),
        ("github", OPEN),
        (None, OPEN),
    ],
)
def test_a_rule_for_a_servers_tool_holds_by_what_gemini_cli_tells_of_it(
    context: Any, said: str
) -> None:
    law = policy(rule("allow", "mcp__github__*"), rule("deny", "mcp__github__delete"))
    event = replace(call("mcp_github_x", platform="gemini"), fields={"mcp_context": context})
    assert verdict(law, event) == said
