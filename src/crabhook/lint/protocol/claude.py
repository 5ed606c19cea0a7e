"""What Claude Code 2.1.330 reads (hook protocol, sections 1 to 5)."""

from collections.abc import Mapping

from crabhook.lint.protocol.interface import ANY, FREE, Event, Protocol
from crabhook.platforms.claude.events import EVENTS, Way

# The keys of hookSpecificOutput beside hookEventName, by event; none elsewhere.
_SPECIFIC: Mapping[str, str] = {
    "PreToolUse": "permissionDecision permissionDecisionReason updatedInput additionalContext",
    "PostToolUse": "additionalContext updatedToolOutput updatedMCPToolOutput classifierContext",
    "PostToolUseFailure": "additionalContext",
    "PostToolBatch": "additionalContext",
    "Notification": "additionalContext",
    "UserPromptSubmit": "additionalContext sessionTitle suppressOriginalPrompt",
    "UserPromptExpansion": "additionalContext suppressOriginalPrompt",
    "SessionStart": "additionalContext initialUserMessage sessionTitle watchPaths reloadSkills",
    "Stop": "additionalContext",
    "SubagentStart": "additionalContext",
    "SubagentStop": "additionalContext",
    "PreModelSwitch": "permissionDecision permissionDecisionReason",
    "PostModelSwitch": "additionalContext",
    "PermissionRequest": "decision",
    "PermissionDenied": "retry",
    "Setup": "additionalContext",
    "Elicitation": "action content",
    "ElicitationResult": "action content",
    "WorktreeCreate": "worktreePath",
    "CwdChanged": "watchPaths",
    "FileChanged": "watchPaths",
    "MessageDisplay": "displayContent",
}

_MATCHED: Mapping[str, str] = dict.fromkeys(
    ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"),
    ANY,
) | dict.fromkeys(
    (
        "Notification",
        "UserPromptExpansion",
        "SessionStart",
        "SessionEnd",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "PreModelSwitch",
        "PostModelSwitch",
        "Setup",
        "Elicitation",
        "ElicitationResult",
        "ConfigChange",
        "InstructionsLoaded",
        "FileChanged",
        "DirectoryAdded",
    ),
    FREE,
)

_VALUES: Mapping[str, str] = {
    "SessionStart": "startup resume clear compact fork",
    "SessionEnd": "clear resume logout prompt_input_exit other",
    "PreCompact": "manual auto",
    "PostCompact": "manual auto",
    "Setup": "init maintenance",
    "ConfigChange": "user_settings project_settings local_settings policy_settings skills",
    "InstructionsLoaded": "session_start nested_traversal path_glob_match include compact",
    "DirectoryAdded": "slash_command register_repo_root",
}

_TIMEOUTS: Mapping[str, float] = {
    "UserPromptSubmit": 30,
    "PreModelSwitch": 30,
    "PostModelSwitch": 30,
    "MessageDisplay": 10,
    "SessionEnd": 1.5,
}

# The names in use and, after them, the old ones that still match.
_TOOLS = """
Agent AskUserQuestion Bash BashOutput CronCreate CronDelete CronList Edit EnterPlanMode
EnterWorktree ExitPlanMode ExitWorktree Glob Grep KillShell LS LSP ListAgents
ListMcpResourcesTool Monitor MultiEdit NotebookEdit NotebookRead PowerShell Read
ReadMcpResourceDirTool ReadMcpResourceTool SendMessage SendUserMessage SetGoal Skill
SlashCommand TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TeamCreate TeamDelete
TodoRead TodoWrite ToolSearch WebFetch WebSearch Workflow Write
Task KillBash ListPeers Brief ListMcpResources ReadMcpResource ReadMcpResourceDir ProposeGoal
"""

_ELSEWHERE: Mapping[str, str] = {
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "PreCompress": "PreCompact",
    "run_shell_command": "Bash",
    "read_file": "Read",
    "write_file": "Write",
    "replace": "Edit",
    "edit_file": "Edit",
    "glob": "Glob",
    "grep_search": "Grep",
    "web_fetch": "WebFetch",
    "google_web_search": "WebSearch",
    "apply_patch": "Edit",
    "Shell": "Bash",
    "Terminal": "Bash",
}


def _event(name: str) -> Event:
    decided = Way.PERMISSION in EVENTS[name].verdicts.values()
    blocked = {Way.BLOCK, Way.EXIT, Way.ACTION} & set(EVENTS[name].verdicts.values())
    return Event(
        frozenset(_SPECIFIC.get(name, "").split()),
        _MATCHED.get(name, Event().matcher),
        frozenset(_VALUES.get(name, "").split()),
        silent=not (decided or blocked or name == "WorktreeCreate"),
        timeout=_TIMEOUTS.get(name),
    )


PROTOCOL = Protocol(
    name="claude",
    title="Claude Code",
    unit=1,
    timeout=600,
    events={name: _event(name) for name in EVENTS},
    tools=frozenset(_TOOLS.split()),
    mcp="mcp__server__tool",
    nested=frozenset(key for keys in _SPECIFIC.values() for key in keys.split())
    - {"decision", "content"},
    decisions=frozenset({"approve", "block"}),
    permissions=frozenset({"allow", "deny", "ask", "defer"}),
    elsewhere=_ELSEWHERE,
    handler_types=frozenset({"command", "http", "mcp_tool", "prompt", "agent"}),
)
