"""GitHub Copilot CLI (hook protocol of 1.0.102): `events` is the table of all its events."""

from crabhook.platforms.copilot import events, write
from crabhook.platforms.interface import Platform, Tools, functions_of

PLATFORM = Platform(
    name="copilot",
    title="GitHub Copilot CLI",
    program="copilot",
    package=__name__,
    **functions_of(events, write),
    tools=Tools(
        aliases={"exit_plan_mode": "ExitPlanMode"},
        questions=frozenset({events.QUESTION_TOOL}),
        plans=frozenset({events.PLAN_TOOL}),
        path_keys={
            **dict.fromkeys(("Read", "Edit", "Write"), "path"),
            **dict.fromkeys(("Glob", "Grep"), "paths"),
        },
        settings="~/.copilot/hooks ~/.copilot/settings.json ~/.copilot/config.json "
        "~/.copilot/mcp-config.json .github/hooks .github/copilot //etc/github-copilot",
        credentials="",
        commands=("copilot mcp add*", "copilot plugin *"),
    ),
    outcome=events.EVENTS.outcome,
    compared=events.compared,
    by_person=events.by_person,
)
