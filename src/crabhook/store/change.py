"""Changes: written together or not at all, and what a server needs after a kill.

A change has records and the state to restore, so that both always agree. A `Backlog` holds what
could not be written.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from crabhook.broker.pending import ANSWER_KEPT_FOR
from crabhook.datatypes import frozen
from crabhook.model.signing import DecisionSignature
from crabhook.store.record import Document, Entry, RecordKind


@frozen
class Waiting:
    """A whole waiting request, to be put back on its card.

    `payload` is the hook's standard input verbatim, with secrets: exactly this is decided. Times
    are wall seconds. `gives_up_at` is the hook's, 0 if unknown. `note` goes to the model with any
    answer. `machine` showed its own token. `strict` is 1 where its hook prints signed replies
    alone.
    """

    request_id: str
    secret: str = field(repr=False)
    platform: str
    payload: bytes = field(repr=False)
    stance: str
    asked: float
    wait_until: float
    card: int
    host: str = ""
    pid: int = 0
    user: str = ""
    gives_up_at: float = 0.0
    note: str = ""
    machine: str = ""
    strict: int = 0

    def remaining(self, now: float) -> float:
        """Return how many more seconds it may wait; a clock that was set back does not add any."""
        return min(max(0.0, self.wait_until - now), self.wait_until - self.asked)

    def waited(self, now: float) -> float:
        """Return how many seconds it has waited, never below zero or past its end."""
        return min(max(0.0, now - self.asked), max(0.0, self.wait_until - self.asked))


@frozen
class DecidedCall:
    """An operator's whole decision about a call, until the client surely has it.

    `payload` is as in `Waiting`; `decision` is JSON.
    """

    card: int
    platform: str
    payload: bytes = field(repr=False)
    decision: bytes = field(repr=False)


@frozen
class KeptReply:
    """A reply for a client that may not have got it. `decided`: wall seconds.

    `call`: None without a receipt to wait for. `delivered`: None while unknown. `signed`: by whom
    it is signed.
    """

    request_id: str
    secret: str = field(repr=False)
    stdout: bytes = field(repr=False)
    stderr: str
    exit_code: int
    decided: float
    call: DecidedCall | None = None
    delivered: bool | None = None
    signed: tuple[DecisionSignature, ...] = ()

    @property
    def owed(self) -> bool:
        """Whether the record still lacks its delivery."""
        return self.call is not None and self.delivered is None


@frozen
class Halt:
    """A session that the operator halted, and the reason."""

    session: str
    why: str


@frozen
class Recovered:
    """What a starting server finds: requests by card and age, answers by age, and the last card."""

    waiting: tuple[Waiting, ...] = ()
    answers: tuple[KeptReply, ...] = ()
    last_card: int = 0
    halts: tuple[Halt, ...] = ()
    documents: tuple[Document, ...] = ()


@frozen
class Change:
    """One indivisible step.

    `waiting` begin to wait, or changed. `ended` are ids that no longer wait. `delivered` are ids
    with whether their client has its reply. `halts` are all halted sessions. `documents` are the
    new versions.
    """

    entries: tuple[Entry, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    ended: tuple[str, ...] = ()
    answers: tuple[KeptReply, ...] = ()
    delivered: tuple[tuple[str, bool], ...] = ()
    halts: tuple[Halt, ...] | None = None
    documents: tuple[Document, ...] = ()


def happened(*entries: Entry) -> Change:
    """A record entry and nothing else."""
    return Change(entries)


def waits(waiting: Waiting, *entries: Entry) -> Change:
    """Return the change of a request that will be shown."""
    return Change(entries, waiting=(waiting,))


def settled(answers: Sequence[KeptReply], *entries: Entry) -> Change:
    """Return the change of a decided card: its records and the answers of all legs, together."""
    ids = [answer.request_id for answer in answers]
    return Change(entries, ended=tuple(ids), answers=tuple(answers))


def left(request_ids: Iterable[str], *entries: Entry, answers: Sequence[KeptReply] = ()) -> Change:
    """Return the change of requests that nobody decided; `answers`: what their hooks were told."""
    return Change(entries, ended=tuple(request_ids), answers=tuple(answers))


def delivered(request_id: str, *entries: Entry, whole: bool) -> Change:
    """Return the change of a receipt: whether a client received its reply."""
    return Change(entries, delivered=((request_id, whole),))


def halted(halts: tuple[Halt, ...], *entries: Entry) -> Change:
    """Return the change to this complete list of halted sessions."""
    return Change(entries, halts=halts)


def written(document: Document, entry: Entry) -> Change:
    """Return the change of a document to a new version."""
    return Change((entry,), documents=(document,))


def carried(recovered: Recovered) -> Change:
    """Return the change that copies another record's `Recovered`; its entry has the last card."""
    last = (Entry(RecordKind.SERVER, 0.0, card=recovered.last_card),)
    return Change(
        last,
        recovered.waiting,
        answers=recovered.answers,
        halts=recovered.halts or None,
        documents=recovered.documents,
    )


