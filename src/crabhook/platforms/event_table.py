"""The tables of an agent: a row for each event, and what the agent reads.

The linter checks configurations and hooks against the latter.
"""

from collections.abc import Collection, Mapping
from dataclasses import field
from enum import Enum, Flag, auto
from typing import Any, Generic, TypeVar

from crabhook.data_files import names
from crabhook.datatypes import frozen
from crabhook.model.decision import Verdict
from crabhook.model.event import EndScope, Event, ShownField

ANY = "any tool's name"
FREE = "a value that is not from a list"
NOTHING = "nothing: a matcher here is ignored"


@frozen
class Reads:
    """What an agent reads about one event.

    `specific`: the keys in hookSpecificOutput. `matcher`: what a matcher is compared with: ANY,
    FREE, NOTHING, or one of the `values`. `silent`: exit code 2 does nothing.
    """

    specific: frozenset[str] = frozenset()
    matcher: str = NOTHING
    values: frozenset[str] = frozenset()
    silent: bool = False
    timeout: float | None = None


@frozen
class Protocol:
    """What one agent reads in its configuration and from its hooks: its `protocol.toml`.

    Claude Code's and Gemini CLI's files explain the keys; `nested` keys are read in
    hookSpecificOutput alone. `resume`: the command that goes on with a session, with places for its
    id and a prompt. `timeout_keys` and `commands`: how a handler's timeout and command are
    called, first come first. `flat`: a handler may stand in place of a matcher group. `spellings`:
    other names of events, under which nothing in hookSpecificOutput is read. `files`: the names of
    files that are no other agent's. `asks`: its own permissions, each with the other tools that it
    is asked for. `whole`: those that take no patterns. `unasked`: what is done unsaid.
    """

    name: str
    title: str
    events: Mapping[str, Reads]
    nested: frozenset[str]
    unit: float
    timeout: float
    tools: frozenset[str]
    mcp: str
    decisions: frozenset[str]
    permissions: frozenset[str] = frozenset()
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    handler_types: frozenset[str] = frozenset()
    strict_event_name: bool = True
    folder: str = ""
    marks: frozenset[str] = frozenset()
    suffix: str = ""
    comments: bool = False
    switches: tuple[tuple[tuple[str, ...], bool, str], ...] = ()
    names: str | None = None
    variables: frozenset[str] = frozenset()
    spoken: frozenset[str] = frozenset()
    input_key: str = "updatedInput"
    listed: str = "_|-, "
    whole_values: bool = False
    sets_environment: bool = False
    goes_on: frozenset[int] | None = None
    heeds_silence: bool = True
    any_output: bool = False
    milliseconds_from: float | None = None
    timeout_keys: tuple[str, ...] = ("timeout",)
    commands: tuple[str, ...] = ("command",)
    flat: bool = False
    spellings: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    commas: bool = False
    asks: Mapping[str, str] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()
    unasked: Mapping[str, str] = field(default_factory=dict)
    resume: str = ""

    def timeout_key(self, handler: Collection[str]) -> str:
        """Return the key of a handler's timeout, which it need not have."""
        return next((key for key in self.timeout_keys if key in handler), self.timeout_keys[0])

    def seconds(self, timeout: float) -> float:
        """Return a registered timeout in seconds."""
        if self.milliseconds_from is not None and timeout >= self.milliseconds_from:
            return timeout / 1000
        return timeout * self.unit


_MATCHERS = {"tool": ANY, "free": FREE}


def _reads(specific: str = "", matcher: str = "", values: str = "", **rest: Any) -> Reads:  # noqa: ANN401 - a table's
    against = _MATCHERS[matcher] if matcher else NOTHING
    return Reads(names(specific), against, names(values), **rest)


