"""GitHub Copilot CLI (hook protocol of 1.0.102): `events` is the table of all its events."""

from crabhook.platforms.copilot import events, write
from crabhook.platforms.interface import Platform, Tools

PLATFORM = Platform(
    name="copilot",
    title="GitHub Copilot CLI",
    program="copilot",
    package=__name__,
    events=events.EVENTS,
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
    read=events.read_event,
    held=events.held,
    asks=events.asks,
    choices=write.choices,
    check=write.check,
    write=write.write,
    outcome=events.EVENTS.outcome,
    limits=write.limits,
    compared=events.compared,
    by_person=events.by_person,
)
