"""What every agent brings to the house: one folder, and one `Platform`."""

import json
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from crabhook.data_files import tables
from crabhook.datatypes import frozen
from crabhook.model.card import Stance
from crabhook.model.decision import Choices, Decision, Reply, Verdict
from crabhook.model.event import EndScope, Event, ToolCall
from crabhook.model.jsontext import Value
from crabhook.platforms.event_table import (
    Also,
    EventTable,
    Held,
    Phase,
    Protocol,
    decided,
    read_protocol,
)

if TYPE_CHECKING:
    from crabhook.platforms.installation import HookSetup


@frozen
class Tools:
    """What an agent calls its tools, and where it keeps what rules protect.

    `aliases`: its names for tools that Claude Code has, too; rules are written in Claude Code's.
    `questions` and `plans`: the tools that ask a person. `folder_keys`: the inputs of a command
    that say where it runs. `path_keys`: the input that holds a tool's path. `loosening`: the inputs
    by which a command asks for more than its sandbox. `settings` and `credentials`: the files that
    decide about its hooks, and that hold its secrets, as path patterns with blanks between them.
    `commands` change the settings. `plan_folder`: where a session keeps its plan file, which the
    agent lets itself write without asking in the permission mode `plan_mode`.
    """

    aliases: Mapping[str, str] = field(default_factory=dict)
    questions: frozenset[str] = frozenset()
    plans: frozenset[str] = frozenset()
    folder_keys: tuple[str, ...] = ()
    path_keys: Mapping[str, str] = field(default_factory=dict)
    loosening: frozenset[str] = frozenset()
    settings: str = ""
    credentials: str = ""
    commands: tuple[str, ...] = ()
    plan_folder: str = ""
    plan_mode: str = ""


@frozen
class Sends:
    """Hooks that an agent sends itself: `body` is a reply as the body of the HTTP answer."""

    body: Callable[[Reply], bytes]


class EventsModule(typing.Protocol):
    """An agent's `events.py`: its table, and what an input of its hooks is."""

    @property
    def EVENTS(self) -> EventTable[Any]: ...  # noqa: N802, D102 - the module's own name

    def read_event(self, payload: bytes, /) -> Event: ...  # noqa: D102 - as in Platform

    def held(self, event: Event, stance: Stance, /) -> Held: ...  # noqa: D102 - likewise

    def asks(self, event: Event, /) -> bool: ...  # noqa: D102 - likewise


class WriteModule(typing.Protocol):
    """An agent's `write.py`: what an event can be told, and how that is written."""

    def choices(self, event: Event, /) -> Choices: ...  # noqa: D102 - as in Platform

    def limits(self, event: Event, /) -> Sequence[str]: ...  # noqa: D102 - likewise

    def check(self, event: Event, decision: Decision, /) -> None: ...  # noqa: D102 - likewise

    def write(self, event: Event, decision: Decision, /) -> Reply: ...  # noqa: D102 - likewise


def functions_of(events: EventsModule, write: WriteModule) -> dict[str, Any]:
    """Return what both modules of an agent's folder give its Platform, by the field."""
    return {
        "events": events.EVENTS,
        "read": events.read_event,
        "held": events.held,
        "asks": events.asks,
        "choices": write.choices,
        "limits": write.limits,
        "check": write.check,
        "write": write.write,
    }


