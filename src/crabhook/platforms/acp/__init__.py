"""Any agent that speaks ACP, the Agent Client Protocol (version 1), asked for by our proxy.

`crabhook.acp` stands between an agent and its editor, and asks about what the agent asks the
editor. `calls` makes of an agent's request the call that rules and screens know.
"""

from crabhook.platforms.acp import events, write
from crabhook.platforms.interface import Platform, Tools

PLATFORM = Platform(
    name="acp",
    title="ACP agent",
    program="",
    package=__name__,
    events=events.EVENTS,
    tools=Tools(
        folder_keys=("cwd",),
        path_keys=dict.fromkeys(("Read", "Edit", "Write", "MultiEdit"), "file_path"),
    ),
    read=events.read_event,
    held=events.held,
    asks=events.asks,
    choices=write.choices,
    check=write.check,
    write=write.write,
    outcome=events.outcome,
    limits=write.limits,
    asks_first=True,
)
