"""OpenCode (1.18): `events` is the table of all events that our plugin sends from inside it."""

from crabhook.platforms.interface import Platform, Sends, Tools
from crabhook.platforms.opencode import events, write

PLATFORM = Platform(
    name="opencode",
    title="OpenCode",
    program="opencode",
    package=__name__,
    events=events.EVENTS,
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
    read=events.read_event,
    held=events.held,
    asks=events.asks,
    choices=write.choices,
    check=write.check,
    write=write.write,
    outcome=events.outcome,
    limits=write.limits,
    compared=write.compared,
    by_person=events.by_person,
    sends=Sends(write.body),
)
