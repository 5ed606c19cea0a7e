"""What a storage has to offer: a `Journal`, by which it is written, and a `History`, which is read.

It keeps what it is given: redaction and the chain (`writer`, `verify`) are above it.
"""

from asyncio import Future
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Protocol

from crabhook.model.errors import CrabhookError
from crabhook.store.change import Change, Recovered
from crabhook.store.record import Cut, Document, Head, Record, Retention


class StoreError(CrabhookError):
    """The store could not do what it was asked; nothing of that was written."""


class NoRecordError(StoreError):
    """There is no record in that place yet."""


class FullError(StoreError):
    """The disk, or the share of it we may use, is full."""


class LockedError(StoreError):
    """Another program holds the database for itself; it may let go again."""


class ReadOnlyError(StoreError):
    """The record's files, or their folder, may not be written."""


class CorruptError(StoreError):
    """The database's file is damaged; what is in it cannot be relied on."""


class Role(StrEnum):
    """What part a server has among those that share its record."""

    ALONE = "alone"  # nobody else can write its record
    LEADER = "leader"
    STANDBY = "standby"  # another leads; this one begins when that one ends


@dataclass(frozen=True, slots=True)
class Leader:
    """The server that writes a shared record: its name in words, and in which `epoch` it leads.

    `hooks` and `desks` are where clients reach it, HOST:PORT; empty where that is not known.
    """

    name: str = ""
    hooks: str = ""
    desks: str = ""
    epoch: int = 0


@dataclass(slots=True)
class Pace:
    """How a record is written, or followed, here; what grows and falls is told as a mean of late.

    `commit`: seconds of one commit, of so many batches together (`batch`).  `lag`: seconds since
    one that follows the record last knew all of it.  `skew`: seconds by which this machine's clock
    is ahead of the database's.  `epoch` is the leader's.
    """

    commit: float = 0.0
    batch: float = 0.0
    lag: float = 0.0
    skew: float = 0.0
    epoch: int = 0

    def count(self, seconds: float, batches: int) -> None:
        """Take a commit in."""
        self.commit += (seconds - self.commit) / 8 if self.commit else seconds
        self.batch += (batches - self.batch) / 8 if self.batch else batches


SKEWED = 5.0  # seconds that two clocks may differ


def skewed(pace: Pace) -> str:
    """Say that this machine's clock and the database's differ too much; empty where they do not."""
    if abs(pace.skew) <= SKEWED:
        return ""
    way = "ahead of" if pace.skew > 0 else "behind"
    return (
        f"this machine's clock is {abs(pace.skew):.0f} s {way} the database's: the record's times "
        "go by it, and what waits where the leader changes"
    )


class TakenError(StoreError):
    """Another crabhook writes this record already; `leader` is which."""

    def __init__(self, words: str, leader: Leader | None = None) -> None:
        super().__init__(words)
        self.leader = leader or Leader()


class UnreachableError(StoreError):
    """The database does not answer; it may again."""


class DeposedError(StoreError):
    """This process no longer writes the record: another does, or nobody can know what is in it.

    What it has not given yet it must not give.  It may lead again, with what is there then.
    """


class ForeignError(StoreError):
    """The database was made by a newer crabhook, or is not a record at all."""


class TicketError(StoreError):
    """A request id came with another secret than when it came first."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What is committed together or not at all.

    `before` is the head that the first of the `records` follows: a storage that others may write
    to commits only if that is still its head.  The entries of `changes` are what the records were
    made of; a storage keeps the rest of each change.  `cut` says which records are to go.
    """

    before: Head
    records: Sequence[Record] = ()
    changes: Sequence[Change] = ()
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A document as somebody wants it who reaches the database, but does not write the record.

    `follows` is the version that they saw; `name`, `desk` say who and where: the ids of an
    operator and a device, which count where they are signed, else the OS user and the host.
    `signature` is the team's authority's, of `signed`.
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
        """What a signature is of: nobody can put it on another text, or on an older version."""
        text = sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
        who = [self.document, str(self.follows), text, self.name, self.desk]
        return "\0".join(["crabhook-proposal-v1", *who]).encode("utf-8", "surrogatepass")


