"""Claude Code (hook protocol 2.1.332): `events` is the table of all its events."""

from crabhook.platforms.claude import events, write
from crabhook.platforms.interface import Platform, Sends, Tools, functions_of

_FILE, _NOTEBOOK, _FOLDER = "file_path", "notebook_path", "path"

PLATFORM = Platform(
    name="claude",
    title="Claude Code",
    program="claude",
    package=__name__,
    **functions_of(events, write),
    tools=Tools(
        aliases={"Task": "Agent", "KillShell": "TaskStop"},
        questions=frozenset({events.QUESTION_TOOL}),
        plans=frozenset({events.PLAN_TOOL}),
        path_keys={
            **dict.fromkeys(("Read", "Edit", "Write", "MultiEdit"), _FILE),
            **dict.fromkeys(("NotebookRead", "NotebookEdit"), _NOTEBOOK),
            **dict.fromkeys(("Grep", "Glob", "LS"), _FOLDER),
        },
        loosening=frozenset({"dangerouslyDisableSandbox"}),
        settings="~/.claude/settings*.json .claude/settings*.json ~/.claude.json .claude/hooks "
        "~/.claude/plugins .mcp.json managed-settings*.json //etc/claude-code",
        credentials=".claude/.credentials.json",
        commands=("claude config *", "claude mcp add*"),
        plan_folder="~/.claude/plans",
        plan_mode=events.PLAN_MODE,
    ),
    outcome=write.outcome,
    sends=Sends(write.body),
    by_person=events.by_person,
    part_of=events.part_of,
    compared=write.compared,
)
