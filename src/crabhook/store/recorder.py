"""The recorder: writes to the store, and goes on when the store cannot.

Meanwhile changes stay in memory, and `trouble` tells the screen. Later they are written, after a
record of the gap's times.
"""

import logging
from asyncio import Future
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from enum import StrEnum
from functools import partial
from hashlib import blake2b
from time import monotonic, sleep, time
from typing import TYPE_CHECKING

from crabhook.broker.pending import ANSWER_KEPT_FOR
from crabhook.datatypes import frozen
from crabhook.store.change import (
    Backlog,
    Change,
    MemoryLimits,
    Recovered,
    Waiting,
    halted,
    happened,
    left,
    waits,
    written,
)
from crabhook.store.commit import Commit
from crabhook.store.entries import stops_stay
from crabhook.store.interface import (
    GoneError,
    Journal,
    LockedError,
    StoreError,
    TakenError,
    TicketError,
    UnreachableError,
    WriterEndedError,
)
from crabhook.store.record import GENESIS, Entry, Head, RecordKind, iso
from crabhook.store.writer import Courier, Writer, head_line

if TYPE_CHECKING:
    from crabhook.model.jsontext import Value

_LOG = logging.getLogger(__name__)

RETRY_AFTER = 1.0  # seconds; doubled with every failed try
RETRY_AT_MOST = 30.0
HELD_AT_MOST = 2.0  # seconds that an ending or failing server may still hold a record
FORGET_EVERY = 60.0
PRUNE_EVERY = 600.0
PRUNED = 500  # records deleted at a time: a few milliseconds, so that no agent waits long
UNREADABLE = "the record could not be read when the server began, so nobody was asked again"


class OnTrouble(StrEnum):
    """What the server does with requests while it cannot record them."""

    DECIDE = "decide"  # the operator decides, and sees that the record is missing
    REFUSE = "refuse"  # the server refuses them, and the agent prompts its user


