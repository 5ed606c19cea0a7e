"""The operators of a soak: one who reads the plain desk and does as a job's wish says, and one who
presses keys of the full screen at random.
"""

from __future__ import annotations

import queue
import random
import re
import threading
import time
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from tests.soak.jobs import RULINGS, Job, number_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.soak.judge import Sitting
    from tests.soak.schedule import Life
    from tests.soak.server import Server

_HEADER = re.compile(r"#(\d+) \S+ (?:\S+ )?session=(\S+) cwd=(\S+)$")
_WORDS = "  answer with: "
_STAYS_OPEN = "  the agent went on, open for"
_UNDECIDED = re.compile(r"#(\d+) UNDECIDED: ")
_ALLOWED_SESSION = re.compile(r"soak-\w+-\d*7$")
"""The sessions in which everything is allowed for a while, once one of their cards is seen."""

_Lines = tuple[tuple[float, str], ...]
TYPED: Mapping[str, _Lines] = {
    "allow": ((0, "{n} allow"),),
    "noted": ((0, "{n} allow {word}"),),
    "deny": ((0, "{n} deny {word}"),),
    "ask": ((0, "{n} ask"),),
    "pass": ((0, "{n} pass"),),
    "answer": ((0, "{n} answer 1=1 2=1"),),
    "edit": ((0, "{n} edit echo edited {job}"),),
    "alike": ((0, "same={n} deny {word}"),),
    "late": ((0, "{n} extend 5s"), (0, "{n} snooze 1s"), (1.5, "{n} allow {word}")),
    "twice": ((0, "{n} allow {word}"), (0, "{n} deny {word} again"), (0.1, "{n} deny {word} more")),
    "undo": ((0, "{n} allow {word}"), (0, "{n} undo"), (0, "{n} deny {word}")),
    "keep-going": ((0, "{n} keep-going {word}"),),
    "decline": ((0, "{n} decline"),),
    "cancel": ((0, "{n} cancel"),),
    "ruled-allow": ((0, "{n} allow"),),
    "ruled-deny": ((0, "{n} deny {word}"),),
    "ignore": (),
    "open-allow": (),
    "open-deny": (),
    "edge": ((0, "{n} allow {word}"),),
    "": ((0, "{n} pass"),),
}
"""What is typed about a card, by wish: so many seconds after the thought, and which line."""

KEYS = [
    "a",
    "a",
    "d",
    "n",
    "p",
    "h",
    "e",
    "w",
    "l",
    "v",
    "f",
    "D",
    "M",
    "x",
    "m",
    "r",
    "c",
    "t",
    "o",
    "space",
    "1",
    "2",
    "3",
    "O",
    "b",
    "+",
    "z",
    "u",
    "up",
    "down",
    "tab",
]
_SEQUENCES = {"space": " ", "up": "\x1b[A", "down": "\x1b[B", "tab": "\t"}
_AFTERWARDS = ("\r", "y", "\x1b", "some words\r", "\x13", "", "", "")
"""What follows a key: a yes, a way back, words for a box, the editor's end, or nothing. Left out:
`A`, whose rules would decide what the soak's own have to, and the keys that leave the desk."""


class PlainOperator(threading.Thread):
    """Reads what the plain desk prints and types what each job's wish says, until its end."""

    def __init__(self, server: Server, life: Life, jobs: Mapping[int, Job], sat: Sitting) -> None:
        super().__init__()
        self._server, self._jobs, self._sat = server, jobs, sat
        self._lines = server.lines
        self._due: list[tuple[float, int, str]] = []
        self._turn = 0
        self._card: tuple[str, Job] | None = None
        self._cards: dict[str, Job] = {}
        self._stays_open = False
        self._clears = life.clears
        self.left = False
        self._say(0, "hold Stop")
        if life.releases:
            self._say(0, "release denied")
            self._say(0, "release retry")
        if life.away:
            self._say(random.Random(life.seed).uniform(1, 4), "away 1s")

    def run(self) -> None:
        """Sit at the desk."""
        while not self.left:
            now = time.monotonic()
            while self._due and self._due[0][0] <= now:
                typed = heappop(self._due)[2]
                self._server.heard.append(f"> {typed}")
                self._server.type(f"{typed}\n")
            wait = min(0.2, self._due[0][0] - now) if self._due else 0.2
            try:
                line = self._lines.get(timeout=max(0.001, wait))
            except queue.Empty:
                continue
            if line is None:
                return
            self._read(line)

    def _read(self, line: str) -> None:
        if header := _HEADER.match(line):
            job = self._jobs.get(number_of(header[3]) or 0)
            self._card = (header[1], job) if job else None
            self._stays_open = False
        elif line.startswith(_STAYS_OPEN):
            self._stays_open = True
        elif line.startswith(_WORDS) and self._card is not None:
            (number, job), self._card = self._card, None
            self._cards[number] = job
            decide = self._rule if self._stays_open else self._decide
            decide(number, job)
        elif (undecided := _UNDECIDED.match(line)) and (number := undecided[1]) in self._cards:
            self._rule(number, self._cards[number])

    def _decide(self, number: str, job: Job) -> None:
        if _ALLOWED_SESSION.match(job.session) and job.session not in self._sat.allowed_sessions:
            self._sat.allowed_sessions.add(job.session)
            self._say(0, f"allow-all {job.session} 30s")
        if TYPED[job.wish]:
            self._sat.typed.add(job.call)
        for after, line in TYPED[job.wish]:
            self._say(job.thought + after, line.format(n=number, word=job.word, job=job.number))

    def _rule(self, number: str, job: Job) -> None:
        """Rule on a call whose agent went on, as the job's wish says, or to be rid of the card."""
        verdict = RULINGS.get(job.wish) or ("deny" if self._clears else "")
        if verdict:
            self._sat.ruled.add(job.call)
            self._say(job.thought, f"{number} {verdict} {job.word}")

    def _say(self, after: float, line: str) -> None:
        self._turn += 1
        heappush(self._due, (time.monotonic() + after, self._turn, line))


class KeyPresser(threading.Thread):
    """Presses keys of the full screen at random, as its seed has it."""

    def __init__(self, server: Server, life: Life) -> None:
        super().__init__()
        self._server, self._chance = server, random.Random(life.seed)
        self._over = threading.Event()
        self.pressed = 0

    @property
    def left(self) -> bool:
        """Whether it was told to go."""
        return self._over.is_set()

    @left.setter
    def left(self, gone: bool) -> None:
        if gone:
            self._over.set()

    def run(self) -> None:
        """Press keys until told to go."""
        while not self._over.wait(self._chance.uniform(0.02, 0.12)):
            key = self._chance.choice(KEYS)
            self._server.type(_SEQUENCES.get(key, key))
            self._server.type(self._chance.choice(_AFTERWARDS))
            self.pressed += 1
