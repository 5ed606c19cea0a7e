"""Agent frameworks that speak AAP, the Agent Approval Protocol, with our HTTP door as the provider.

A framework's adapter (the package agentapprovalprotocol, 0.3.3) asks about each call of a tool.
`submissions` reads strictly what it sends, and makes of it the events that `events` lists.
"""

from crabhook.platforms.aap import events, write
from crabhook.platforms.interface import Platform, Tools

PLATFORM = Platform(
    name="aap",
    title="AAP agent",
    program="",
    package=__name__,
    events=events.EVENTS,
    tools=Tools(),
    read=events.read_event,
    held=events.held,
    asks=events.asks,
    choices=write.choices,
    check=write.check,
    write=write.write,
    outcome=events.EVENTS.outcome,
    limits=write.limits,
)