class Recorder:
    """A store that may fail.

    `open_store` opens it, now or when possible; `wall` is the wall clock. All methods but `anchor`
    are for one thread.
    """

    def __init__(
        self,
        open_store: Callable[[], Writer],
        *,
        on_trouble: OnTrouble = OnTrouble.DECIDE,
        limits: MemoryLimits | None = None,
        wall: Callable[[], float] = time,
        courier: Courier | None = None,
    ) -> None:
        self._open_store, self._wall = open_store, wall
        self._on_trouble = on_trouble
        self._limits = limits or MemoryLimits()
        self._backlog = Backlog(self._limits)
        self._courier = courier
        self._store: Writer | None = None
        self._late = False  # whether the store opens after the server's start
        self._now = self._retry_at = self._forget_at = self._prune_at = 0.0
        self._patience = RETRY_AFTER
        self._anchored = True
        self._given_up = False
        self._rest: _Rest | None = None
        self.anew = ""
        """What became of a record that was deleted or replaced under this process, in a line."""

        self.error: Exception | None = None
        self._begin()
        self._late = True

    @property
    def store_id(self) -> bytes | None:
        """An id of this record as long as it is kept; None before it opens.

        It derives from the key beside the record, and does not reveal it.
        """
        return id_of(self._store.journal.key) if self._store else None

    @property
    def head(self) -> Head:
        """The last record that is surely written; GENESIS while there is none."""
        return self._store.kept if self._store else GENESIS

    @property
    def journal(self) -> Journal | None:
        """The record's journal; None before it opens."""
        return self._store.journal if self._store else None

    @property
    def trouble(self) -> str:
        """The fault, in a line for the screen; empty without a fault."""
        if self._waits:
            return f"NOT RECORDED: {self._waits} (what is decided waits until it is)"
        if self.error is None:
            return self._courier.trouble if self._courier else ""
        count, dropped = len(self._backlog), self._backlog.dropped
        lost = f", {dropped} are lost" if dropped else ""
        return f"NOT RECORDED: {self.error} ({count} entries wait in memory{lost})"

    @property
    def reason(self) -> str:
        """The fault, in words that stay the same while it lasts; empty without a fault."""
        if self.error is None:
            return self._waits or self.trouble
        return f"{self.error}, and entries are lost" if self._backlog.dropped else f"{self.error}"

    @property
    def refusal(self) -> str:
        """Why the server must refuse requests and hold allows back; empty if it need not."""
        wrong = self._waits or (self.error if self._on_trouble is OnTrouble.REFUSE else None)
        return f"what is decided could not be recorded: {wrong}" if wrong else ""

    @property
    def _waits(self) -> str:
        """Why writing waits for the storage, if it does."""
        return self._store.journal.trouble if self._store else ""

    @property
    def _shared(self) -> bool:
        return self._store is not None and self._store.journal.shared

    def write(self, *changes: Change) -> Commit:
        """Write changes in one transaction; until it is over, nothing may be released.

        What cannot be written now waits in memory.

        It raises nothing: a TicketError for an id with another secret, or a WriterEndedError when
        decisions must not be given any more, refuses the commit.
        """
        commit = self.write_at_once(*changes)
        if commit is None:
            self._backlog.add(changes, self._wall())
            return Commit.ended(recorded=False)
        return commit

    def write_at_once(self, *changes: Change) -> Commit | None:
        """Write changes as `write` does; None where it cannot be now, and then none are kept.

        This is for what must not happen unless it is on record.
        """
        if self._given_up:
            closed = "the record is closed, and another server may write it"
            return Commit.refused(WriterEndedError(closed))
        if self._store is not None and self.error is None:
            try:
                with self._faults_seen():
                    return self._write_to(self._store, changes)
            except (TicketError, WriterEndedError) as refusal:
                return Commit.refused(refusal)
        return None

    def _write_to(self, store: Writer, changes: Sequence[Change]) -> Commit:
        pending = store.write(changes)
        if pending is None:
            return Commit.ended()
        commit = Commit()
        pending.add_done_callback(partial(self._written, commit, changes))
        return commit

    def _written(self, commit: Commit, changes: Sequence[Change], pending: Future[None]) -> None:
        """Take in the end of a slow commit, and pass it on; a cancelled commit never ends."""
        if pending.cancelled():
            return
        if (error := pending.exception()) is None:
            commit.end()
            return
        try:
            with self._faults_seen():
                raise error
        except (TicketError, WriterEndedError) as refusal:
            commit.refuse(refusal)
        else:
            self._backlog.add(changes, self._wall())
            commit.end(recorded=False)

    @contextmanager
    def _faults_seen(self) -> Iterator[None]:
        """Note a fault inside, unless it is the caller's."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - no fault may take a decision with it
            self._see(error)

    def _see(self, error: Exception) -> None:
        """Note a fault, or raise the caller's own."""
        if isinstance(error, TicketError | WriterEndedError):
            raise error
        if self._shared:
            raise WriterEndedError(f"what is decided could not be recorded: {error}") from error
        self._failed(error)

    def is_anothers(self, request_id: str, secret: str) -> bool:
        """Whether a request's id has another secret; no, while that is unknown."""
        if self._store is None or self.error is not None:
            return False
        try:
            return self._store.journal.is_anothers(request_id, secret)
        except Exception as error:  # noqa: BLE001 - as above
            self._see(error)
            return False

    def recover(self) -> Recovered:
        """Return the requests that waited and the answers given when the last server ended."""
        if self._store is not None:
            with self._faults_seen():
                return self._store.journal.recover(self._wall())
        return Recovered()

    def time_passed(self, now: float) -> None:
        """Do what is due at this time, monotonic seconds, about once a second.

        Raises WriterEndedError once another server writes the record.
        """
        self._now = now
        if self._store is not None:
            with self._faults_seen():
                self._store.journal.heed()
        if self._shared:
            self._keep_shared_house(now)
            return
        if isinstance(self.error, GoneError):
            self._leave()
        if self.error is not None and now >= self._retry_at:
            self._try_again()
        if self.error is None and self._store is not None:
            with self._faults_seen():
                self._keep_house(self._store, now)

    def anchor(self) -> None:
        """Sync the record to the disk, about once a second; a thread may call this."""
        store = self._store
        if store is None:
            return
        try:
            head = store.anchor()
        except StoreError as error:
            if self._anchored:  # a warning each second would be too many
                _LOG.warning("the record was not anchored: %s", error)
            self._anchored = False
        else:
            self._anchored = True
            if self._courier:
                self._courier.take(head, self._now)

    def close(self) -> None:
        """Write what can still be written, and close the store."""
        if self.error is not None:
            self._try_again()
        if self._backlog:
            _LOG.error("%s. What waits in memory is lost", self.trouble)
        self._given_up = self._shared  # a shared record has no backlog
        store, self._store = self._store, None
        if store is not None:
            try:
                store.close()
            except StoreError as error:
                _LOG.warning("the record was not closed well: %s", error)
            else:
                if self._courier:
                    self._courier.finish(store.kept)

    def _keep_house(self, store: Writer, now: float) -> None:
        if now >= self._forget_at:
            store.journal.forget_answers(self._wall() - ANSWER_KEPT_FOR)
            self._forget_at = now + FORGET_EVERY
        if now >= self._prune_at:
            removed = store.prune(self._wall(), at_most=PRUNED)
            self._prune_at = now + (0 if removed == PRUNED else PRUNE_EVERY)

    def _keep_shared_house(self, now: float) -> None:
        """Do what is due; a failure affects no decision."""
        if self._store is None or self._store.journal.trouble:
            return
        try:
            self._keep_house(self._store, now)
        except WriterEndedError:
            raise
        except StoreError as error:
            if not isinstance(error, UnreachableError):  # the next commit reports that
                _LOG.warning("the record's house was not kept: %s", error)
            self._prune_at = now + PRUNE_EVERY  # not each second, since the loop waits for it

    def _leave(self) -> None:
        """Leave a record whose files are gone, and keep what is still open of it."""
        store, self._store = self._store, None
        if store is None:
            return
        self._retry_at = self._now
        self._rest = _Rest(str(self.error), store.head, Recovered())
        with suppress(StoreError):
            self._rest = _Rest(str(self.error), store.head, store.journal.recover(self._wall()))
        with suppress(StoreError):
            store.journal.take_over(store.journal.key, Recovered())  # so that marks stay the same
        with suppress(StoreError):
            store.close()

    def _try_again(self) -> None:
        if isinstance(self.error, GoneError):
            self._leave()
        if self._store is None:
            self._try_to_open()
        if self._store is not None:
            self._catch_up(self._store)

    def _begin(self) -> None:
        """Open the store before the first request; later, nothing could be put back.

        So an ending server, or one without its socket, is waited for.
        """
        end = monotonic() + HELD_AT_MOST
        self._try_to_open()
        while isinstance(self.error, TakenError | LockedError) and monotonic() < end:
            sleep(0.05)
            self._try_to_open()
        self._patience = RETRY_AFTER

    def _try_to_open(self) -> None:
        with self._faults_seen(), ExitStack() as opened:
            store = self._open_store()
            opened.callback(store.close)
            if self._rest is not None:
                self.anew = self._rest.carry(store, self._wall())
                _LOG.error("%s", self.anew)
                self._rest = None
            elif self._late:
                store.write([_nobody_asked(store, self._wall())])
            opened.pop_all()
            self._store, self.error = store, None

    def _catch_up(self, store: Writer) -> None:
        """Write the backlog after an entry about the gap."""
        with self._faults_seen():
            if self._backlog:
                self._write_backlog(store)
            self._backlog = Backlog(self._limits)
            self.error, self._patience = None, RETRY_AFTER

    def _write_backlog(self, store: Writer) -> None:
        change = self._backlog.change()
        gap = happened(self._gap())
        try:
            self._write_to(store, [gap, change])
        except TicketError as error:  # two clients with the same id: keep both entries
            _LOG.warning("%s. Neither will be taken up again", error)
            self._write_to(store, [gap, Change(change.entries, ended=change.ended)])

    def _gap(self) -> Entry:
        now = self._wall()
        since = now if self._backlog.since is None else self._backlog.since
        why = f"the record was missing for a while: {self.error}"
        follow, lost = len(self._backlog), self._backlog.dropped
        span = {"why": why, "from": iso(since), "to": iso(now)}
        return Entry(RecordKind.GAP, now, body={**span, "follow": follow, "lost": lost})

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, StoreError):
            _LOG.error("the record was not written, for a reason unknown", exc_info=error)
        self.error = error
        self._retry_at = self._now + self._patience
        self._patience = min(2 * self._patience, RETRY_AT_MOST)


