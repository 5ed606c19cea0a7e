"""What an agent says is happening: one hook input, read but not judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from crabhook.model.jsontext import Value


class Scope(StrEnum):
    """How much of what an agent does an event tells to be over."""

    NOTHING = "nothing"
    CALL = "call"
    AGENT = "agent"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of one of the agent's tools.

    `use_id` is empty where the event does not carry one (Claude Code's
    PermissionRequest).  `input` is an object in every protocol we know, but
    it is kept as whatever was sent.
    """

    name: str
    input: Value
    use_id: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of one agent.

    The named fields are those every platform has, empty where the agent said
    nothing; `fields` is the whole input as it was sent, known or not.
    `agent_id` is empty for the session's main agent.
    """

    platform: str
    name: str
    session: str = ""
    cwd: str = ""
    permission_mode: str = ""
    agent_id: str = ""
    agent_type: str = ""
    tool: ToolCall | None = None
    fields: Mapping[str, Value] = field(default_factory=dict, repr=False)

    def text(self, key: str) -> str:
        """Return the field `key` if the agent sent it as text, else nothing."""
        value = self.fields.get(key)
        return value if isinstance(value, str) else ""

    def slim(self, tool_input: Value = None) -> "Event":
        """Return the event without its payload, to be kept long; its tool with another input."""
        tool = self.tool and replace(self.tool, input=tool_input)
        return replace(self, tool=tool, fields={})
