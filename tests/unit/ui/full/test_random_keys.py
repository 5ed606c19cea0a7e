"""Random keys, cards and clocks at the real screen: an allow has a key that was meant for its card.

The judge below knows nothing of the guards. It watches what the screen showed, since when, and
which answers are held. `play(seed)` is one history; more of them run by
`python -m tests.unit.ui.full.test_random_keys FIRST COUNT`.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.model.actor import OrderKind
from crabhook.model.card import State
from crabhook.model.decision import Verdict
from crabhook.model.order import Order
from tests.support.offering import BOTH
from tests.support.sitting import QUESTIONS, Sitting, call

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from crabhook.model.card import Card
    from crabhook.model.decision import Decision

EVERYDAY, THOROUGH = 75, 2_000
ARMING = 0.4
SUGGESTED = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "npm test:*"}],
        "behavior": "allow",
        "destination": "localSettings",
    }
]
KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"tool_input": {"command": "curl -s https://example.org/x"}},
    {"tool_input": {"command": "rm -rf ../cache"}},
    {"tool_input": {"command": "git push --force origin main"}},
    {"tool_input": {"command": "rm -rf ../cache"}, "permission_mode": "bypassPermissions"},
    {"tool_input": {"command": "\n".join(f"echo {n}" for n in range(60))}},
    {"tool": "AskUserQuestion", "tool_input": QUESTIONS},
    {"tool": "ExitPlanMode", "tool_input": {"plan": "# one\n\ntwo"}},
    {"hook_event_name": "PermissionRequest", "permission_suggestions": SUGGESTED},
    {"hook_event_name": "PostToolUse", "tool_response": "done"},
)
KEYS = (
    *("a d enter escape " * 8 + "u up down 1 2 " * 3).split(),
    *[
        "n",
        "e",
        "A",
        "M",
        "h",
        "p",
        "y",
        "space",
        "*",
        "&",
        "z",
        "+",
        "l",
        "s",
        "i",
        "?",
        ":",
        "o",
        "t",
        "r",
        "tab",
        "x",
        "D",
        "m",
        "L",
        "f",
        "v",
        "c",
        "j",
        "k",
        "g",
        "G",
        "b",
        "O",
        "S",
        "H",
        "Q",
        "3",
        "c-s",
    ],
)
TEXTS = ("no", "keep it", "allow", "a")


def lets(card: Card, decision: Decision) -> bool:
    """Whether a decision lets something happen that a denial of the card would not."""
    if decision.halt:
        return False
    if Verdict.RETRY in card.choices.verdicts:
        return decision.verdict is Verdict.RETRY
    letting = {Verdict.ALLOW, Verdict.ACCEPT, Verdict.RETRY, *card.choices.runs}
    return decision.verdict in letting


@dataclass
class Judge:
    """What the operator saw, and since when; it judges each answer that begins to be held."""

    sitting: Sitting
    chance: random.Random
    stands: Hashable = ()
    view: Hashable = None
    since: float = 0.0
    held: dict[int, Any] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    decided: int = 0
    meant: dict[int, Decision] = field(default_factory=dict)

    def draw(self) -> None:
        """Draw what shows another thing; what stays the same mostly waits, as on a slow terminal."""
        screen = self.sitting.screen
        stands = screen.sight().view, screen.stack.top
        if stands == self.stands and self.chance.random() < 0.7:
            return
        self.stands = stands
        view = self.sitting.draw().sight.view
        if view is None or view != self.view:
            self.since = self.sitting.desk.now()
        self.view = view

    def does(
        self, name: str, act: Callable[[], object], *, key: bool = False, drawn: bool = True
    ) -> None:
        """Let something happen; judge what it made of the answers. A slow terminal draws later."""
        desk, screen = self.sitting.desk, self.sitting.screen
        self.log.append(f"{desk.now():.3f} {name}")
        before = {card.number: card for card in desk.waiting()}
        now = desk.now()
        armed = self.view is not None and now >= self.since + ARMING
        act()
        answers = {n: held for n in before if (held := screen.answers.held(n)) is not None}
        given = {n: held.decision for n, held in answers.items() if self.held.get(n) is not held}
        fresh = [
            (n, one) for n, one in self.sitting.decided()[self.decided :] if n not in self.held
        ]
        for number, decision in [*given.items(), *fresh]:
            if number in before and lets(before[number], decision):
                where = "\n".join([*self.log, f"#{number} {decision}"])
                assert key, f"no key at all:\n{where}"
                assert armed, f"a key on a view that was not armed:\n{where}"
                assert number not in self.held, f"an answer was held:\n{where}"
                assert before[number].state is State.WAITING, where
                self.meant[number] = decision
        for number, decision in self.sitting.decided()[self.decided :]:
            card = desk.card(number)
            if card is not None and lets(card, decision):
                assert self.meant.get(number) == decision, "\n".join(self.log)
        self.decided = len(self.sitting.decided())
        self.held = {n: held for n in before if (held := screen.answers.held(n)) is not None}
        if drawn:
            self.draw()


class History:
    """One history: what happens, at random, is judged at each step."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        self.sitting = Sitting(
            columns=chance.choice((60, 46)),
            rows=chance.choice((12, 14)),
            take_back_ms=chance.choice((0, 600, 2000, 2000)),
            arming_ms=int(ARMING * 1000),
            advance=chance.random() < 0.8,
        )
        self.desk, self.judge, self.asked = self.sitting.desk, Judge(self.sitting, chance), 0
        self.desk.order(Order(OrderKind.HOLD, "PostToolUse"))

    def play(self) -> int:
        """Let it happen; return how many answers reached their cards."""
        self.judge.does("ask", self.ask)
        each = (self.hook, self.wait_a_while, self.type_a_text, self.deny, self.press_a_key)
        steps = self.chance.choices(each, (12, 16, 6, 12, 54), k=self.chance.randrange(8, 24))
        for step in steps:
            step()
        for _ in range(3):
            self.wait(3.0, drawn=False)
        return len(self.sitting.decided())

    # What hooks do.

    def hook(self) -> None:
        name = self.chance.choice(("ask", "ask", "ask", "ask", "again", "leave"))
        self.judge.does(name, getattr(self, name))

    def ask(self) -> None:
        self.asked += 1
        session, kind = f"s{self.chance.randrange(3)}", self.chance.choice(KINDS)
        self.desk.ask(call(session_id=session, tool_use_id=f"t{self.asked}", **kind))
        for card in self.desk.waiting():
            self.desk.offered.setdefault(card.number, BOTH)

    def again(self) -> None:
        card = self.chance.choice([*self.desk.waiting(), None])
        if card is not None and (tool := card.event.tool) is not None:
            whose = {"session_id": card.event.session, "tool_use_id": tool.use_id}
            more = {"hook_event_name": "PermissionRequest", "more": self.chance.random()}
            self.desk.ask(call(tool.name, card.event.given, **whose, **more))

    def leave(self) -> None:
        if waiting := self.desk.waiting():
            self.sitting.leave(self.chance.choice(waiting).number)

    # What the operator and the clock do.

    def press_a_key(self) -> None:
        self.wait(self.chance.choice((0.03, 0.15, 0.15, 0.3, 0.5, 0.9)), drawn=False)
        self.press(self.chance.choice(KEYS))

    def wait_a_while(self) -> None:
        self.wait(self.chance.choice((0.1, 0.45, 0.8, 1.5, 2.6, 6.0)))

    def deny(self) -> None:
        self.wait(1.0)
        self.press("d")
        self.type("no")
        self.wait(0.2, drawn=False)
        self.press("enter")

    def type_a_text(self) -> None:
        self.type(self.chance.choice(TEXTS))

    def wait(self, seconds: float, *, drawn: bool = True) -> None:
        def pass_time() -> None:
            self.desk.pass_time(seconds)
            self.sitting.controller.tick()

        self.judge.does(f"wait {seconds}", pass_time, drawn=drawn)

    def press(self, key: str, *, drawn: bool = True) -> None:
        press = partial(self.sitting.controller.press, key)
        self.judge.does(key, press, key=True, drawn=drawn)

    def type(self, text: str) -> None:
        for letter in text:
            self.wait(0.12, drawn=False)
            self.press(letter, drawn=False)


def play(seed: int) -> int:
    """Play one history; return how many answers reached their cards."""
    return History(seed).play()


@pytest.mark.parametrize(
    ("first", "count"), [(0, EVERYDAY), pytest.param(0, THOROUGH, marks=pytest.mark.thorough)]
)
def test_no_key_but_one_pressed_on_an_armed_and_waiting_card_ever_sends_an_allow(
    first: int, count: int
) -> None:
    assert sum(map(play, range(first, first + count))) > count // 2


if __name__ == "__main__":
    begin, many = map(int, sys.argv[1:3])
    answers = 0
    for seed in range(begin, begin + many):
        answers += play(seed)
        if (seed + 1 - begin) % 1_000 == 0 or seed + 1 == begin + many:
            print(f"{answers} answers in {seed + 1 - begin} histories", flush=True)