def id_of(key: bytes) -> bytes:
    """Return the id of a record by the key beside it, which the id does not reveal."""
    return blake2b(key=key, digest_size=16, person=b"crabhook store").digest()


@frozen
class _Rest:
    """What was still open of a record that is gone: `why`, its end, and what must survive."""

    why: str
    head: Head
    recovered: Recovered

    def carry(self, store: Writer, now: float) -> str:
        """Write it into the record that is there now; return in a line what happened."""
        if self.head.seq and store.journal.hash_of(self.head.seq) == self.head.hash:
            outcome = f"{self.why}: the record was opened again, and nothing of it is missing"
            store.write([happened(Entry(RecordKind.SERVER, now, body={"what": outcome}))])
            return outcome
        lost = self.head.seq
        outcome = f"{self.why}: its {lost} records are gone, and a new record was begun"
        body: dict[str, Value] = {"cut": True, "why": outcome, "ends": store.head.seq, "lost": lost}
        gap = Entry(RecordKind.GAP, now, body={**body, "head": head_line(self.head).strip()})
        old = self.recovered
        waits_still = {request.request_id for request in old.waiting}
        over = _nobody_asked(store, now, waits_still)
        card = Entry(
            RecordKind.SERVER, now, card=old.last_card, body={"what": "cards are counted on"}
        )
        again = (waits(request, _taken_up(request, now)) for request in old.waiting)
        texts = (written(document, document.again(now)) for document in old.documents)
        answers = Change((card,), answers=old.answers)
        stops = [halted(old.halts, stops_stay(now))] if old.halts else []
        store.write([happened(gap), over, answers, *again, *texts, *stops])
        return outcome


def _taken_up(waiting: Waiting, now: float) -> Entry:
    why = "a new record was begun"
    about = {"platform": waiting.platform, "request_id": waiting.request_id, "card": waiting.card}
    marked: dict[str, Value] = {"strict": True} if waiting.strict else {}
    body: dict[str, Value] = {"why": why, **marked}
    return Entry(RecordKind.TAKEN_UP, now, body=body, **about)  # type: ignore[arg-type]


def _nobody_asked(store: Writer, now: float, but: Container[str] = ()) -> Change:
    """Return the ends of what waited in a store that opened too late to restore it."""
    waiting = [request.request_id for request in store.journal.recover(now).waiting]
    waiting = [request_id for request_id in waiting if request_id not in but]
    return left(
        waiting,
        *(
            Entry(RecordKind.WITHDRAWN, now, request_id=request_id, body={"why": UNREADABLE})
            for request_id in waiting
        ),
    )
