"""What every agent brings to the house: one folder, one `Platform`, one row for each event."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, Flag, auto
from typing import Generic, TypeVar

from crabhook.model.choices import Choices
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event, Scope, ToolCall
from crabhook.model.fields import Told
from crabhook.model.jsontext import Value
from crabhook.model.reply import Reply
from crabhook.model.request import Stance
from crabhook.platforms.protocol import Reads

W_co = TypeVar("W_co", bound=Enum, covariant=True)
"""An agent's ways to write a verdict."""


class Held(Enum):
    """When an event waits for the operator."""

    ALWAYS = "always"
    AT_THE_GATE = "as a gate; as a companion when asked to"
    BY_RULE = "where a rule or a protected place speaks of it; else it passes at once"
    ON_REQUEST = "when the operator asked to hold it"
    NEVER = "never"


class Phase(Enum):
    """What an event means for a call of a tool, or for the turn it belongs to.

    BEFORE: the agent stands still until the hook has answered or was ended, so
    that nothing it says meanwhile can be about that call.  ASKING: a person at
    the agent may answer first.
    """

    BEFORE = "about to call"
    ASKING = "asks whether to call"
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


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a hook may take, in seconds.

    `client` is our client's own limit and always the shorter one, so that it
    is the client that gives up, in good order, and not the agent that kills it.
    """

    timeout: float
    client: int


@dataclass(frozen=True, slots=True)
class EventRow(Generic[W_co]):
    """All that is known of one event of one agent.

    `verdicts`: those an operator may give, and how each is written; no opinion
    can always be given.  `also`: what the answer may carry beside the verdict.
    `closes`: what the event tells to be over; of a call that was not decided
    here it is the only sign.  `phase`: what the event means for a call.
    `outcome`: what became of a call that nobody decided, in words.
    `silence_decides`: the event is decided by what is printed, so a hook that
    only watches must not be registered on it.  `hook`: how our hook is
    installed on it: with None it can wait for the operator, with a Patience it
    is only observed, and with a text it is left out, for that reason.
    `reads`: what the linter has to know.  `told`: the fields that tell most.
    """

    held: Held = Held.NEVER
    verdicts: Mapping[Verdict, W_co] = field(default_factory=dict)
    also: Also = Also.NOTHING
    closes: Scope = Scope.NOTHING
    phase: Phase = Phase.OTHER
    outcome: str = ""
    hook: Patience | str | None = None
    reads: Reads = Reads()  # noqa: RUF009 - it is frozen
    told: Mapping[str, Told] = field(default_factory=dict)
    silence_decides: bool = False


@dataclass(frozen=True, slots=True)
class Tools:
    """What an agent calls its tools, and where it keeps what rules protect.

    `aliases`: its names for tools that Claude Code has, too; rules are written
    in Claude Code's.  `questions` and `plans`: the tools that ask a person
    something, or present a plan.  `folder_keys`: the input of a command that
    says where it runs.  `path_keys`: the input that holds a tool's path.
    `loosening`: the inputs by which a command asks for more than its sandbox.
    `settings` and `credentials`: the files that decide about its hooks, and
    that hold its secrets, as path patterns with blanks between them; and
    `commands`, which change the former.
    """

    aliases: Mapping[str, str] = field(default_factory=dict)
    questions: frozenset[str] = frozenset()
    plans: frozenset[str] = frozenset()
    folder_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    path_keys: Mapping[str, str] = field(default_factory=dict)
    loosening: frozenset[str] = frozenset()
    settings: str = ""
    credentials: str = ""
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Silence:
    """What the hook prints where nobody answers.

    `nothing`: what says nothing.  `words`: what is printed for a wish, "ask"
    or "deny", on an event; each holds one %s for the reason, a JSON string.
    An event that is not here is passed.
    """

    nothing: str = ""
    words: Mapping[tuple[str, str], str] = field(default_factory=dict)


def _nothing_held_back(_: Event) -> Sequence[str]:
    return ()


def _whole_input(tool: ToolCall) -> Mapping[str, Value]:
    return {"input": tool.bare}


@dataclass(frozen=True)
class Platform:
    """One agent: its tables, and the functions that read and write its hook protocol.

    `name` is what a client gives with `--platform`, `title` the agent's full
    name, `program` what starts it, and `package` the folder with its parts that
    are loaded when they are first needed.

    `read` returns the event in a hook's standard input; it raises PayloadError,
    in words for a person.  `held` says when an event waits for the operator
    under a stance; until it does it gets silence at once.  `asks` says whether
    the event itself asks a person something, so that no blanket allow answers
    it.  `choices` returns what the event can be told; what it cannot, `check`
    refuses with DecisionError, saying why.  `write` returns the decision in
    the words that this event is answered with.  `remark` returns a reply that
    tells the model a note on an observed event, if it can.  `outcome` returns
    how a call that was answered at the agent went, as far as an event tells.
    `limits` returns what a decision will not bring about at the agent, a
    sentence each, for its card: only what an operator would otherwise take for
    granted.  `compared` returns what of a call's input has to be the same when
    it runs, by name: all of it, but for what the agent itself changes.
    """

    name: str
    title: str
    program: str
    package: str
    events: Mapping[str, EventRow[Enum]]
    tools: Tools
    silence: Silence
    read: Callable[[bytes], Event]
    held: Callable[[Event, Stance], Held]
    asks: Callable[[Event], bool]
    choices: Callable[[Event], Choices]
    check: Callable[[Event, Decision], None]
    write: Callable[[Event, Decision], Reply]
    remark: Callable[[Event, str], Reply | None]
    outcome: Callable[[Event], str]
    limits: Callable[[Event], Sequence[str]] = _nothing_held_back
    compared: Callable[[ToolCall], Mapping[str, Value]] = _whole_input

    def holdable(self) -> Sequence[str]:
        """Return the names of the events that an operator may ask to hold."""
        return holdable(self.events)

    def phase(self, event: Event) -> Phase:
        """Return what the event means for a call, or for the turn."""
        return self.events[event.name].phase if event.name in self.events else Phase.OTHER

    def closes(self, event: Event) -> Scope:
        """Return what the event tells to be over."""
        return self.events[event.name].closes if event.name in self.events else Scope.NOTHING


def holdable(events: Mapping[str, EventRow[Enum]]) -> tuple[str, ...]:
    """Return the events of a table that an operator may ask to hold."""
    asked = (Held.AT_THE_GATE, Held.ON_REQUEST)
    return tuple(name for name, row in events.items() if row.held in asked)