def read_protocol(
    name: str, title: str, rows: "EventTable[Any]", table: Mapping[str, Any]
) -> Protocol:
    """Return what an agent reads, of these events, as its `protocol.toml` says."""
    switches = tuple(
        (tuple(switch["path"].split(".")), switch["value"], switch["effect"])
        for switch in table.get("switches", ())
    )
    names_of_events = (*rows, *table.get("spellings", ()))
    events = {event: _reads(**table.get("events", {}).get(event, {})) for event in names_of_events}
    nested = frozenset(key for event in events.values() for key in event.specific)
    nested -= set(table.get("unnested", ()))
    plain: dict[str, Any] = {
        key: frozenset(value) if isinstance(value, list) else value
        for key, value in table.items()
        if key not in {"switches", "unnested", "events"}
    }
    # The order of these counts.
    plain |= {key: tuple(table[key]) for key in ("timeout_keys", "commands") if key in table}
    return Protocol(name, title, events, nested, switches=switches, **plain)


W = TypeVar("W", bound=Enum)
"""An agent's ways to write a verdict."""


class Held(Enum):
    """When an event waits for the operator."""

    ALWAYS = "always"
    AT_THE_GATE = "as a gate, or as a companion when asked to"
    BY_RULE = "where a rule or a protected place covers it, else it passes at once"
    ON_REQUEST = "when the operator asked to hold it"
    AFTERWARDS = "never, but a card about it stands once its hook has its answer"
    NEVER = "never"


class Phase(Enum):
    """What an event means for a tool call, or its turn.

    BEFORE: the agent waits for the hook. ASKING: a person at the agent may answer first. PART: the
    agent waits, too, but no other event is ever about the same part, and no result is told.
    """

    BEFORE = "about to call"
    ASKING = "asks whether to call"
    PART = "about to run a part of a call"
    RAN = "the call ran"
    REFUSED = "the agent itself refused the call"
    PROMPT = "a person begins a turn"
    OTHER = "none of these"


class Also(Flag):
    """What an answer may say beside its verdict."""

    NOTHING = 0
    CONTEXT = auto()  # hookSpecificOutput.additionalContext, for the model
    HALT = auto()  # continue: false, which ends the turn
    USER = auto()  # systemMessage, for the agent's user


TELL = Also.USER | Also.CONTEXT
HALT = Also.USER | Also.HALT
ALL = TELL | Also.HALT


@frozen
class Patience:
    """How long a hook may take, in seconds.

    `client` is our client's own, shorter limit, so that it gives up in order before the agent kills
    it.
    """

    timeout: float
    client: int


SOON = Patience(timeout=10, client=5)
"""A server that answers late must not hold the agent up for what can only be shown to it."""


@frozen
class EventRow(Generic[W]):
    """One event of one agent.

    `verdicts`: an operator's possible verdicts and their writing. `also`: what an answer may add.
    `closes`: what the event says is over; for a call not decided here it is the only sign, with the
    result in `outcome`. `hook`: our hook's kind: None can wait for the operator, a Patience only
    observes, a text says why there is none. `silence_decides`: printing decides, so no watching
    hook may be there. `tells`: the most telling fields.
    """

    held: Held = Held.NEVER
    verdicts: Mapping[Verdict, W] = field(default_factory=dict)
    also: Also = Also.NOTHING
    closes: EndScope = EndScope.NOTHING
    phase: Phase = Phase.OTHER
    outcome: str = ""
    hook: Patience | str | None = None
    tells: Mapping[str, ShownField] = field(default_factory=dict)
    silence_decides: bool = False


class EventTable(dict[str, EventRow[W]]):
    """An agent's table of events by name; an event that is not in it is only observed."""

    def __missing__(self, name: str) -> EventRow[W]:
        return EventRow()

    def outcome(self, event: Event) -> str:
        """Return what an event tells of a call or a turn that is over, as its row says."""
        return self[event.name].outcome


def decided(events: EventTable[Any]) -> tuple[str, ...]:
    """Return the events that decide a call, each for every tool and in every stance."""
    return tuple(name for name, row in events.items() if row.held is Held.ALWAYS)
