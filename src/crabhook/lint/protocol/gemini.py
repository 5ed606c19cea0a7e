"""What Gemini CLI 0.61 reads (its hook protocol: events, output fields, configuration)."""

from collections.abc import Mapping

from crabhook.lint.protocol.interface import ANY, FREE, Event, Protocol

_EVENTS: Mapping[str, Event] = {
    "SessionStart": Event(
        frozenset({"additionalContext"}),
        FREE,
        frozenset({"startup", "resume", "clear"}),
        silent=True,
    ),
    "SessionEnd": Event(
        matcher=FREE,
        values=frozenset({"exit", "clear", "logout", "prompt_input_exit", "other"}),
        silent=True,
    ),
    "BeforeAgent": Event(frozenset({"additionalContext"})),
    "AfterAgent": Event(frozenset({"clearContext"})),
    "BeforeModel": Event(frozenset({"llm_request", "llm_response"})),
    "BeforeToolSelection": Event(frozenset({"toolConfig"})),
    "AfterModel": Event(frozenset({"llm_response"})),
    "BeforeTool": Event(frozenset({"tool_input"}), ANY),
    "AfterTool": Event(frozenset({"additionalContext", "tailToolCallRequest"}), ANY),
    "Notification": Event(silent=True),
    "PreCompress": Event(matcher=FREE, values=frozenset({"auto", "manual"}), silent=True),
}

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
)
