"""What Claude Code 2.1.330 reads (hook protocol, sections 1 to 5)."""

from collections.abc import Mapping
from dataclasses import replace

from crabhook.platforms.claude.events import EVENTS, Way
from crabhook.platforms.protocol import Protocol, Reads

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


def _reads(name: str) -> Reads:
    """Return what is read on an event: exit code 2 is in vain where no verdict blocks."""
    blocking = {Way.PERMISSION, Way.BLOCK, Way.EXIT, Way.ACTION}
    row = EVENTS[name]
    blocks = name == "WorktreeCreate" or not blocking.isdisjoint(row.verdicts.values())
    return replace(row.reads, silent=not blocks)


_EVENTS = {name: _reads(name) for name in EVENTS}

PROTOCOL = Protocol(
    name="claude",
    title="Claude Code",
    unit=1,
    timeout=600,
    events=_EVENTS,
    tools=frozenset(_TOOLS.split()),
    mcp="mcp__server__tool",
    nested=frozenset(key for one in _EVENTS.values() for key in one.specific)
    - {"decision", "content"},
    decisions=frozenset({"approve", "block"}),
    permissions=frozenset({"allow", "deny", "ask", "defer"}),
    elsewhere=_ELSEWHERE,
    handler_types=frozenset({"command", "http", "mcp_tool", "prompt", "agent"}),
    folder=".claude",
    switches=(
        (("disableAllHooks",), True, "it switches every hook off"),
        (("allowManagedHooksOnly",), True, "only the organisation's own hooks run"),
    ),
    names="_|-, ",
    whole_values=True,
    sets_environment=True,
    variables=("CLAUDE_PROJECT_DIR",),
    spoken=frozenset({"permissionDecision", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT"}),
)
