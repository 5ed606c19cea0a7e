"""What a storage offers: a `Journal` to write, and a `History` to read.

Redaction and the chain (`writer`, `verify`) are above it.
"""

from asyncio import Future
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from hashlib import sha256
from typing import Protocol, TypeAlias

from crabhook.datatypes import frozen
from crabhook.model.errors import CrabhookError
from crabhook.store.change import Change, Recovered
from crabhook.store.record import Cut, Document, Head, Record, Retention


class StoreError(CrabhookError):
    """The store could not do what it was asked; nothing was written."""


class NoRecordError(StoreError):
    """There is no record in that place yet."""


class FullError(StoreError):
    """The disk, or our share of it, is full."""


class LockedError(StoreError):
    """Another program has locked the database; a later try may succeed."""


class ReadOnlyError(StoreError):
    """The record's files or their folder are not writable."""


class GoneError(StoreError):
    """The record's files were deleted or replaced while this process wrote them."""


class CorruptError(StoreError):
    """The database's file is damaged; nothing in it is reliable."""


class TakenError(StoreError):
    """Another crabhook already writes this record."""


class UnreachableError(StoreError):
    """The database does not answer; a later try may succeed."""


class WriterEndedError(StoreError):
    """This process writes the record no more: another does, or its content is unknown.

    It must not give out what it has not given yet. A later writer begins with what is on record.
    """


class ForeignError(StoreError):
    """The database belongs to a newer crabhook, or is no record."""


class TicketError(StoreError):
    """A request id came with another secret than the first time."""


@frozen
class Batch:
    """A commit of all or nothing.

    `before` is the head that the `records` follow: a storage with several writers commits only
    after that head. The entries of `changes` became the records; a storage keeps the rest of each
    change. `cut` names the records to remove.
    """

    before: Head
    records: Sequence[Record] = ()
    changes: Sequence[Change] = ()
    cut: Cut | None = None


@frozen
class Proposal:
    """A document proposed by a client of the database that does not write the record.

    `follows`: the version they saw. `name`, `desk`: ids of operator and device if signed, else the
    OS user and host. `signature` is the team authority's, of `signed`.
    """

    id: str
    document: str
    follows: int
    text: str = field(repr=False)
    name: str
    desk: str
    signature: bytes = field(default=b"", repr=False)

    @property
    def signed(self) -> bytes:
        """The signed bytes, bound to the text and to the version before."""
        text = sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
        who = [self.document, str(self.follows), text, self.name, self.desk]
        return "\0".join(["crabhook-proposal-v1", *who]).encode("utf-8", "surrogatepass")


class Journal(Protocol):
    """The record and what must survive a kill, for the only process that writes them.

    After a StoreError nothing of the call was done, and it may be repeated.
    """

    shared: bool
    """Whether other servers may write the record; then a reply goes out only after its commit.

    A fault that leaves the end of the record unknown is a WriterEndedError.
    """

    @property
    def key(self) -> bytes:
        """The key of the fingerprints of secrets in this record."""

    @property
    def trouble(self) -> str:
        """Why commits must wait, in a line; empty while they need not."""

    def heed(self) -> None:
        """Raise a WriterEndedError if this process is no longer the writer."""

    def take_over(self, key: bytes, recovered: Recovered) -> None:
        """Copy what an empty record gets from another beside its records: key and requests."""

    def head(self) -> Head:
        """Return the number, hash and time of the last record."""

    def hash_of(self, seq: int) -> bytes | None:
        """Return the hash of one record; None if it is missing."""

    def commit(self, batch: Batch) -> Future[None] | None:
        """Write a batch; once written, a kill loses nothing.

        A storage that writes at once returns None, another a future. Futures end in order, and
        after a failed future all later futures fail: they follow its records. Raises TicketError
        for an id with another secret.
        """

    def is_anothers(self, request_id: str, secret: str) -> bool:
        """Whether a request's id has another secret."""

    def recover(self, now: float) -> Recovered:
        """Return the waiting requests, and recent or owed answers; `now` is wall seconds.

        This method writes nothing, so that a full disk loses no request.
        """

    def documents(self) -> Mapping[str, Document]:
        """Return the documents by their names."""

    def proposals(self) -> Sequence[Proposal]:
        """Return the proposals without an answer yet, the oldest first."""

    def answer(self, proposal: str, refusal: str) -> None:
        """Answer a proposal by its id: empty means that it is now the document."""

    def forget_answers(self, before: float) -> int:
        """Delete answers decided before this wall time that are not owed; return their number."""

    def kept_head(self) -> Head | None:
        """Return the head kept apart from the record, if any; CorruptError if unreadable."""

    def anchor(self, head: Head) -> None:
        """Make the whole record safe from a power cut, then keep `head` apart from it.

        May run in its own thread beside writes.
        """

    def next_cut(self, retention: Retention, now: float, at_most: int) -> Cut | None:
        """Return at most so many records to remove, never the last; None for none."""

    def give_back(self) -> None:
        """Return much free space to the disk."""

    def close(self) -> None:
        """Release the storage; a second call does nothing."""


@frozen
class Query:
    """A reader's filter; empty fields match all.

    `since` and `until` (excluded) are times as in the record. `tool` may have `*`. `session` may be
    the start of an id. `last`: at most so many, the latest. `after` and `before` are excluded
    numbers of records.
    """

    since: str = ""
    until: str = ""
    tool: str = ""
    session: str = ""
    verdict: str = ""
    kinds: tuple[str, ...] = ()
    card: int | None = None
    last: int = 0
    backwards: bool = False
    after: int = 0
    before: int = 0


ALL = Query()


@frozen
class RecordedAgent:
    """An agent of a session in the record; the main agent has no id."""

    platform: str
    session: str
    agent_id: str
    agent_type: str
    first: int
    last: int
    since: str
    until: str
    records: int
    decisions: int


Row: TypeAlias = Mapping[str, object]
"""The columns of a table's row by their names."""


@frozen
class SideTables:
    """The tables beside the record, as they are.

    `key` is empty where it cannot be read. `card` and `begins` are the counters. `head` is the
    chain's end where the storage notes that apart from the records; None elsewhere.
    """

    key: bytes = field(repr=False)
    card: int
    begins: int
    waiting: Sequence[Row] = field(default=(), repr=False)
    answers: Sequence[Row] = field(default=(), repr=False)
    halts: Sequence[tuple[str, str]] = ()
    head: Head | None = None


@frozen
class Schema:
    """What a database consists of, a line each: as it is, and as it was made."""

    there: frozenset[str]
    made: frozenset[str]


class History(AbstractContextManager["History"], Protocol):
    """A view of the record at one moment, which cannot write; closed with its block."""

    def find(self, query: Query = ALL) -> Iterator[Record]:
        """Return the records that match `query`, in order."""

    def kept_head(self) -> Head | None:
        """Return the head kept apart, read before this view, so that it never leads the record."""

    def checkpoints(self) -> Iterator[str]:
        """Return the bodies of the checkpoints, in order."""

    def last_stops(self) -> Record | None:
        """Return the last record of the stops; None without one."""

    def damage(self) -> list[str]:
        """Return the damage that the storage itself finds."""

    def documents(self) -> Mapping[str, Document]:
        """Return the documents by their names."""

    def beside(self) -> SideTables:
        """Return the tables beside the record, as they are."""

    def schema(self) -> Schema:
        """Return what the database's tables are, and what this version makes them."""

    def agents(self) -> Iterator[RecordedAgent]:
        """Return the sessions' agents, the latest first."""
