"""Codex (hook protocol of CLI 0.169): `events` is the table of all its events."""

from crabhook.platforms.codex import events, write
from crabhook.platforms.interface import Platform, Tools, functions_of

PLATFORM = Platform(
    name="codex",
    title="Codex",
    program="codex",
    package=__name__,
    **functions_of(events, write),
    tools=Tools(
        aliases={"apply_patch": "ApplyPatch", "request_user_input": "AskUserQuestion"},
        folder_keys=("workdir", "cwd"),  # its own name, and that of its older tools
        questions=frozenset({events.QUESTION_TOOL}),
        loosening=frozenset(
            {"additional_permissions", "sandbox_permissions", "with_escalated_permissions"}
        ),
        settings=".codex/config.toml .codex/hooks.json .codex/hooks .codex/rules //etc/codex",
        credentials=".codex/auth.json",
        commands=("codex mcp add *",),
    ),
    outcome=events.EVENTS.outcome,
)
