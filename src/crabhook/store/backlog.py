"""What could not be written yet, in memory, within bounds."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from crabhook.store.change import Change
from crabhook.store.record import Entry
from crabhook.store.working import ANSWER_KEPT_FOR, Answer, Halt, Waiting


@dataclass(frozen=True, slots=True)
class Limits:
    """How many entries are kept in memory, and how many bytes of them and of answers."""

    entries: int = 10_000
    size: int = 16_000_000


class Backlog:
    """Changes that wait for the store, made into one.

    Of entries the oldest are dropped first, and counted.  What waits and what
    was answered is kept as it is by now, not as it came to be.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._entries: deque[tuple[Entry, int]] = deque()
        self._waiting = dict[str, Waiting]()
        self._ended: dict[str, None] = {}
        self._answers = dict[str, Answer]()
        self._delivered: dict[str, bool] = {}
        self._halts: tuple[Halt, ...] | None = None
        self._size = 0
        self.dropped = 0
        self.since: float | None = None  # wall time of the first change that is missing

    def __bool__(self) -> bool:
        return self.since is not None

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, changes: Sequence[Change], now: float) -> None:
        """Keep changes that were not written at `now`, wall seconds."""
        if self.since is None:
            self.since = now
        for change in changes:
            for entry in change.entries:
                self._keep(entry)
            self._apply(change)
        self._forget_answers(now - ANSWER_KEPT_FOR)

    def change(self) -> Change:
        """Return all of it as one change."""
        return Change(
            entries=tuple(entry for entry, _ in self._entries),
            waiting=tuple(self._waiting.values()),
            ended=tuple(self._ended),
            answers=tuple(self._answers.values()),
            delivered=tuple(self._delivered.items()),
            halts=self._halts,
        )

    def _keep(self, entry: Entry) -> None:
        size = 400 + len(repr(entry.body))
        self._entries.append((entry, size))
        self._size += size
        while len(self._entries) > self._limits.entries or self._size > self._limits.size:
            _, gone = self._entries.popleft()
            self._size -= gone
            self.dropped += 1

    def _forget_answers(self, before: float) -> None:
        """Forget answers that nobody would come back for; a long trouble must not fill memory."""
        while self._answers:
            request_id, oldest = next(iter(self._answers.items()))
            if oldest.decided >= before:
                return
            del self._answers[request_id]

    def _apply(self, change: Change) -> None:
        if change.halts is not None:
            self._halts = change.halts
        for waiting in change.waiting:
            self._waiting[waiting.request_id] = waiting
            self._ended.pop(waiting.request_id, None)
        for request_id in change.ended:
            self._waiting.pop(request_id, None)
            self._ended[request_id] = None
        for answer in change.answers:
            self._answers[answer.request_id] = answer
        for request_id, whole in change.delivered:
            if request_id in self._answers:
                answer = self._answers[request_id]
                self._answers[request_id] = replace(answer, delivered=whole)
            else:
                self._delivered[request_id] = whole
