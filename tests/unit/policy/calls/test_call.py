"""Calls of every kind of tool, read and judged."""

from dataclasses import replace
from typing import Any

import pytest

from crabhook.model.event import ToolCall
from crabhook.policy.calls.read import may_take_long
from crabhook.policy.context import not_looked
from crabhook.policy.protected import ENTRY_NAMES
from tests.support.rows import every_row
from tests.unit.policy.law import (
    OPEN,
    allowing,
    call,
    context,
    denying,
    policy,
    rule,
    verdict,
)


@every_row(
    "tool, inputs, said",
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
        ("WebFetch", {"url": "file://example.com/etc/passwd"}, OPEN), ("WebFetch", {"url": "//example.com/a"}, OPEN), ("WebFetch", {"url": "HTTP://example.com"}, "allow"),
        ("WebFetch", {"url": "https://example.com", "prompt": "is it like https://evil.org?"}, "allow"),
        ("WebFetch", {"url": "https://[::1"}, OPEN), ("WebSearch", {"query": "x"}, "allow"),
        ("mcp__github__get_issue", {}, "allow"), ("mcp__github__delete", {}, "allow"), ("mcp__gitlab__get", {}, OPEN), ("mcp__githubx__get", {}, OPEN),
        ("mcp__jira__get_issue", {}, "allow"), ("mcp__jira__set_issue", {}, OPEN), ("mcp__slack__send", {}, "allow"), ("mcp__slack__read", {}, OPEN),
        ("Agent", {"subagent_type": "Explore"}, "allow"), ("Task", {"subagent_type": "Explore"}, "allow"), ("Agent", {"subagent_type": "Plan"}, OPEN), ("Agent", {}, OPEN),
        ("Skill", {"skill": "review"}, "allow"), ("Skill", {"skill": "review", "args": "x"}, OPEN), ("Skill", {"skill": "fix", "args": "x y"}, "allow"), ("Skill", {"skill": "fix"}, "allow"),
        ("Skill", {"skill": "fixx"}, OPEN), ("TodoWrite", {"todos": []}, "allow"), ("TodoRead", {}, OPEN),
        ("AskUserQuestion", {"questions": []}, OPEN), ("ExitPlanMode", {"plan": "x"}, OPEN),
        ("Bash", {"command": "ls", "description": "look", "timeout": 9, "run_in_background": True, "env": {}}, "allow"),
        ("Bash", {"command": "ls", "env": {"PATH": "/tmp"}}, OPEN), ("Bash", {"command": "ls", "shell": "python3"}, OPEN), ("Bash", {"command": "ls", "args": ["x"]}, OPEN),
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


@every_row(
    "tool, inputs, said",
    [
        ("Read", {"file_path": "/work/app/private/a"}, "deny"), ("Write", {"file_path": "/work/app/private/a"}, "deny"),
        ("Grep", {"path": "/work/app/private"}, "deny"), ("Grep", {"path": "private"}, "deny"), ("Glob", {"pattern": "private/*"}, "deny"), ("Glob", {"pattern": "pri*/a"}, "deny"),
        ("Edit", {"file_path": "/work/app/a.lock"}, "deny"), ("Read", {"file_path": "/work/app/a.lock"}, "allow"), ("Read", {"file_path": "/work/app/a"}, "allow"),
        ("Bash", {"command": "cat private/a"}, "deny"), ("Bash", {"command": "rm a.lock"}, "deny"), ("Bash", {"command": "cat a.lock"}, "allow"), ("Bash", {"command": "ls > a.lock"}, "deny"),
        ("Bash", {"command": "rm a.lock", "shell": "fish"}, "deny"), ("WebFetch", {"url": "ftp://bad.org"}, "deny"),
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


@every_row(
    "tool, inputs, said",
    [
        ("run_shell_command", {"command": "ls -la"}, "allow"), ("run_shell_command", {"command": "rm x"}, "deny"),
        ("read_file", {"file_path": "/work/app/a"}, "allow"), ("read_file", {"absolute_path": "/etc/a"}, OPEN),
        ("write_file", {"file_path": "/work/app/src/a"}, "allow"), ("replace", {"file_path": "/etc/a"}, OPEN),
        ("list_directory", {"dir_path": "/work/app"}, "allow"), ("grep_search", {"dir_path": "/etc"}, OPEN), ("read_many_files", {"paths": ["/etc/a"]}, OPEN),
        ("web_fetch", {"prompt": "read https://example.com/a and http://example.com"}, "allow"), ("web_fetch", {"prompt": "https://example.com https://bad.org"}, OPEN), ("web_fetch", {"prompt": "x"}, OPEN),
        ("apply_patch", {"command": "*** Begin Patch\n*** Update File: src/a\n@@\n*** End Patch"}, "allow"),
        ("apply_patch", {"command": "*** Begin Patch\n*** Add File: src/a\n*** Delete File: b\n*** End Patch"}, OPEN),
        ("apply_patch", {"command": "*** Begin Patch\n*** Update File: src/a\n@@\n*** End Patch", "input": "*** Begin Patch\n*** Delete File: b\n*** End Patch"}, OPEN),
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


@every_row(
    "tool, inputs, said",
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
        ("web_fetch", {"url": "https://example.com", "prompt": "read https://evil.org"}, OPEN), ("web_fetch", {"url": "https://example.com", "prompt": "read it"}, "allow"),
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


@pytest.mark.parametrize(
    ("platform", "tool", "key", "other"),
    [
        ("gemini", "run_shell_command", "directory", "dir_path"), ("gemini", "run_shell_command", "dir_path", "directory"),
        ("codex", "Bash", "workdir", "cwd"), ("codex", "Bash", "cwd", "workdir"),
    ],
)  # fmt: skip
def test_a_command_runs_in_the_folder_that_its_tool_is_told(
    platform: str, tool: str, key: str, other: str
) -> None:
    law = policy(rule("allow", "Bash(cat *)"), rule("deny", "Read(//work/app/private/**)"))

    def said(**inputs: Any) -> str:
        event = call(tool, platform=platform)
        return verdict(law, replace(event, tool=ToolCall(tool, {"command": "cat a", **inputs})))

    assert said(**{key: "private"}) == said(**{key: "/work/app/private"}) == "deny"
    assert said(**{key: "src"}) == said(**{key: "src", other: "src"}) == "allow"
    assert said(**{key: "/srv"}) == OPEN  # outside the project
    assert said(**{key: "src", other: "lib"}) == OPEN
    assert said(**{key: ["src"]}) == OPEN


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


FILES = ("/work/app/.env", "/work/app/a.py", "/work/app/src/b.py", "/work/app/src/.npmrc.d/x")


@every_row(
    "tool, inputs",
    [
        *(("Grep", {"pattern": "x", "glob": glob}) for glob in ("{.env,x}", "*env", "?env", "[.]env", "*.py .env", "*.py,.env", r"\.env", "*", ".e{nv,x}", "!*.md", "**", "[!a]env")),
        *(("Glob", {"pattern": glob}) for glob in ("{.env,x}", "**/*", "*", ".e{nv,x}", "*env")),
        *(("grep_search", {"pattern": "x", "include_pattern": glob}) for glob in ("{.env,x}", "*env", ".e*", "[.]env", ":(top)*")),
        *(("read_many_files", {"include": globs}) for globs in (["a.py", "*env"], ["**"], ["{a.py,.env}"], "*")),
        ("Grep", {"pattern": "x"}), ("Grep", {"pattern": "x", "path": "/work/app"}), ("Grep", {"pattern": "x", "path": "/work"}), ("Grep", {"pattern": "x", "path": "."}),
        ("search_file_content", {"pattern": "x", "include": "*v"}), ("read_many_files", {"paths": ["*"]}),
    ],
)  # fmt: skip
@every_row("law", ["protected", "denied"])
def test_a_search_of_a_folder_that_holds_what_is_denied_or_protected_is_never_allowed(
    tool: str, inputs: dict[str, Any], law: str
) -> None:
    rules = [rule("allow", "Read(//**)", tool if tool[0].isupper() else "Grep")]
    if law == "denied":
        rules.append(rule("deny", "Read(**/.env)"))
    judged = policy(*rules, off=["env-files"] if law == "denied" else [])
    said = verdict(judged, call(tool, **inputs), files=FILES)
    assert said in ("ask-operator", "deny", OPEN)
    assert said != "deny" or law == "denied"


@pytest.mark.parametrize(
    ("tool", "inputs"),
    [
        ("Grep", {"pattern": "x", "glob": "*.py"}), ("Grep", {"pattern": "x", "glob": "*.{py,ts}"}), ("Grep", {"pattern": "x", "path": "/work/app/src"}), ("Glob", {"pattern": "**/*.py"}),
        ("Glob", {"pattern": "src/**"}), ("grep_search", {"pattern": "x", "include_pattern": "*.py"}), ("read_many_files", {"include": ["src/*.py", "a.py"]}), ("LS", {"path": "/work/app"}),
        ("grep_search", {"pattern": "x", "dir_path": "src"}),
    ],
)  # fmt: skip
def test_a_search_that_cannot_reach_it_is_allowed(tool: str, inputs: dict[str, Any]) -> None:
    law = policy(rule("allow", "Read(./**)"), rule("deny", "Read(**/.env)"))
    assert verdict(law, call(tool, **inputs), files=FILES) == "allow"


def test_a_search_of_a_folder_without_any_such_file_is_allowed() -> None:
    event = call("Grep", pattern="TODO")
    assert verdict(allowing("Read(./**)"), event, files=FILES[1:]) == "allow"


def test_a_search_where_nobody_could_look_is_asked_about() -> None:
    unseen = replace(context(), below=not_looked)
    ruling = allowing("Read(./**)").judge(call("Grep", pattern="TODO"), unseen)
    assert ruling is not None
    assert ruling.verdict == "ask-operator"
    bare = policy(rule("allow", "Read(./**)"), off=ENTRY_NAMES)
    ruling = bare.judge(call("Grep", pattern="TODO"), unseen)  # nothing is denied or protected
    assert ruling is not None
    assert ruling.verdict == "allow"


def test_the_question_says_which_file_it_is_about() -> None:
    ruling = policy(rule("allow", "Read(./**)")).judge(call("Grep"), context(files=FILES))
    assert ruling is not None
    assert "/work/app/.env" in ruling.why
    assert "env-files" in ruling.protected


@every_row(
    "tool, inputs",
    [
        ("Glob", {"pattern": "{a,/etc/passwd}"}), ("Glob", {"pattern": "{a,..}/x"}), ("Glob", {"pattern": ".{.,x}/x"}), ("Glob", {"pattern": r"\/etc/x"}), ("Glob", {"pattern": "a ~/x"}),
        ("Grep", {"path": " /etc"}), ("Grep", {"path": "/work/app "}), ("Read", {"file_path": " /etc/x"}), ("Write", {"file_path": "a "}), ("Glob", {"pattern": "{a"}),
        ("read_many_files", {"include": ["a", "/etc/*"]}), ("grep_search", {"include_pattern": "@(a|b)"}),
    ],
)  # fmt: skip
def test_what_may_lead_out_of_the_folder_is_not_allowed(tool: str, inputs: dict[str, Any]) -> None:
    assert verdict(allowing("Read(./**)", "Edit(./**)"), call(tool, **inputs)) == OPEN


@every_row(
    "tool, own, other",
    [
        ("NotebookEdit", "notebook_path", "file_path"), ("Edit", "file_path", "notebook_path"), ("Read", "file_path", "path"), ("Grep", "path", "file_path"), ("Glob", "path", "dir_path"),
        ("grep_search", "dir_path", "path"), ("list_directory", "dir_path", "path"), ("read_file", "file_path", "absolute_path"), ("write_file", "file_path", "dir_path"),
        ("read_many_files", "dir_path", "path"), ("LS", "path", "directory"),
    ],
)  # fmt: skip
def test_of_two_paths_the_tools_own_counts_and_the_other_is_a_trouble(
    tool: str, own: str, other: str
) -> None:
    law = policy(rule("allow", "Read(./**)", "Edit(./**)"), rule("deny", "Read(//srv/**)"))
    assert verdict(law, call(tool, pattern="a", **{own: "src"})) == "allow"
    for paths in ({own: "src", other: "src"}, {other: "src"}, {own: "/etc", other: "src"}):
        said = verdict(law, call(tool, pattern="a", **paths))
        assert said == OPEN
    for paths in ({own: "src", other: "/srv/x"}, {own: "/srv/x", other: "src"}):
        assert verdict(law, call(tool, pattern="a", **paths)) == "deny"


@pytest.mark.parametrize(
    "loosened",
    [{"dangerouslyDisableSandbox": True}, {"with_escalated_permissions": True}, {"sandbox_permissions": "require_escalated"}, {"dangerouslyDisableSandbox": "yes"}],
)  # fmt: skip
def test_a_command_that_asks_to_leave_its_sandbox_is_not_allowed(loosened: dict[str, Any]) -> None:
    assert verdict(allowing("Bash"), call("Bash", command="ls", **loosened)) == OPEN
    off = dict.fromkeys(loosened, False)
    assert verdict(allowing("Bash"), call("Bash", command="ls", **off)) == "allow"


@pytest.mark.parametrize(
    ("command", "deep"),
    [("grep -r x .", True), ("cd a && tar cf - .", True), ("git grep x", True), ("ls -la", False), ("git status", False), ("npm run grepper", False)],
)  # fmt: skip
def test_a_call_that_may_look_into_a_folder_is_known_before_it_is_read(
    command: str, deep: bool
) -> None:
    assert may_take_long(call("Bash", command=command)) is deep
    assert may_take_long(call("Grep", pattern="x"))
    assert not may_take_long(call("Read", file_path="x"))
    assert not may_take_long(call("Bash"))
