"""One cell of the conformance table: an event, a decision, how the program is driven, what to see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from crabhook.model.card import Stance
from crabhook.model.decision import Decision
from crabhook.model.event import Event

if TYPE_CHECKING:
    from tests.conformance.outcome import Outcome
    from tests.conformance.scene import Scene
    from tests.support.turns import Turn

Step: TypeAlias = "Callable[[Scene], None]"
"""Something done at the agent's terminal, or seen there; fails by AssertionError."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something to be seen of a run: in in words for the table, and as code."""

    words: str
    holds: Callable[[Outcome], bool]


@dataclass(frozen=True, slots=True)
class Drive:
    """How the agent is brought to the event.

    Without `steps` it runs headless. `files` are written into the project,
    `settings` stand beside our hooks. `meanwhile`
    is done while the result of a call is held back from the model.
    """

    turns: tuple[Turn, ...] = ()
    prompt: str | None = "go"
    mode: str = "default"
    steps: tuple[Step, ...] = ()
    arguments: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    subagents: Mapping[str, tuple[Turn, ...]] = field(default_factory=dict)
    meanwhile: Callable[[Scene], None] | None = None

    @property
    def where(self) -> str:
        """Where the agent ran, for the table."""
        return "terminal" if self.steps else "headless"


def _as_it_is(_: Event, decision: Decision) -> Decision:
    return decision


@dataclass(frozen=True, slots=True)
class Cell:
    """One thing an operator decides, and what must come of it.

    `decision` is None where the event is only observed. `complete` fills in
    what is known only when the card is there, such as the whole input.
    `about`: for events of tools, the tool whose card gets the decision.
    `times`: how many cards of the event get it; later ones are let through.
    `together`: how many of its cards wait at once before any is answered.
    `words`: what is sent although our writer refuses to, to show why it does.
    `passed`: the events on which nobody has an opinion, so that this one comes.
    `legs`: the events to show the replies of, where one decision is given on two.
    """

    event: str
    title: str
    decision: Decision | None
    drive: Drive
    facts: tuple[Fact, ...]
    complete: Callable[[Event, Decision], Decision] = _as_it_is
    about: str = ""
    stance: Stance = Stance.GATE
    times: int = 1
    together: int = 1
    legs: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    words: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """What the cell is called on the command line and in the record of a run."""
        return f"{self.event}: {self.title}"


@dataclass(frozen=True, slots=True)
class Undriven:
    """A cell that the real program cannot be brought to here, and why."""

    event: str
    title: str
    decision: Decision | None
    why: str
