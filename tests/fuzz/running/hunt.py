"""The hunt: lines made, judged and run side by side; what breaks the law is made short and told."""

from __future__ import annotations

import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.fuzz.running.cage import Cage
from tests.fuzz.running.law import RULES, RuleFile, is_troubled, reads

MOST_TOLD = 20
"""How many holes are made short and told of one run; the rest is counted."""
SLOW = 2.0
_AHEAD = 6
_TRIES = 400


@dataclass(frozen=True, slots=True)
class Hole:
    """A line that breaks the law, as short as it could be made.

    `ran` is what ran, or what the reader raised; `made` is the line as it was found.
    """

    line: str
    rules: str
    shell: str
    ran: tuple[str, ...]
    made: str

    def __str__(self) -> str:
        return f"{self.line!r}\n  allowed by the rules {self.rules!r}; in {self.shell} it ran {', '.join(self.ran)}\n  found as {self.made!r}"


@dataclass
class Tally:
    """What was done."""

    judged: int = 0
    judgements: int = 0
    allowed: int = 0
    run: int = 0
    broken: int = 0
    seconds: float = 0.0
    holes: list[Hole] = field(default_factory=list)
    allowing: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        rate = self.judged / self.seconds if self.seconds else 0
        return (
            f"{self.judged:,} lines judged in {self.seconds:.0f} s ({rate:,.0f} a second) under {self.judgements / max(self.judged, 1):.1f} of {len(RULES)} rule files each;"
            f" {self.allowed:,} of them allowed by one or more, and run {self.run:,} times;"
            f" {self.broken:,} broke the law, {len(self.holes)} told"
        )


@dataclass(frozen=True, slots=True)
class _Sent:
    line: str
    shell: str
    allowing: tuple[RuleFile, ...]


@dataclass(frozen=True, slots=True)
class _Broken:
    line: str
    rules: RuleFile
    shell: str
    ran: list[str]


