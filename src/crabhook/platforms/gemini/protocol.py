"""What Gemini CLI 0.61 reads (its hook protocol: events, output fields, configuration)."""

from collections.abc import Mapping

from crabhook.platforms.gemini.events import EVENTS
from crabhook.platforms.protocol import Protocol

_TOOLS = """
run_shell_command read_file write_file replace glob grep_search search_file_content
list_directory web_fetch google_web_search write_todos update_topic list_background_processes
read_background_output activate_skill invoke_agent enter_plan_mode exit_plan_mode ask_user
read_many_files get_internal_docs read_mcp_resource list_mcp_resources complete_task
"""

_ELSEWHERE: Mapping[str, str] = {
    "PreToolUse": "BeforeTool",
    "PostToolUse": "AfterTool",
    "UserPromptSubmit": "BeforeAgent",
    "Stop": "AfterAgent",
    "PreCompact": "PreCompress",
    "Bash": "run_shell_command",
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "replace",
    "MultiEdit": "replace",
    "Glob": "glob",
    "Grep": "grep_search",
    "grep": "grep_search",
    "LS": "list_directory",
    "ls": "list_directory",
    "WebFetch": "web_fetch",
    "WebSearch": "google_web_search",
    "Task": "invoke_agent",
    "Agent": "invoke_agent",
    "shell": "run_shell_command",
}

_EVENTS = {name: row.reads for name, row in EVENTS.items()}

PROTOCOL = Protocol(
    name="gemini",
    title="Gemini CLI",
    unit=0.001,
    timeout=60,
    events=_EVENTS,
    tools=frozenset(_TOOLS.split()),
    mcp="mcp_server_tool",
    nested=frozenset({"additionalContext", "tool_input", "toolConfig", "tailToolCallRequest"}),
    decisions=frozenset({"allow", "approve", "deny", "block", "ask"}),
    elsewhere=_ELSEWHERE,
    strict_event_name=False,
    folder=".gemini",
    marks=frozenset({"hooksConfig"}),
    comments=True,
    switches=((("hooksConfig", "enabled"), False, "it switches every hook off"),),
    variables=("GEMINI_PROJECT_DIR",),
    spoken=frozenset({"BeforeTool", "AfterTool", "BeforeAgent", "run_shell_command"}),
    input_key="tool_input",
    listed="_|",
    goes_on=frozenset({1}),
    heeds_silence=False,
    any_output=True,
)
