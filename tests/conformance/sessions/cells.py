"""The cells of a session: an event, what the desk decides, and the call that it is about."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from crabhook.model.card import Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.question import Answer, merge_answers

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Cell:
    """What the desk decides of an event; `call` is the kind of call that the model makes for it.

    `name` is in the call's input, so that the cell's events are known by it.
    """

    name: str
    event: str
    decided: str
    call: str

    @property
    def title(self) -> str:
        """The cell as its table has it."""
        return " | ".join(filter(None, (self.event, self.decided, self.call)))

    def text(self, part: str) -> str:
        """The words of the desk in this cell: its reason, its note …"""
        return f"the {part} of {self.name}"

    def decision(self, event: Event) -> Decision:
        """What the desk decides, once the event is there."""
        return DECISIONS[self.decided](self, event)


@dataclass(frozen=True, slots=True)
class Session:
    """One session of an agent: how it is started, how our hooks are installed, and its cells.

    `place` tells sessions of the same mode and stance apart. `undriven`: the versions that it
    cannot be run with here, each with the reason.
    """

    agent: str
    mode: str
    stance: Stance
    place: int
    cells: tuple[Cell, ...]
    undriven: Mapping[str, str]

    @property
    def title(self) -> str:
        """What a session is called on the command line and in the record."""
        return f"{self.mode}, {self.stance.value}, {self.place}"


def _edited(_: Cell, event: Event) -> Decision:
    assert event.tool is not None
    assert isinstance(event.tool.input, dict)
    changed = str(event.tool.input["command"]) + CHANGED
    return Decision(Verdict.ALLOW, updated_input={**event.tool.input, "command": changed})


def _answered(_: Cell, event: Event) -> Decision:
    assert event.tool is not None
    answers = {0: Answer(chosen=(1,))}
    return Decision(Verdict.ALLOW, updated_input=merge_answers(event.tool.input, answers))


def _replaced(cell: Cell, event: Event) -> Decision:
    """Replace what a tool gave, in the shape that it gave it in."""
    gave, text = event.fields.get("tool_response"), cell.text("output")
    shaped = {**gave, "stdout": text} if isinstance(gave, dict) and "stdout" in gave else text
    return Decision(Verdict.ALLOW, output=shaped)


def _plain(verdict: Verdict) -> Callable[[Cell, Event], Decision]:
    return lambda _cell, _event: Decision(verdict)


def _refused(cell: Cell, _: Event) -> Decision:
    return Decision(Verdict.DENY, reason=cell.text("reason"))


CHANGED = "-changed"
"""What an edit of the desk adds to a command, which makes another file then."""

DECISIONS: Mapping[str, Callable[[Cell, Event], Decision]] = MappingProxyType(
    {
        "allow": _plain(Verdict.ALLOW),
        "allow with a note": lambda cell, _: Decision(Verdict.ALLOW, note=cell.text("note")),
        "allow with a message": lambda cell, _: Decision(
            Verdict.ALLOW, user_message=cell.text("message")
        ),
        "allow with another output": _replaced,
        "allow with another input": _edited,
        "allow and halt": lambda cell, _: Decision(Verdict.ALLOW, halt=cell.text("halt")),
        "answer": _answered,
        "deny": _refused,
        "deny and interrupt": lambda cell, event: replace(_refused(cell, event), interrupt=True),
        "ask": _plain(Verdict.ASK),
        "pass": _plain(Verdict.PASS),
        "keep going": lambda cell, _: Decision(Verdict.KEEP_GOING, reason=cell.text("instruction")),
    }
)
"""What the desk can decide, by the words of the tables."""


def _cells(rows: Sequence[str]) -> Iterator[Cell]:
    for place, row in enumerate(rows):
        words = [word.strip() for word in f"{row} | ".split("|")]
        yield Cell(f"cell{place:02}", *words[:3])


def _read(agent: str) -> Iterator[Session]:
    table = tomllib.loads((FOLDER / f"{agent}.toml").read_text("utf-8"))
    many = Counter[tuple[str, str]]()
    for data in table["session"]:
        mode, stance = data["mode"], data["stance"]
        many[mode, stance] += 1
        yield Session(
            agent,
            mode,
            Stance(stance),
            many[mode, stance],
            tuple(_cells(data["cells"])),
            data.get("undriven", {}),
        )


AGENTS = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
SESSIONS: tuple[Session, ...] = tuple(session for agent in AGENTS for session in _read(agent))
"""All sessions of all agents, each run with every version that is installed."""
