"""The scripts of the demo's agents: what each sends, and what it makes of an answer.

`inputs/AGENT.jsonl` is a session of an agent, in its own words. Its first line says how the hooks
are installed, and the fields that all its inputs have. Each other line is an input. `says` is what
the agent says before, and `typed` what a person might type about the card.
"""

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from importlib import resources
from typing import Any

from crabhook.datatypes import frozen
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, first_text, object_at, text_at
from crabhook.platforms import HOOKED, PLATFORMS
from crabhook.present.summary import is_question

Input = Mapping[str, Any]
"""What an agent gives to a hook, as JSON."""

CLAUDE = "claude"
"""The agent that is played where none is named."""
_FOLDER = resources.files("crabhook.demo") / "inputs"
PLAYED = tuple(agent for agent in PLATFORMS if (_FOLDER / f"{agent}.jsonl").is_file())
"""The agents that have a session."""


@frozen
class ScriptedInput:
    """An input of an agent; without a `typed` line it waits for nobody."""

    sends: Input
    says: str = ""
    typed: str = ""


@frozen
class DemoSession:
    """An agent's session; `stance` is its hooks'."""

    agent: str
    stance: str
    inputs: Sequence[ScriptedInput]

    def event(self, sent: Input) -> Event:
        """Return the event in an input."""
        return PLATFORMS[self.agent].read(json.dumps(sent).encode())

    def typed(self, *places: int) -> dict[str, str]:
        """Return what is typed about the calls at these places, or about all, by their names."""
        asked = enumerate(row for row in self.inputs if row.typed)
        chosen = (row for place, row in asked if place in places or not places)
        return {name_of(self.event(row.sends)): row.typed for row in chosen}


def session(agent: str = CLAUDE) -> DemoSession:
    """Return an agent's session."""
    lines = (_FOLDER / f"{agent}.jsonl").read_text("utf-8").splitlines()
    installed, *rows = map(json.loads, lines)
    inputs = (
        ScriptedInput(
            installed["session"] | row["input"], row.get("says", ""), row.get("typed", "")
        )
        for row in rows
    )
    return DemoSession(agent, installed["stance"], tuple(inputs))


def name_of(event: Event) -> str:
    """Return what an event is about: its tool, or else the event itself."""
    return event.tool.name if event.tool else event.name


def own_agent(agent: str) -> str:
    """Return the command with which a person goes on from an agent's demo."""
    if agent not in HOOKED:
        return "crabhook acp -- qwen --acp   (or any agent's own line, in your editor's settings)"
    others = sorted(set(HOOKED) - {agent})
    return f"crabhook install {agent}   (or {', '.join(others)})"


NOTHING = "nothing: no opinion, so the agent asks its own user"
_VERDICTS = ("permissionDecision", "behavior", "decision", "reply", "action", "optionId")
_REASONS = ("permissionDecisionReason", "message", "reason")
_ANSWERED = frozenset({"updatedInput", "tool_input"})
"""Where an allowed question has its answers; without them the agent asks its own user."""
_TOLD = {
    "ask": "its own user decides",
    **dict.fromkeys(("allow", "allow-once", "once", "accept"), "allowed"),
    **dict.fromkeys(("deny", "reject", "block"), "denied"),
}


