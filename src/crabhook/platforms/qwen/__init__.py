"""Qwen Code (hook protocol of 0.24): `events` is the table of all its events."""

from crabhook.platforms.interface import Platform, Tools, functions_of
from crabhook.platforms.qwen import events, write

PLATFORM = Platform(
    name="qwen",
    title="Qwen Code",
    program="qwen",
    package=__name__,
    **functions_of(events, write),
    tools=Tools(
        aliases={
            "run_shell_command": "Bash",
            "read_file": "Read",
            "write_file": "Write",
            "edit": "Edit",
            "notebook_edit": "NotebookEdit",
            "glob": "Glob",
            "grep_search": "Grep",
            "list_directory": "LS",
            "web_fetch": "WebFetch",
            "agent": "Agent",
            "skill": "Skill",
            "todo_write": "TodoWrite",
            "ask_user_question": "AskUserQuestion",
            "exit_plan_mode": "ExitPlanMode",
        },
        questions=frozenset({events.QUESTION_TOOL}),
        plans=frozenset({events.PLAN_TOOL}),
        folder_keys=("directory",),
        path_keys={
            **dict.fromkeys(("read_file", "write_file", "edit"), "file_path"),
            **dict.fromkeys(("glob", "grep_search", "list_directory"), "path"),
            "notebook_edit": "notebook_path",
        },
        settings=".qwen/settings.json .qwen/trustedFolders.json .qwen/hooks .qwen/extensions "
        "//etc/qwen-code",
        credentials=".qwen/oauth_creds.json",
        commands=("qwen mcp add*",),
    ),
    outcome=events.EVENTS.outcome,
    by_person=events.by_person,
    asks_first=True,
)
