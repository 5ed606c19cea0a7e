"""Gemini CLI (hook protocol of 0.61): `events` is the table of all its events."""

from crabhook.platforms.gemini import events, write
from crabhook.platforms.interface import Platform, Tools, functions_of

PLATFORM = Platform(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    package=__name__,
    **functions_of(events, write),
    tools=Tools(
        aliases={
            "run_shell_command": "Bash",
            "read_file": "Read",
            "read_many_files": "ReadMany",
            "write_file": "Write",
            "replace": "Edit",
            "glob": "Glob",
            "grep_search": "Grep",
            "search_file_content": "Grep",
            "list_directory": "LS",
            "web_fetch": "WebFetch",
            "google_web_search": "WebSearch",
            "invoke_agent": "Agent",
            "activate_skill": "Skill",
            "ask_user": "AskUserQuestion",
            "exit_plan_mode": "ExitPlanMode",
        },
        questions=frozenset({events.QUESTION_TOOL}),
        plans=frozenset({events.PLAN_TOOL}),
        folder_keys=("dir_path", "directory"),  # as of today, and of before
        path_keys={
            **dict.fromkeys(("read_file", "write_file", "replace"), "file_path"),
            **dict.fromkeys(
                ("glob", "grep_search", "search_file_content", "list_directory", "read_many_files"),
                "dir_path",
            ),
        },
        settings=".gemini/settings.json .gemini/trustedFolders.json .gemini/hooks "
        ".gemini/extensions .gemini/policies //etc/gemini-cli",
        credentials=".gemini/oauth_creds.json .gemini/google_accounts.json",
        commands=("gemini hooks *",),
    ),
    outcome=events.EVENTS.outcome,
)