@frozen
class Read:
    """What the agent read of the decision about an event: the hook's output, or nothing."""

    event: Event
    answer: str

    @property
    def tool(self) -> str:
        """What the decision is about."""
        return name_of(self.event)

    def told(self) -> tuple[Event, str]:
        """Return the screen's lines about it; the whole follows at the end, on request."""
        words = f"the agent was told {NOTHING}"
        if says := self._said:
            verdict = first_text(says, _VERDICTS)[1]
            outcome = _TOLD.get(verdict, verdict)
            if outcome == "allowed" and is_question(self.event):
                outcome = "" if says.keys() & _ANSWERED else _TOLD["ask"]
            words = f"the agent was told: {outcome or 'your answers'}"
            words += f", {self.denied}" if self.denied else ""
        return Event(self.event.platform, "Agent", cwd=self.event.cwd), words

    def pretty(self) -> str:
        """Return it to be read by people."""
        return json.dumps(json.loads(self.answer), indent=2) if self.answer else NOTHING

    @property
    def denied(self) -> str:
        """The reason of a denial, else empty."""
        says = self._said
        denied = _TOLD.get(first_text(says, _VERDICTS)[1]) == "denied"
        return (first_text(says, _REASONS)[1] or "no reason") if denied else ""

    @property
    def _said(self) -> Mapping[str, Value]:
        """The members of the answer, wherever the agent has them."""
        top: dict[str, Value] = json.loads(self.answer) if self.answer else {}
        specific = object_at(top, "hookSpecificOutput")
        inner = (object_at(specific, "decision"), object_at(top, "outcome"))
        return {key: value for part in (top, specific, *inner) for key, value in part.items()}


MOST_PLANS = 3
_TASK = "Uploads fail now and then. Make them retry, and clean up first."
_AGAIN = "_again"
_NOTE = re.compile(
    r"^Line (\d+):\n> [^\n]*\n(.*?)(?=\n\n(?:Line \d+|On the whole plan):|\Z)",
    re.MULTILINE | re.DOTALL,
)
_ON_ALL = re.compile(r"^On the whole plan:\n(.*)\Z", re.MULTILINE | re.DOTALL)


def turns(
    script: DemoSession, say: Callable[[str, str], object]
) -> Generator[ScriptedInput, Read, None]:
    """Yield the agent's inputs, each sent what was read of it; `say` gets a transcript's lines."""
    say("user", _TASK)
    heard = ""  # of the last denial, to be said with the next call
    for row in script.inputs:
        asked: ScriptedInput | None = row
        plans_left = MOST_PLANS
        while asked is not None:
            if asked.says:
                say("assistant", f"{heard}{asked.says}")
                heard = ""
            read = yield asked
            if reason := read.denied:
                heard = f"You denied my {read.tool}: {reason}. I do as you say. "
            asked = changed_by(asked, read) if reason and plans_left else None
            plans_left -= 1


def changed_by(asked: ScriptedInput, read: Read) -> ScriptedInput | None:
    """Return what the agent asks in place of a call that was denied; None if nothing."""
    tool, reason = read.event.tool, read.denied
    if tool is None or not isinstance(tool.input, dict):
        return None
    tools = PLATFORMS[read.event.platform].tools
    command = text_at(tool.input, "command")
    changes = {tool.use_id: f"{tool.use_id}{_AGAIN}"} if tool.use_id else {}
    if tool.name in tools.plans:
        plan = text_at(tool.input, "plan")
        changes[plan] = revised(plan, reason)
    elif command.startswith("rm "):
        about = text_at(tool.input, "description")
        changes |= {about: f"You said: {reason}. So without deleting anything"} if about else {}
        changes[command] = "npm ci 2>&1 | tail -n 3"
    else:
        return None
    return ScriptedInput(_replaced(asked.sends, changes), asked.says, asked.typed)


def _replaced(value: Any, changes: Mapping[str, str]) -> Any:  # noqa: ANN401 - it is JSON
    """Return a value in which each text that is a key of `changes` has become another."""
    if isinstance(value, dict):
        return {key: _replaced(item, changes) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, changes) for item in value]
    return changes.get(value, value) if isinstance(value, str) else value


def revised(plan: str, reason: str) -> str:
    """Return a plan changed as its notes say: each below its line, any other word at the end."""
    lines = plan.rstrip("\n").split("\n")
    notes = _NOTE.findall(reason)
    for number, note in reversed(notes):
        at = min(int(number), len(lines))
        lines[at:at] = [f"   Changed: {line}" for line in note.split("\n")]
    on_all = _ON_ALL.findall(reason) or ([] if notes else [reason])
    return "\n".join((*lines, *(f"\nChanged as you said: {line}" for line in on_all), ""))
