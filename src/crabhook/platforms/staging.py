"""What an agent offers to be started against a scripted model, so that the doctor can prove it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

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


class Stage(Protocol):
    """A home folder made for the proof, with a project in it."""

    @property
    def project(self) -> Path:
        """Where the agent works."""

    def write(self, name: str, content: object) -> None:
        """Write a file of the home, JSON unless it is text."""

    def add(self, name: str, content: Mapping[str, object]) -> None:
        """Add members to a JSON file of the home, such as settings that hold the hooks."""


@runtime_checkable
class Played(Protocol):
    """One agent: how it is made ready and started, and how its model is spoken to."""

    def prepare(self, stage: Stage, model: str) -> None:
        """Write what is there after a person has been through every first-run dialog.

        `model` is the base URL of the scripted model.
        """

    def environment(self, model: str) -> Mapping[str, str]:
        """Return what the agent is told by its environment."""

    def command(self, program: Path, prompt: str) -> Sequence[str]:
        """Return the command of a headless run in which nothing but a hook says no."""

    def answer(self, path: str, body: Body, say: Next) -> Answer | None:
        """Answer a request to the model; None for one that this model does not know."""


def event_stream(events: Sequence[object], *, named: bool = True) -> Answer:
    """Return events as a stream of server-sent events, each named by its `type`."""
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if named and isinstance(event, dict) else ""
        lines.append(f"{name}data: {json.dumps(event)}\n\n")
    return Answer("".join(lines), "text/event-stream")
