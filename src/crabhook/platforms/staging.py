"""What an agent offers to be started against a scripted model, so that the doctor can prove it."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

Body: TypeAlias = Mapping[str, Any]
"""A request to the model, or a part of it, as JSON."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model says next: it runs a command, or where there is none says it is done."""

    place: int
    command: str | None = None

    @property
    def id(self) -> str:
        """A name for it that no other turn has."""
        return f"doctor_{self.place}"


Next: TypeAlias = Callable[[Sequence[str]], Turn]
"""Tells what the model says next, and hears what it was told about its calls so far."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request over HTTP."""

    text: str
    kind: str = "application/json"


@dataclass(frozen=True, slots=True)
class Played:
    """One agent: how it is made ready and started, and how its model is spoken to.

    `home`, given the project's folder and the model's base URL, returns the files that are there
    after a person has been through every first-run dialog: a text, or members of a JSON file that
    may hold the hooks.  `command` is what stands between the program and the prompt, in a run in
    which nothing but a hook says no.  `answer` is the model's, None for a request that it does
    not know.  `environment` may name the base URL as {model}.
    """

    home: Callable[[Path, str], Mapping[str, str | Mapping[str, object]]]
    command: tuple[str, ...]
    answer: Callable[[str, Body, Next], Answer | None]
    environment: Mapping[str, str] = field(default_factory=dict)


_FEWEST_TOOLS = 5  # the main conversation offers some twenty; a side request, as for a title, few


def turn_of(tools: int, results: Iterable[Any], say: Next) -> Turn:
    """Return the turn that answers a request with so many tools, and these results of calls."""
    if tools < _FEWEST_TOOLS:
        return Turn(0)
    return say(
        [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in results]
    )


def event_stream(events: Iterable[object], *, named: bool = True) -> Answer:
    """Return events as a stream of server-sent events, each named by its `type`."""
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if named and isinstance(event, dict) else ""
        lines.append(f"{name}data: {json.dumps(event)}\n\n")
    return Answer("".join(lines), "text/event-stream")
