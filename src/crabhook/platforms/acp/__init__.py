"""Any agent that speaks ACP, the Agent Client Protocol (version 1), asked for by our proxy.

`crabhook.acp` stands between an agent and its editor, and asks about what the agent asks the
editor. `calls` makes of an agent's request the call that rules and screens know.
"""

from crabhook.platforms.acp import events, write
from crabhook.platforms.interface import Platform, Tools, functions_of

PLATFORM = Platform(
    name="acp",
    title="ACP agent",
    program="",
    package=__name__,
    **functions_of(events, write),
    tools=Tools(
        folder_keys=("cwd",),
        path_keys=dict.fromkeys(("Read", "Edit", "Write", "MultiEdit"), "file_path"),
    ),
    outcome=events.outcome,
    asks_first=True,
)
