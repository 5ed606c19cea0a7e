"""What an agent says is happening: one hook input, read but not judged."""

from collections.abc import Mapping
from dataclasses import field, replace
from enum import Enum, StrEnum
from hashlib import sha256

from crabhook.datatypes import frozen
from crabhook.model.jsontext import START, Value, canonical, in_pieces, start_of, text_at


class EndScope(StrEnum):
    """What an event says is over.

    RESULT ends a call that was already decided, at an agent where nobody else answers while a hook
    asks.
    """

    NOTHING = "nothing"
    CALL = "call"
    RESULT = "result"
    AGENT = "agent"
    SESSION = "session"


class How(Enum):
    """The forms in which a screen shows a field; a value that does not fit is shown as FIELD."""

    FIELD = "a short value beside its label, any other below it"
    PROSE = "a text, in full"
    MARKDOWN = "a text that a model wrote"
    SEVERAL = "a list, item by item"
    RESULT = "what a tool gave: its text as it is, or its fields"
    MONEY = "an amount of dollars"
    MODEL = "the name of a model"
    FLAG = "true or false, each told by a sentence"


@frozen
class ShownField:
    """How one field is shown.

    `yes`, `no`: the sentences of a FLAG; an empty sentence is not shown. `short`: its label on the
    plain desk, if the desk has none.
    """

    label: str
    how: How = How.FIELD
    yes: str = ""
    no: str = ""
    short: str = ""


@frozen
class ToolCall:
    """A call of one of the agent's tools.

    `use_id` is empty where the event has none (Claude Code's PermissionRequest). `input` may be any
    value. `comments`: its keys with the agent's own explanation, on this event alone. `shared`: its
    keys that the call's other events have too, where this event gives only a part of the input;
    None where it gives all of it. What it measures is kept from the first reading on: it may be
    megabytes, and every step needs this.
    """

    name: str
    input: Value
    use_id: str = ""
    comments: frozenset[str] = frozenset()
    shared: frozenset[str] | None = None
    _measured: tuple[bytes, int] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def bare(self) -> Value:
        """The input without its comments: what the call does, the same on all its events."""
        if not self.comments or not isinstance(self.input, dict):
            return self.input
        return {key: value for key, value in self.input.items() if key not in self.comments}

    @property
    def part(self) -> Value:
        """What the call's other events have of this input too."""
        if self.shared is None or not isinstance(self.input, dict):
            return self.bare
        return {key: value for key, value in self.input.items() if key in self.shared}

    def _measure(self) -> tuple[bytes, int]:
        text = canonical(self.bare)
        return self._keep(sha256(text.encode()).digest(), len(text))

    def _keep(self, digest: bytes, size: int) -> tuple[bytes, int]:
        object.__setattr__(self, "_measured", (digest, size))
        return digest, size

    def measure(self) -> None:
        """Compute the measure in a thread: a long input takes a while."""
        digest, size = sha256(), 0
        for piece in in_pieces(self.bare, canonical):
            digest.update(piece.encode())
            size += len(piece)
        self._keep(digest.digest(), size)

    @property
    def fingerprint(self) -> bytes:
        """Equal for inputs that are equal as JSON without comments, and for no others."""
        return (self._measured or self._measure())[0]

    @property
    def size(self) -> int:
        """Bytes of the input, without its comments, as JSON."""
        return (self._measured or self._measure())[1]


@frozen
class Event:
    """One event of one agent.

    The named fields exist on every platform, empty if unsaid; `fields` is the whole input.
    `agent_id` is empty for the main agent. `tells`, from the agent's table of events: the most
    telling fields in order. `machine` proved itself by its token; no hook can claim it. `proxied`
    is the platform of the agent that a proxy of ours asks for, where that has one of its own.
    `trace` is the TRACEPARENT of the hook's environment, where that has its form.
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
    tells: Mapping[str, ShownField] = field(default_factory=dict, repr=False, compare=False)
    machine: str = ""
    trace: str = field(default="", compare=False)
    proxied: str = ""

    @property
    def agent(self) -> str:
        """The platform of the agent itself: its hooks and its proxy speak of the same sessions."""
        return self.proxied or self.platform

    @property
    def session_key(self) -> tuple[str, str, str]:
        """The session's name among all agents': platform, id, and machine.

        So another machine's client cannot name a session of this machine.
        """
        return self.agent, self.session, self.machine

    @property
    def agent_key(self) -> tuple[str, str, str, str]:
        """The name of the agent within the session, with subagents told apart."""
        return self.agent, self.session, self.machine, self.agent_id

    def text(self, key: str) -> str:
        """Return the field `key` if the agent sent it as text, else nothing."""
        return text_at(self.fields, key)

    @property
    def given(self) -> Mapping[str, Value]:
        """What its tool is given, by name; nothing where that is no JSON object."""
        tool_input = self.tool.input if self.tool else None
        return tool_input if isinstance(tool_input, dict) else {}

    def calls(self, *tools: str) -> bool:
        """Whether the event is about a call of one of these tools."""
        return self.tool is not None and self.tool.name in tools

    def brief(self, size: int = 0) -> "Event":
        """Return the event with only the start of its texts, to keep; a short event as it is.

        `size`: the bytes of its whole input, if known, which tell of most that they are short.
        """
        if 0 < size <= START:
            return self
        fields = {key: value for key, value in self.fields.items() if key != "tool_input"}
        starts = start_of(fields)
        whole_input = self.tool.input if self.tool else None
        tool_input = start_of(whole_input)
        if starts is fields and tool_input is whole_input:
            return self
        return self._with(tool_input, starts if isinstance(starts, dict) else {})

    def slim(self, tool_input: Value = None) -> "Event":
        """Return the event without its payload, to be kept long; its tool with another input."""
        return self._with(tool_input, {})

    def _with(self, tool_input: Value, fields: Mapping[str, Value]) -> "Event":
        """Return the event with another input and fields."""
        tool = self.tool and replace(self.tool, input=tool_input)
        return replace(self, tool=tool, fields=fields)