class Journal(Protocol):
    """The record and what has to survive a kill, for the one process that writes them.

    Every method raises a StoreError; then nothing of what it was asked has
    been done, and it may be asked again.
    """

    shared: bool
    """Whether others may write the record, too; then nothing is given that is not on record.

    A fault that leaves open what is on record is a DeposedError.
    """

    pace: Pace
    """How fast it is written, for whoever watches the server; not measured on one machine."""

    @property
    def key(self) -> bytes:
        """The key of the fingerprints of secrets in this record."""

    @property
    def trouble(self) -> str:
        """Why what is committed has to wait, in a line; empty while it does not."""

    def heed(self) -> None:
        """Raise a DeposedError once this process no longer writes the record."""

    def take_over(self, key: bytes, recovered: Recovered) -> None:
        """Take what an empty record gets from another beside its records: its key, what waits."""

    def head(self) -> Head:
        """Return the number, hash and time of the record that the next one follows."""

    def hash_of(self, seq: int) -> bytes | None:
        """Read the hash of one record; None where it is not there."""

    def commit(self, batch: Batch) -> Future[None] | None:
        """Write a batch; once it is written, a kill of the process loses none of it.

        A storage that writes at once returns None.  Another returns a future, and ends the futures
        in the batches' order; when one fails, those behind it fail: they follow its records.
        Raises TicketError when an id comes with another secret.
        """

    def is_anothers(self, request_id: str, secret: str) -> bool:
        """Whether a request's id is known by another secret."""

    def recover(self, now: float) -> Recovered:
        """Return what was waiting, just answered, or owed; `now` is wall seconds.

        It writes nothing, so that a full disk costs no request.
        """

    def documents(self) -> Mapping[str, Document]:
        """Return the documents by their names."""

    def proposals(self) -> Sequence[Proposal]:
        """Return the documents that are proposed and have no answer yet, the oldest first."""

    def answer(self, proposal: str, said: str) -> None:
        """Answer a proposal, by its id, in words: empty where it is now the document."""

    def forget_answers(self, before: float) -> int:
        """Forget answers decided before this wall time that are not owed; return how many."""

    def kept_head(self) -> Head | None:
        """Return the head that was kept apart from the record; None where none was.

        Raises CorruptError where it cannot be read.
        """

    def anchor(self, head: Head) -> None:
        """Make all that is recorded safe from a power cut, then keep `head` apart from it.

        May run in a thread of its own, while the journal is written.
        """

    def next_cut(self, retention: Retention, now: float, at_most: int) -> Cut | None:
        """Return what is to go, at most so many records and never the last; None if nothing is."""

    def give_back(self) -> None:
        """Give some of the room that is free to the disk again, when it is much."""

    def close(self) -> None:
        """Let go; to close twice does nothing."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a reader wants of the record: all of these hold; what is empty does not count.

    `since` and `until`, past the last, are times as the record writes them; `tool` may have `*`
    in it; `session` may be a session's beginning; `last` is how many at most, the latest ones;
    `after` and `before` are numbers of records, which are left out.
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


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent of one session, as the record knows it; the main one has no id."""

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


class History(AbstractContextManager["History"], Protocol):
    """A view of the record at one moment, for a reader, who cannot write; closed with its block."""

    def find(self, query: Query = ALL) -> Iterator[Record]:
        """Return the records that `query` asks for, in order."""

    def kept_head(self) -> Head | None:
        """Return the head kept apart, as it was before this view; so it never leads the record."""

    def checkpoints(self) -> Iterator[str]:
        """Return the bodies of the checkpoints, in order."""

    def unrecorded(self) -> list[str]:
        """Return the ids of answers to hooks that no decision on record gave."""

    def damage(self) -> list[str]:
        """Return what the storage itself finds wrong with what it holds."""

    def documents(self) -> Mapping[str, Document]:
        """Return the documents by their names."""

    def agents(self) -> Iterator[Agent]:
        """Return the sessions' agents, the latest heard of first."""
