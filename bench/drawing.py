"""What it costs to draw the full screen when a card comes, when one goes, when the cursor moves.

The real desk, `ui.full.app`, in a process of its own for each number of cards
(bench.screen).  All of them run at once, and every round does every change at
each once, in an order drawn anew.  What is measured is processor time:
pictures are at least 30 ms apart by design, which says nothing of what they
cost.
"""

import random
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from statistics import median

from bench.figures import Spread, paired_ratios, spread
from bench.found import Found, Series, Wishes
from bench.serving import Told, child, plain_environment
from bench.sizes import sized
from bench.table import table

CARDS = sized((1, 5, 100, 1_000, 5_000), (1, 5))
FEW, MANY = sized((5, 5_000), (1, 5))
ROUNDS = sized(30, 2)
GOAL = 1.25  # times what FEW cost: the same, but for what two runs differ by
CHANGES = {
    "comes": "a card comes",
    "moves": "the cursor moves",
    "goes": "a card goes",
}


@dataclass(slots=True)
class Screen:
    """A full screen with so many cards, and what each change cost there, in seconds."""

    cards: int
    told: Told
    costs: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in CHANGES})

    def change(self) -> None:
        """Make every change once."""
        for name, costs in self.costs.items():
            self.told.say(name)
            costs.append(float(self.told.line("took")[0]))

    def begin(self) -> None:
        """Forget what it cost to draw while caches were cold."""
        for costs in self.costs.values():
            costs.clear()


def measure(_: Wishes) -> Found:
    """Return what each change costs with few cards and with many."""
    screens = _draw()
    series = [
        Series("cards on the screen", what, {one.cards: median(one.costs[name]) for one in screens})
        for name, what in CHANGES.items()
    ]
    ratios = {what: _ratio(screens, name) for name, what in CHANGES.items()}
    values = [{"cards": one.cards, "processor": one.costs} for one in screens]
    return Found(_text(screens, ratios), {"screen": values}, series)


def _draw() -> Sequence[Screen]:
    with ExitStack() as stack:
        screens = [Screen(cards, stack.enter_context(_screen(cards))) for cards in CARDS]
        for one in screens:
            one.told.line("ready")
            one.change()
            one.begin()
        for _ in range(ROUNDS):
            for one in random.sample(screens, len(screens)):
                one.change()
        return screens


def _screen(cards: int) -> AbstractContextManager[Told]:
    return child("bench.screen", str(cards), environment=plain_environment())


def _ratio(screens: Sequence[Screen], name: str) -> Spread:
    costs = {one.cards: one.costs[name] for one in screens}
    return spread(paired_ratios(costs[MANY], costs[FEW]))


def _text(screens: Sequence[Screen], ratios: Mapping[str, Spread]) -> str:
    header = ("cards on the screen", *(f"{what}, CPU ms" for what in CHANGES.values()))
    rows = [(str(one.cards), *(_quoted(costs) for costs in one.costs.values())) for one in screens]
    judged = ", ".join(
        f"{what} {ratio.median:.2f} ({ratio.low:.2f}-{ratio.high:.2f})"
        for what, ratio in ratios.items()
    )
    met = "met" if max(ratio.median for ratio in ratios.values()) <= GOAL else "missed"
    return (
        table(header, rows)
        + f"{MANY} cards / {FEW} cards, within each round: {judged}; "
        + f"goal: the same (<= {GOAL:g}): {met}.\n"
    )


def _quoted(costs: Sequence[float]) -> str:
    found = spread(costs)
    return f"{found.median * 1e3:.2f} ({found.low * 1e3:.2f}-{found.high * 1e3:.2f})"
