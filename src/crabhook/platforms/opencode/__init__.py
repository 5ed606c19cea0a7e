"""OpenCode (1.18): `events` is the table of all events that our plugin sends from inside it."""

from crabhook.platforms.interface import Platform, Sends, Tools, functions_of
from crabhook.platforms.opencode import events, write

PLATFORM = Platform(
    name="opencode",
    title="OpenCode",
    program="opencode",
    package=__name__,
    **functions_of(events, write),
    tools=Tools(
        aliases={
            "bash": "Bash",
            "read": "Read",
            "write": "Write",
            "edit": "Edit",
            "apply_patch": "ApplyPatch",
            "glob": "Glob",
            "grep": "Grep",
            "list": "LS",
            "webfetch": "WebFetch",
            "websearch": "WebSearch",
            "task": "Agent",
            "skill": "Skill",
            "todowrite": "TodoWrite",
            events.QUESTION_TOOL: "AskUserQuestion",
        },
        questions=frozenset({events.QUESTION_TOOL}),
        folder_keys=("workdir",),
        path_keys={
            **dict.fromkeys(("read", "write", "edit"), "filePath"),
            **dict.fromkeys(("glob", "grep", "list"), "path"),
        },
        settings="opencode.json opencode.jsonc .opencode .config/opencode",
        credentials=".local/share/opencode/auth.json .local/share/opencode/mcp-auth.json",
        commands=("opencode mcp add*", "opencode plugin *"),
    ),
    outcome=events.outcome,
    compared=write.compared,
    by_person=events.by_person,
    sends=Sends(write.body),
)
