"""What came of a run: what the hooks were told, what the model was told, what was left behind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.claude import ModelRequest
from tests.support.scripted_model import MAIN, SIDE


@dataclass(frozen=True, slots=True)
class Heard:
    """One hook call as our port saw it: what the agent sent, and the reply it was given."""

    event: Mapping[str, Any]
    stdout: bytes
    stderr: str
    exit_code: int

    @property
    def name(self) -> str:
        """The event's name."""
        return str(self.event["hook_event_name"])

    @property
    def tool(self) -> str:
        """The tool's name; empty where there is none."""
        return str(self.event.get("tool_name", ""))


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that a fact may look at.

    `files` are those of the project, `transcripts` those that the agent keeps
    of its conversations, both by name. `stdout` and `exit_code` are of
    a headless run; `screen` is the last one of a terminal. `trouble` is what went wrong with the driving itself.
    """

    heard: Sequence[Heard]
    decided: Sequence[Heard]
    requests: Sequence[ModelRequest]
    files: Mapping[str, str]
    transcripts: Mapping[str, str]
    stdout: str = ""
    exit_code: int | None = None
    screen: str = ""
    trouble: str = ""

    def turns(self, conversation: str = MAIN) -> int:
        """How often the model was asked for a turn of a conversation."""
        return sum(request.conversation == conversation for request in self.requests)

    def read_by_model(self, text: str, conversation: str | None = None) -> bool:
        """Whether a text stood in a request to the model; in one conversation, or in any."""
        return any(
            text in said
            for request in self.requests
            if request.conversation != SIDE and conversation in (None, request.conversation)
            for said in _everything(request.body)
        )

    def results(self) -> str:
        """All that the model was told about its tool calls."""
        return "\n".join(text for one in self.requests for text in one.tool_results())

    def fired(self, event: str, **fields: Any) -> int:
        """How often an event came whose fields have these values."""
        return sum(
            one.name == event and fields.items() <= dict(one.event).items() for one in self.heard
        )

    def exists(self, name: str) -> bool:
        """Whether a file is in the project's folder."""
        return name in self.files

    def kept(self) -> str:
        """Everything that the agent keeps of its conversations."""
        return "\n".join(self.transcripts.values())

    def result_json(self) -> dict[str, Any]:
        """What `--output-format json` printed."""
        printed = json.loads(self.stdout)
        assert isinstance(printed, dict)
        return printed


def _everything(value: Any) -> Iterator[str]:
    """Every text in a request to the model, whatever it is part of."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _everything(item)
    elif isinstance(value, list):
        for item in value:
            yield from _everything(item)
