"""What a scripted model says: blocks make a turn, turns make a script. Data, kept as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Text:
    """The model says something."""

    text: str
    is_tool_use = False

    def plain(self, _call: str) -> dict[str, Any]:
        """The block as a whole message holds it."""
        return {"type": "text", "text": self.text}

    def streamed(self, _call: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """The block as a stream brings it: how it starts, and its one delta."""
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": self.text}


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The model calls a tool of the agent's."""

    name: str
    input: Mapping[str, Any]
    is_tool_use = True

    def plain(self, call: str) -> dict[str, Any]:
        """The block as a whole message holds it; `call` is its tool_use_id."""
        return {"type": "tool_use", "id": call, "name": self.name, "input": dict(self.input)}

    def streamed(self, call: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """The block as a stream brings it: how it starts, and its one delta."""
        arguments = json.dumps(dict(self.input), ensure_ascii=False)
        delta = {"type": "input_json_delta", "partial_json": arguments}
        return self.plain(call) | {"input": {}}, delta


PLAN_FILE = "<the plan file>"
"""In a tool's input: the file that plan mode has named to the model."""

Block = Text | ToolUse
Turn = tuple[Block, ...]


def bash(command: str, description: str = "Run a command") -> ToolUse:
    """The tool call that most tests need."""
    return ToolUse("Bash", {"command": command, "description": description})


def shell(command: str, description: str = "Run a command") -> ToolUse:
    """The same for Gemini CLI."""
    return ToolUse("run_shell_command", {"command": command, "description": description})


@dataclass(frozen=True, slots=True)
class Script:
    """What the model says, turn by turn; a subagent is known by a marker in its prompt."""

    turns: tuple[Turn, ...] = ()
    subagents: Mapping[str, tuple[Turn, ...]] = field(default_factory=dict)
    closing: Turn = (Text("Done."),)

    def to_json(self) -> str:
        """The script as the model's process reads it."""
        return json.dumps(
            {
                "turns": _turns_out(self.turns),
                "subagents": {marker: _turns_out(t) for marker, t in self.subagents.items()},
                "closing": _turns_out((self.closing,))[0],
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Script:
        """Read a script back; a block with a `tool_use` is a call, any other is text."""
        data = json.loads(text)
        subagents = {marker: _turns_in(turns) for marker, turns in data["subagents"].items()}
        return cls(_turns_in(data["turns"]), subagents, _turns_in([data["closing"]])[0])


def _turns_out(turns: tuple[Turn, ...]) -> list[list[dict[str, Any]]]:
    return [[_block_out(block) for block in turn] for turn in turns]


def _block_out(block: Block) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"text": block.text}
    return {"tool_use": block.name, "input": dict(block.input)}


def _turns_in(turns: list[list[dict[str, Any]]]) -> tuple[Turn, ...]:
    return tuple(tuple(map(_block_in, turn)) for turn in turns)


def _block_in(data: dict[str, Any]) -> Block:
    return ToolUse(data["tool_use"], data["input"]) if "tool_use" in data else Text(data["text"])
