"""A trial: one server after another on the same state, hooks, an operator, and a seed for chance."""

from __future__ import annotations

import os
import random
import threading
import time
from typing import TYPE_CHECKING, Self

from tests.support.fleet import Fleet, Operator
from tests.support.ledger import Ledger
from tests.support.mortal import MortalServer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.support.smalldisk import SmallDisk

PATIENCE = 60.0  # seconds for hooks to end by themselves
LIFE = 10.0  # seconds that an operator decides, at most
ASKED = " PreToolUse "  # is in the line with which a request is shown
SEED = "CRABHOOK_SEED"


class Trial:
    """The server and its hooks; nothing of them is left when the block ends.

    The seed is printed, and the environment's CRABHOOK_SEED sets it. Where processes stand when a
    kill comes is the machine's to say, so a seed makes a failure likely again and not certain.
    """

    def __init__(
        self, *, hooks: int, inside: Sequence[str] = (), state: Path | None = None
    ) -> None:
        seed = os.environ.get(SEED) or str(random.SystemRandom().randrange(10**6))
        print(f"{SEED}={seed}")
        self.hooks = hooks
        self.chance = random.Random(seed)
        self.server = MortalServer(inside=inside, state=state)
        self.fleet = Fleet(self.server, self.chance)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.fleet.sink()
        finally:
            self.server.__exit__()

    def one_life(self, wave: int, *, wounded: int = 0, met: int = 0) -> None:
        """A server's life: a wave of hooks, decisions, and at some moment it is killed.

        Meanwhile so many hooks are killed too, here and there. The kill waits until as many
        requests as it is to have `met` are undecided, or until the operator's time is over.
        """
        operator, asked = self.operator(), self.server.said(ASKED)
        self.server.start()

        def undecided() -> int:
            return self.server.said(ASKED) - asked - operator.typed

        def kill(moment: float, end: float) -> None:
            time.sleep(moment)
            while undecided() < met and time.monotonic() < end:
                time.sleep(0.01)
            self.server.shoot()

        last = time.monotonic() + LIFE
        death = threading.Thread(target=kill, args=(self.chance.uniform(0.05, 1.5), last))
        death.start()
        deciding = operator.in_the_background(LIFE)
        self.fleet.launch(min(wave, self.missing()))
        for _ in range(wounded):
            time.sleep(self.chance.uniform(0, 0.1))
            self.fleet.shoot(1)
        death.join()
        deciding.join()
        self.server.kill()

    def last_life(self) -> None:
        """Decide until all hooks have ended, and so many of them were taken by some server."""
        deciding = Operator(self.server, lambda: 0.0)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            deciding.decide(0.3)
            if not (missing := self.missing()) and not self.fleet.waiting:
                return
            self.fleet.launch(missing)
        raise AssertionError(f"hooks still wait after {PATIENCE:g} s: {self.fleet!r}")

    def missing(self) -> int:
        """Return how many hooks have still to be started, since no server took those before."""
        waiting, ends = self.fleet.gather(), self.fleet.ends
        return max(0, self.hooks - waiting - len(ends.answered) - len(ends.killed))

    def aftermath(self, disk: SmallDisk | None = None) -> Ledger:
        """Kill the server; let another tell what became of those who do not come back."""
        self.server.kill()
        self.server.start(patience=0.5)
        time.sleep(1.5)
        self.server.quit()
        folder = self.server.folder / "crabhook" if disk else self.server.state / "crabhook"
        if disk:
            disk.copied(folder)
        ends, ledger = self.fleet.ends, Ledger(folder)
        print(f"{ends!r}; {ledger!r}")
        return ledger

    def operator(self, pause: float = 0.06) -> Operator:
        """Return an operator who takes up to `pause` seconds for a decision."""
        return Operator(self.server, lambda: self.chance.uniform(0, pause))