@frozen(slots=False)
class Platform:
    """One agent: its tables, and the functions that read and write its hook protocol.

    `name` is for `--platform`, `program` starts the agent (empty for any), and `package` has the
    parts that are loaded on first use.

    `read` returns the event in a hook's standard input, or raises PayloadError. `held`: when an
    event waits for the operator under a stance. `asks`: whether the event itself asks a person, so
    that no blanket allow answers it. `choices`: what the event can be told; `check` refuses the
    rest with DecisionError. `write`: the decision in the event's words. `outcome`: the result of a
    call answered at the agent. `limits`: sentences about effects that an operator would expect but
    a decision does not have. `compared`: the parts of a call's input, by name, that must be the
    same when it runs; None for all of it. `by_person`: whether a person wrote a prompt, not the
    agent's own program. `part_of`: the id of the call that an event is about a part of.
    `asks_first`: whether it asks its user about a call before the event that comes with each call.
    `sends`: how it is answered over HTTP; None where it sends no hooks itself.
    """

    name: str
    title: str
    program: str
    package: str
    events: EventTable[Any]
    tools: Tools
    read: Callable[[bytes], Event]
    held: Callable[[Event, Stance], Held]
    asks: Callable[[Event], bool]
    choices: Callable[[Event], Choices]
    check: Callable[[Event, Decision], None]
    write: Callable[[Event, Decision], Reply]
    outcome: Callable[[Event], str]
    limits: Callable[[Event], Sequence[str]] = lambda _: ()
    compared: Callable[[ToolCall], Mapping[str, Value] | None] = lambda _: None
    by_person: Callable[[Event], bool] = lambda _: True
    part_of: Callable[[Event], str] = lambda _: ""
    asks_first: bool = False
    sends: Sends | None = None

    def holdable(self) -> Sequence[str]:
        """Return the names of the events that an operator may ask to hold."""
        asked = (Held.AT_THE_GATE, Held.ON_REQUEST)
        return tuple(name for name, row in self.events.items() if row.held in asked)

    def plan_folder(self, event: Event) -> str:
        """Return the folder of plan files, of an event before a call in plan mode; else nothing."""
        tools = self.tools
        planning = bool(tools.plan_mode) and event.permission_mode == tools.plan_mode
        return tools.plan_folder if planning and self.phase(event) is Phase.BEFORE else ""

    @property
    def decided(self) -> frozenset[str]:
        """The events on which a hook decides a call, in every stance."""
        return frozenset(decided(self.events))

    @cached_property
    def changeable(self) -> frozenset[str]:
        """The events on which a hook decides a call, and may change it."""
        return frozenset(name for name in self.decided if self.events[name].phase is not Phase.PART)

    def phase(self, event: Event) -> Phase:
        """Return what the event means for a call, or for the turn."""
        return self.events[event.name].phase

    def takes(self, event: Event, verdict: Verdict) -> bool:
        """Whether the verdict, other than PASS, is among its `choices`: as its row says."""
        return verdict in self.events[event.name].verdicts

    def closes(self, event: Event) -> EndScope:
        """Return what the event tells to be over."""
        return self.events[event.name].closes

    def remark(self, event: Event, note: str) -> Reply | None:
        """Return a reply that only tells the model a note; None where the event takes none."""
        if Also.CONTEXT not in self.events[event.name].also:
            return None
        return self.write(event, Decision(Verdict.PASS, note=note))

    def carries_note(self, event: Event) -> bool:
        """Whether a note to the model can go with the answer to this event of a call."""
        row = self.events[event.name]
        of_a_call = event.tool is not None and row.phase in (Phase.BEFORE, Phase.RAN)
        return of_a_call and Also.CONTEXT in row.also and not self.asks(event)

    @cached_property
    def takes_notes(self) -> bool:
        """Whether a note to the model can go with any event of a call."""
        with_calls = (Phase.BEFORE, Phase.RAN)
        return any(r.phase in with_calls and Also.CONTEXT in r.also for r in self.events.values())

    @cached_property
    def stops(self) -> bool:
        """Whether a call can be denied before it is made."""
        before = (row for row in self.events.values() if row.phase is Phase.BEFORE)
        return any(Verdict.DENY in row.verdicts for row in before)

    @cached_property
    def settings(self) -> "HookSetup":
        """How crabhook is installed into it, from `settings.py` of its folder."""
        settings: HookSetup = import_module(f"{self.package}.settings").SETTINGS
        return settings

    @cached_property
    def protocol(self) -> Protocol:
        """What it reads, for the linter, from `protocol.toml` of its folder."""
        protocol = tables(str(import_module(self.package).__file__), "protocol")
        return read_protocol(self.name, self.title, self.events, protocol)

    @cached_property
    def scripted_session(self) -> "ScriptedSession":
        """How it is started against a scripted model, from `scripted_session.py` of its folder."""
        module = import_module(f"{self.package}.scripted_session")
        session: ScriptedSession = module.SCRIPTED_SESSION
        return session


Body: TypeAlias = Mapping[str, Any]
"""A request to the model, or a part of it, as JSON."""


@frozen
class Turn:
    """What the model says next: it runs a command, or where there is none says it is done."""

    place: int
    command: str | None = None

    @property
    def id(self) -> str:
        """A name that no other turn has."""
        return f"doctor_{self.place}"


Next: TypeAlias = Callable[[Sequence[str]], Turn]
"""Tells what the model says next, and hears what it was told about its calls so far."""


@frozen
class ModelAnswer:
    """The answer to a request over HTTP."""

    text: str
    kind: str = "application/json"


@frozen
class ScriptedSession:
    """How to set up and start one agent for a test, and how its scripted model speaks.

    `home`, given the project's folder and the model's base URL, returns the files of a user who has
    finished every first-run dialog. A file is a text, or members of a JSON file that may have
    hooks. `command` comes between program and prompt, for a run in which only a hook says no.
    `answer` is the model's, None for an unknown request. `environment` may name the base URL as
    {model}.
    """

    home: Callable[[Path, str], Mapping[str, str | Mapping[str, object]]]
    command: tuple[str, ...]
    answer: Callable[[str, Body, Next], ModelAnswer | None]
    environment: Mapping[str, str] = field(default_factory=dict)


_FEWEST_TOOLS = 5  # the main conversation offers some twenty; a side request, as for a title, few


def turn_of(tools: int, results: Iterable[Any], say: Next) -> Turn:
    """Return the turn that answers a request with so many tools, and these results of calls."""
    if tools < _FEWEST_TOOLS:
        return Turn(0)
    return say(
        [
            result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
            for result in results
        ]
    )


def event_stream(events: Iterable[object], *, named: bool = True) -> ModelAnswer:
    """Return events as a stream of server-sent events, each named by its `type`."""
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if named and isinstance(event, dict) else ""
        lines.append(f"{name}data: {json.dumps(event)}\n\n")
    return ModelAnswer("".join(lines), "text/event-stream")