class Hunt:
    """Judges lines and runs what is allowed; tells each new hole at once.

    Where it is `thorough`, each line is judged under every rule file and run in every shell; else under
    those that find the most, and in bash, in another shell every second time.
    Where it is `only_read`, a line with a trouble is judged by the reader alone; what has none is run in every shell.
    """

    def __init__(
        self,
        cage: Cage,
        tell: Callable[[Hole], None],
        rules: Sequence[RuleFile] = RULES,
        most_told: int = MOST_TOLD,
    ) -> None:
        self._cage = cage
        self._all = rules
        self._tell = tell
        self._most_told = most_told
        self._sent: deque[_Sent] = deque()
        self._broken: deque[_Broken] = deque()
        self._known: set[str] = set()
        self._judged: set[int] = set()
        self.thorough = True
        self.only_read = False
        self.tally = Tally()

    def lines(self, lines: Iterable[str], seconds: float = float("inf")) -> Tally:
        """Hold the law to the lines, as long as there is time."""
        began = time.monotonic()
        for line in lines:
            if hash(line) in self._judged:
                continue
            self._judged.add(hash(line))
            self._judge(line)
            while len(self._sent) > _AHEAD:
                self._take_one()
            if self._broken:
                self._make_short()
            if time.monotonic() - began > seconds:
                break
        while self._sent:
            self._take_one()
        self._make_short()
        self.tally.seconds += time.monotonic() - began
        return self.tally

    def _judge(self, line: str) -> None:
        self.tally.judged += 1
        if self.only_read and self._is_troubled(line):
            return
        allowing = []
        for rules in self._rules():
            self.tally.judgements += 1
            began = time.process_time()
            try:
                allowed = rules.allows_line(line)
            except Exception as error:  # noqa: BLE001 - a reader that raises is what we are here for
                self._broke(line, rules, "no shell", [f"the reader, which raised {error!r}"])
                continue
            if time.process_time() - began > SLOW:
                self._broke(line, rules, "no shell", [f"the reader, for more than {SLOW} s"])
            if allowed:
                allowing.append(rules)
                self.tally.allowing[rules.name] += 1
        self.tally.allowed += bool(allowing)
        for root in sorted({rules.root(line) for rules in allowing}):
            here = tuple(rules for rules in allowing if rules.root(line) == root)
            for shell in self._shells(line):
                self._cage.send(root, shell, line)
                self._sent.append(_Sent(line, shell, here))
                self.tally.run += 1

    def _is_troubled(self, line: str) -> bool:
        """Whether no rule may allow the line; a reader that is slow, or raises, breaks the law."""
        began = time.process_time()
        try:
            troubled = is_troubled(line)
        except Exception as error:  # noqa: BLE001 - a reader that raises is what we are here for
            self._broke(line, self._all[0], "no shell", [f"the reader, which raised {error!r}"])
            return True
        if time.process_time() - began > SLOW:
            self._broke(line, self._all[0], "no shell", [f"the reader, for more than {SLOW} s"])
        return troubled

    def _rules(self) -> Iterator[RuleFile]:
        """Yield the rule files for the next line: those that find the most, and at times one other."""
        if self.thorough:
            yield from self._all
            return
        yield from self._all[:2]
        if self.tally.judged % 4 == 0:
            yield self._all[2 + self.tally.judged // 4 % (len(self._all) - 2)]

    def _shells(self, line: str) -> Iterator[str]:
        first, *others = [one for one in self._cage.shells if reads(one, line)]
        yield first
        if self.thorough or self.only_read:
            yield from others
        elif others and self.tally.allowed % 2:
            yield others[self.tally.allowed // 2 % len(others)]

    def _take_one(self) -> None:
        sent, ran = self._sent.popleft(), self._cage.receive()
        for rules in sent.allowing:
            if against := rules.broken_by(sent.shell, ran):
                self._broken.append(_Broken(sent.line, rules, sent.shell, against))

    def _broke(self, line: str, rules: RuleFile, shell: str, ran: list[str]) -> None:
        self.tally.broken += 1
        if len(self.tally.holes) < self._most_told:
            self._told(Hole(line, rules.name, shell, tuple(ran), line))

    def _make_short(self) -> None:
        """Tell what was found; a line that several rule files allow, or shells run, once."""
        while self._sent:
            self._take_one()
        done: set[str] = set()
        while self._broken:
            found = self._broken.popleft()
            if found.line in done:
                continue
            done.add(found.line)
            self.tally.broken += 1
            if len(self.tally.holes) < self._most_told:
                short, ran = self._shortest(found)
                if (shape := _shape(short)) not in self._known:
                    self._known.add(shape)
                    self._told(Hole(short, found.rules.name, found.shell, tuple(ran), found.line))

    def _shortest(self, found: _Broken) -> tuple[str, list[str]]:
        """Return the line without what can be left out, and what it still runs of what it ran."""
        programs = {_program(one) for one in found.ran}
        ran = found.ran

        def breaks(line: str) -> bool:
            nonlocal ran
            now = self._breaks(line, found)
            if same := programs & {_program(one) for one in now}:
                ran = now
            return bool(same)

        return shortest(found.line, breaks), ran

    def _told(self, hole: Hole) -> None:
        self.tally.holes.append(hole)
        self._tell(hole)

    def _breaks(self, line: str, found: _Broken) -> list[str]:
        try:
            if not found.rules.allows_line(line):
                return []
        except Exception:  # noqa: BLE001 - told where it is met
            return []
        ran = self._cage.run(found.rules.root(line), found.shell, line)
        return found.rules.broken_by(found.shell, ran)


def shortest(line: str, breaks: Callable[[str], bool]) -> str:
    """Return the line without what can be left out while it still breaks the law."""
    before, tries = "", 0
    while line != before:
        before, size = line, len(line) // 2
        while size:
            for one in _without(line, size):
                tries += 1
                if tries > _TRIES:
                    return line
                if breaks(one):
                    line = one
                    break
            else:
                size //= 2
    return line


def _without(line: str, size: int) -> Iterator[str]:
    for at in range(0, len(line), max(1, size // 2) if size > 1 else 1):
        if (one := line[:at] + line[at + size :]).strip():
            yield one


def _shape(line: str) -> str:
    """Return what is the same in lines that differ only in which program they run."""
    line = re.sub(r"\b(?:rm|dd|git push|[yz])\b", "zz", line)
    line = re.sub(r"\b(?:ls|cat|true|git (?:log|status|commit))\b", "echo", line)
    return re.sub(r"\s*([\n;&|])\s*", r"\1", line)


def _program(told: str) -> str:
    """Return the program alone, of what is told of it."""
    return told.split(" ", 1)[0].strip("'")
