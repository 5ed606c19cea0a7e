"""What a soak does and when, drawn from one seed: the same seed, the same schedule and inputs.

First one long life of a server, whose leaks are measured; then lives in which things break; then a
calm one, in which everything has to end.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.soak.jobs import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.soak.jobs import Job

STEADY = 0.3  # of the time, for the first life
CALM = 24.0  # seconds for the last
LIFE = 10.0  # seconds that a life in trouble takes, with its beginning and end
RATE = 16.0  # jobs a second while things break
STEADY_RATE = 40.0  # jobs a second in the first life, about what an operator's lines allow
WARM, LEAST_LOAD = 600, 300
"""Jobs: after so many a server keeps as many ended cards, and as much of what went by, as it ever will."""
DOOMED = 6  # jobs of each steady load
UNDECIDED = 6  # more of them, whose cards stay open
SOON = 8.0  # seconds that a card stays open in the steady life, so that all is over when it is measured
OPEN_FOR = (None, None, SOON)
"""How long cards stay open: as by default, which is longer than any run, or a short time."""
RELEASES = 0.3  # of the lives at the plain desk in which the operator first ends such orders
LEAST_LIVES = 5
ACTS_A_LIFE = 3


@dataclass(frozen=True, slots=True)
class Act:
    """Something that breaks, so many seconds after the one before, and for how long."""

    kind: str
    after: float
    seconds: float
    amount: float = 0.0

    def __str__(self) -> str:
        amount = f" {self.amount:g}" if self.amount else ""
        return f"+{self.after:.1f} {self.kind}{amount} {self.seconds:.1f}s"


ACTS = {
    "shoot hooks": ((0.0, 0.0), (4, 10)),
    "shoot a crowd": ((0.0, 0.0), (0, 0)),
    "freeze hooks": ((0.8, 2.5), (4, 8)),
    "freeze a crowd": ((0.8, 2.5), (0, 0)),
    "freeze the server": ((0.5, 3.0), (0, 0)),
    "cut": ((1.5, 5.0), (0, 0)),
    "half-open towards the server": ((1.5, 6.0), (0, 0)),
    "half-open towards the clients": ((1.5, 6.0), (0, 0)),
    "orphan connections": ((0.3, 0.3), (0, 0)),
    "pull the plug": ((1.0, 3.0), (0, 0)),
    "fill the disk": ((1.5, 3.5), (0, 0)),
    "lock the record": ((1.5, 3.5), (0, 0)),
    "move the clock": ((1.0, 2.5), (1, 4)),
}
"""Every act, with the bounds of its seconds and of its amount."""

NETWORK = tuple(list(ACTS)[5:10])
ON_THE_DISK = ("fill the disk", "lock the record")
ON_HOOKS = ("shoot hooks", "shoot a crowd", "freeze hooks", "freeze a crowd")
NOT_AT: Mapping[str, tuple[str, ...]] = {
    "plain": (),
    "full": ON_THE_DISK,  # it is the plain desk that says when these are over
    "headless": (*ON_THE_DISK, *ON_HOOKS),  # no hook waits there, to be shot or stopped
}
"""What does not happen at a desk."""

CLOCKS = (-1800.0, -86400.0, 300.0, 90.0, -90.0)
DESKS = ("plain", "full", "plain", "headless", "plain")
ENDS = ("kill", "hand over", "kill", "term", "quit")
OTHERWISE = ("pass", "deny", "ask")
LOSSES = (0.0, 0.03, 0.1, 0.0)
TAKE_BACKS = (0, 150)  # milliseconds


@dataclass(frozen=True, slots=True)
class Life:
    """One life of the server: its desk, what breaks, how it ends, and what is asked meanwhile.

    `open_for`: the seconds that a card stays open without its agent, None for the default.
    `releases`: the operator first ends the orders by which calls are denied or let run once.
    `clears`: they rule on every card that stayed open.
    """

    number: int
    desk: str
    end: str
    seed: str
    otherwise: str = "pass"
    loss: float = 0.0
    take_back: int = 0
    away: bool = False
    open_for: float | None = None
    releases: bool = False
    clears: bool = False
    acts: tuple[Act, ...] = ()
    loads: tuple[tuple[Job, ...], ...] = ()

    @property
    def measured(self) -> bool:
        """Whether what the server holds after its loads is compared."""
        return len(self.loads) > 1

    @property
    def settings(self) -> str:
        """The server's settings, as TOML."""
        return "" if self.open_for is None else f"[waiting]\nopen_for = {self.open_for:g}\n"

    def __str__(self) -> str:
        asked = "+".join(str(len(load)) for load in self.loads)
        said = [f"life {self.number}: {self.desk}"]
        said += [f"otherwise {self.otherwise}"] * (self.desk == "headless")
        said += [f"loss {self.loss:.0%}"] * bool(self.loss)
        if self.desk == "plain":
            said += [f"take-back {self.take_back} ms"] * bool(self.take_back)
            said += ["away for a second"] * self.away
            said += ["releases"] * self.releases
        said += [] if self.open_for is None else [f"open for {self.open_for:g} s"]
        return f"{', '.join(said)}; {asked} jobs; {', '.join(map(str, self.acts))} → {self.end}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """All lives, in their order: the steady one, those in trouble, the calm one."""

    seed: int
    steady: Life
    troubled: tuple[Life, ...]
    calm: Life

    @property
    def lives(self) -> Sequence[Life]:
        """All of them."""
        return (self.steady, *self.troubled, self.calm)

    @property
    def jobs(self) -> Iterator[Job]:
        """Everything that is asked, in the order it was drawn."""
        return (job for life in self.lives for load in life.loads for job in load)


def drawn(seed: int, minutes: float, *, without: frozenset[str] = frozenset()) -> Schedule:
    """Return the schedule of a seed and a length; no act of `without` is in it."""
    chance = random.Random(f"schedule {seed}")
    source = Source(random.Random(f"jobs {seed}"))
    whole = minutes * 60
    steady = _steady(chance, source, STEADY * whole)
    count = max(LEAST_LIVES, int((whole * (1 - STEADY) - CALM) / LIFE))
    decks = _decks(chance, count, without)
    troubled = tuple(_troubled(chance, source, number, decks) for number in range(2, count + 2))
    if set(NETWORK) <= without:
        troubled = tuple(replace(life, loss=0.0) for life in troubled)
    calm = Life(
        count + 2,
        "plain",
        "quit",
        f"{seed} calm",
        releases=True,
        clears=True,
        loads=(tuple(source.load(40, 4, patient=True)),),
    )
    return Schedule(seed, steady, troubled, calm)


def _steady(chance: random.Random, source: Source, seconds: float) -> Life:
    """One load to warm up and two of one size; in each a few hooks that are killed while they wait."""
    many = max(LEAST_LOAD, int((seconds * STEADY_RATE - WARM) / 2))
    loads = []
    for size in (WARM, many, many):
        lasts = size / STEADY_RATE
        load = [
            *source.load(size, lasts, patient=True),
            *source.doomed(DOOMED, begin=lasts - 4, end=lasts - 1),
            *source.undecided(UNDECIDED, end=lasts / 2),
        ]
        loads.append(tuple(sorted(load, key=lambda job: job.at)))
    seed = f"{chance.random()} steady"
    return Life(1, "plain", "kill", seed, open_for=SOON, loads=tuple(loads))


@dataclass
class _Decks:
    """What is dealt to the lives: shuffled, so that a short run has each of it once too."""

    desks: list[str]
    ends: list[str]
    acts: list[str]
    every: tuple[str, ...]

    def life(self, chance: random.Random, many: int) -> tuple[str, str, list[str]]:
        """Deal a life its desk, its end, and so many acts that can happen at that desk."""
        desk, end, acts = self.desks.pop(), self.ends.pop(), list[str]()
        never = NOT_AT[desk]
        for _ in range(many):
            left = [act for act in self.acts if act not in never]
            # First what can happen here and perhaps nowhere else.
            left = [act for act in left if act in NOT_AT["headless"]] or left
            act = left[0] if left else chance.choice([a for a in self.every if a not in never])
            if left:
                self.acts.remove(act)
            acts.append(act)
        chance.shuffle(acts)
        return desk, "term" if end == "quit" and desk != "plain" else end, acts


def _decks(chance: random.Random, count: int, without: frozenset[str]) -> _Decks:
    every = tuple(act for act in ACTS if act not in without)

    def dealt(cards: Sequence[str], many: int) -> list[str]:
        found: list[str] = []
        while len(found) < many:
            found += chance.sample(list(cards), len(cards))
        return found

    return _Decks(dealt(DESKS, count), dealt(ENDS, count), dealt(every, 2 * count), every)


def _troubled(chance: random.Random, source: Source, number: int, decks: _Decks) -> Life:
    desk, end, kinds = decks.life(chance, ACTS_A_LIFE)
    acts = tuple(_act(chance, kind) for kind in kinds)
    seconds = max(4.0, sum(act.after + act.seconds for act in acts))
    return Life(
        number,
        desk,
        end,
        f"{chance.random()} life",
        otherwise=chance.choice(OTHERWISE),
        loss=chance.choice(LOSSES),
        take_back=chance.choice(TAKE_BACKS),
        away=chance.random() < 0.3,
        open_for=chance.choice(OPEN_FOR),
        releases=chance.random() < RELEASES,
        acts=acts,
        loads=(tuple(source.load(int(RATE * seconds), seconds)),),
    )


def _act(chance: random.Random, kind: str) -> Act:
    seconds, amount = ACTS[kind]
    much = float(chance.randint(*amount))
    if kind == "move the clock":
        much = chance.choice(CLOCKS)
    return Act(kind, chance.uniform(0.3, 1.2), chance.uniform(*seconds), much)