@frozen
class MemoryLimits:
    """How many entries, and how many bytes of entries and answers, stay in memory."""

    entries: int = 10_000
    size: int = 16_000_000


class Merged:
    """The sum of changes, as of the last; of entries, the last card."""

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        self.waiting = dict[str, Waiting]()
        self.ended: dict[str, None] = {}
        self.answers = dict[str, KeptReply]()
        self.delivered: dict[str, bool] = {}
        self.halts: tuple[Halt, ...] | None = None
        self.documents = dict[str, Document]()
        self.last_card = 0
        for change in changes:
            self.add(change)

    def add(self, change: Change) -> None:
        """Add the next change."""
        if change.halts is not None:
            self.halts = change.halts
        self.documents |= {document.name: document for document in change.documents}
        for waiting in change.waiting:
            self.waiting[waiting.request_id] = waiting
            self.ended.pop(waiting.request_id, None)
        for request_id in change.ended:
            self.waiting.pop(request_id, None)
            self.ended[request_id] = None
        for answer in change.answers:
            self.answers[answer.request_id] = answer
        for request_id, whole in change.delivered:
            if request_id in self.answers:
                answer = self.answers[request_id]
                self.answers[request_id] = replace(answer, delivered=whole)
            else:
                self.delivered[request_id] = whole
        cards = [entry.card or 0 for entry in change.entries]
        cards += [waiting.card for waiting in change.waiting]
        self.last_card = max(self.last_card, *cards, 0)


class Backlog:
    """Changes that wait for the store, summed up.

    The oldest entries are dropped first, and counted.
    """

    def __init__(self, limits: MemoryLimits) -> None:
        self._limits = limits
        self._entries: deque[tuple[Entry, int]] = deque()
        self._merged = Merged()
        self._size = 0
        self.dropped = 0
        self.since: float | None = None  # wall time of the first missing change

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
            self._merged.add(change)
        self._forget_answers(now - ANSWER_KEPT_FOR)

    def change(self) -> Change:
        """Return the backlog as one change."""
        return Change(
            entries=tuple(entry for entry, _ in self._entries),
            waiting=tuple(self._merged.waiting.values()),
            ended=tuple(self._merged.ended),
            answers=tuple(self._merged.answers.values()),
            delivered=tuple(self._merged.delivered.items()),
            halts=self._merged.halts,
            documents=tuple(self._merged.documents.values()),
        )

    def _keep(self, entry: Entry) -> None:
        size = 400 + len(repr(entry.body)) + len(repr(entry.proof))
        size += sum(len(each.statement) + len(each.client_data) + 400 for each in entry.signed)
        self._entries.append((entry, size))
        self._size += size
        while len(self._entries) > self._limits.entries or self._size > self._limits.size:
            _, gone = self._entries.popleft()
            self._size -= gone
            self.dropped += 1

    def _forget_answers(self, before: float) -> None:
        """Forget old answers without a client; a long trouble must not fill memory."""
        answers = self._merged.answers
        while answers:
            request_id, oldest = next(iter(answers.items()))
            if oldest.decided >= before:
                return
            del answers[request_id]
