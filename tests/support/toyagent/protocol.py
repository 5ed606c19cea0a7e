"""What the toy agent reads."""

from crabhook.platforms.protocol import Protocol
from tests.support.toyagent import EVENTS, QUESTION_TOOL

PROTOCOL = Protocol(
    name="toy",
    title="Toy Agent",
    unit=1,
    timeout=30,
    events={name: row.reads for name, row in EVENTS.items()},
    tools=frozenset({"toy_shell", QUESTION_TOOL}),
    mcp="mcp__server__tool",
    nested=frozenset(),
    decisions=frozenset({"allow", "deny"}),
    folder=".toy",
    spoken=frozenset({"ToyCall"}),
)
