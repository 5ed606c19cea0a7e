"""The record's one writer: it removes secrets and chains records for a journal.

It also keeps the chain's head apart from the database and, if wanted, sends it elsewhere.
"""

import base64
import json
import logging
import subprocess
from asyncio import Future
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from threading import Lock
from time import time
from typing import TYPE_CHECKING

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import MAX_DEPTH, Value, compact, parse_object
from crabhook.model.proof import CallProof
from crabhook.store.ballots import signed_data
from crabhook.store.change import Change, halted, happened, written
from crabhook.store.entries import stops_stay
from crabhook.store.interface import Batch, CorruptError, FullError, Journal, StoreError
from crabhook.store.record import (
    COLUMNS,
    GENESIS,
    Cut,
    Entry,
    Head,
    Record,
    RecordKind,
    Retention,
    iso,
    link,
)
from crabhook.store.witness import witnessed

if TYPE_CHECKING:
    from crabhook.store.redact import Redactor


CUT_OFF = "the record does not lead to the head that was kept apart: its end was cut off"
MISSING = "the head that was kept apart is gone"


class Writer:
    """A record that only grows, and in `journal` what must survive a kill.

    `head` is the last record's number, hash and time; `kept` is the last record surely written. A
    method that raises a StoreError may be repeated. Writing is for one thread; `anchor` may run in
    another.
    """

    def __init__(self, journal: Journal, retention: Retention | None = None) -> None:
        self.journal = journal
        self._retention = retention or Retention()
        self.head = self.kept = GENESIS
        self._in_doubt = False  # whether a fault makes it necessary to read the head again
        self._closed = False
        self._anchoring = Lock()
        try:
            self.head = self.kept = journal.head()
            self._notice_a_cut(time())
            with suppress(FullError):  # the content can still be recovered
                self.anchor()
        except BaseException:
            journal.close()
            raise

    @cached_property
    def _redactor(self) -> "Redactor":
        # Imported at the first entry, since compiling its patterns would delay the server's start.
        from crabhook.store.redact import Redactor

        return Redactor(self.journal.key)

    def write(self, changes: Sequence[Change], cut: Cut | None = None) -> Future[None] | None:
        """Write all of them in one transaction, in order; `cut` says what it removes.

        Once this returns None, or its future ends, a kill loses nothing. Raises TicketError for an
        id with another secret.
        """
        if self._in_doubt:
            self.head = self.journal.head()
        self._in_doubt = True
        key = self.journal.key
        entries = [
            (entry, witnessed(key, change, entry)) for change in changes for entry in change.entries
        ]
        records = list(chained(entries, self.head, self._redactor))
        pending = self.journal.commit(Batch(self.head, records, changes, cut))
        if records:
            self.head = Head(records[-1].seq, records[-1].hash, records[-1].at)
        self._in_doubt = False
        if pending is None:
            self.kept = self.head
        else:
            pending.add_done_callback(partial(self._on_commit, self.head))
        return pending

    def anchor(self) -> Head:
        """Make the whole record safe from a power cut, then keep the head apart from it.

        In this order the kept head never leads the record.
        """
        with self._anchoring:
            head = self.kept
            self.journal.anchor(head)
        return head

    def prune(self, now: float, *, at_most: int = 1000) -> int:
        """Delete the oldest records, by age or by size; return their number."""
        cut = self.journal.next_cut(self._retention, now, at_most)
        if cut is None:
            return 0
        self.anchor()  # so that the record of the head kept apart still exists
        documents = self.journal.documents().values()
        stay = [document for document in documents if document.at <= cut.latest]
        again = [written(replace(document, at=iso(now)), document.again(now)) for document in stay]
        if halts := self.journal.recover(now).halts:
            again.append(halted(halts, stops_stay(now)))
        self.write([happened(cut.entry(now)), *again], cut)
        self.journal.give_back()
        return cut.removed

    def close(self) -> None:
        """Anchor and close; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            self.anchor()
        finally:
            self.journal.close()

    def _on_commit(self, head: Head, pending: Future[None]) -> None:
        """Take in the end of a slow commit; a failure fails all that follow in the chain."""
        if pending.cancelled() or pending.exception() is not None:
            self._in_doubt = True
        else:
            self.kept = head

    def _notice_a_cut(self, now: float) -> None:
        """Record a cut if the chain does not lead to the head that was kept apart."""
        try:
            kept = self.journal.kept_head()
        except CorruptError as error:
            kept, why = None, str(error)
        else:
            if self._leads_to(kept):
                return
            why = CUT_OFF if kept else MISSING
        head = head_line(kept).strip() if kept else None
        cut = Entry(
            RecordKind.GAP, now, body={"cut": True, "why": why, "ends": self.head.seq, "head": head}
        )
        self.write([happened(cut)])

    def _leads_to(self, kept: Head | None) -> bool:
        if kept in (None, GENESIS):
            return kept is not None or self.head == GENESIS
        return self.journal.hash_of(kept.seq) == kept.hash


_NAMES = (*COLUMNS[COLUMNS.index("platform") : COLUMNS.index("card")], "verdict")


def chained(
    entries: Iterable[tuple[Entry, Sequence[str]]], head: Head, redactor: "Redactor"
) -> Iterator[Record]:
    """Return the records after `head`, one for each entry, without secrets and bounded.

    Beside each entry stand the fingerprints of the rows that it tells of.
    """
    seq, before = head.seq, head.hash
    for entry, kept in entries:
        seq += 1
        names = {column: redactor.name(getattr(entry, column)) for column in _NAMES}
        clean = redactor.value(dict(entry.body))
        body = compact(clean)
        # After the secrets were taken out: a fingerprint or a signature looks like one.
        if entry.proof is not None:
            whole = clean == entry.body and has_no_secret(entry.proof.request, redactor)
            body = _with(body, "proof", compact(proof_data(entry.proof, whole=whole)))
        if entry.signed:
            body = _with(body, "signed", compact(signed_data(entry.signed)))
        if kept:
            body = _with(body, "kept", compact(list(kept)))
        at, kind = iso(entry.at), str(entry.kind)
        record = Record(seq=seq, at=at, kind=kind, **names, card=entry.card, body=body, hash=b"")
        before = link(before, record[:-1])
        yield record._replace(hash=before)


def _with(body: str, name: str, value: str) -> str:
    """Return a JSON object with one field more."""
    more = "," if len(body) > len("{}") else ""
    return f'{body[:-1]}{more}"{name}":{value}}}'


LARGEST_REQUEST = 16 << 10  # bytes of a signed request that a record keeps whole


def proof_data(proof: CallProof, *, whole: bool) -> dict[str, Value]:
    """Return the JSON of what a passkey signed; `whole`: with the request too.

    Its digest is in `signed`, so that the signature can be verified in either case.
    """
    data: dict[str, Value] = {
        "signed": base64.b64encode(proof.signed).decode(),
        "assertion": parse_object(proof.assertion.encode(), MAX_DEPTH),
    }
    return data | {"request": proof.request.decode()} if whole else data


_AT_RANDOM = "id", "seen_sha256"
"""Fields of a request that look like secrets: an id, and the digest of what was seen."""


def has_no_secret(request: bytes, redactor: "Redactor") -> bool:
    """Whether a signed request may be kept as it is: it is small JSON, and has no secret."""
    if len(request) > LARGEST_REQUEST:
        return False
    try:
        data = parse_object(request, MAX_DEPTH)
    except PayloadError:
        return False
    kept = {name: value for name, value in data.items() if name not in _AT_RANDOM}
    return redactor.value(kept) == kept


_LOG = logging.getLogger(__name__)

_HEX = 2 * len(GENESIS.hash)
_LARGEST = 2**63  # no record of either storage has this number
COMMAND_WITHIN = 10.0  # seconds a command may take to send the head; `down` waits 20


def head_line(head: Head) -> str:
    """Return a head as a line of JSON, to be kept, printed and sent."""
    at = {"at": head.at} if head.at else {}
    return json.dumps({"seq": head.seq, "hash": head.hash.hex(), **at}) + "\n"


def read_head(text: str) -> Head:
    """Return the head in a line of `head_line`; raises ValueError. Older lines have no time."""
    match head := json.loads(text):
        case {"seq": int(seq), "hash": str(digest)} if 0 <= seq < _LARGEST and len(digest) == _HEX:
            return Head(seq, bytes.fromhex(digest), str(head.get("at", "")))
    raise ValueError('it has no number "seq" and SHA-256 "hash"')


class Courier:
    """Sends the head elsewhere after enough records or enough time.

    A failing `send` shows in `trouble` and is repeated: it must not delay the record.
    """

    def __init__(
        self, send: Callable[[str], None], *, every_records: int = 1000, every_seconds: float = 600
    ) -> None:
        self._send = send
        self._every_records, self._every_seconds = every_records, every_seconds
        self._sent, self._at = GENESIS, float("-inf")
        self.trouble = ""

    def take(self, head: Head, now: float) -> None:
        """Take the head at `now`, monotonic seconds; send it if it is time."""
        grown = head.seq - self._sent.seq
        if grown <= 0 or (grown < self._every_records and now - self._at < self._every_seconds):
            return
        self._bring(head, now)

    def finish(self, head: Head) -> None:
        """Send the head of a record that is closed, unless it was sent: what follows is the end.

        Without it, the last minutes of each server had no head elsewhere.
        """
        if head.seq > self._sent.seq:
            self._bring(head, self._at)

    def _bring(self, head: Head, now: float) -> None:
        try:
            self._send(head_line(head))
        except (OSError, StoreError, subprocess.SubprocessError) as error:
            self.trouble = f"the record's head could not be sent: {error}"
            _LOG.warning("%s", self.trouble)
        else:
            self._sent, self._at, self.trouble = head, now, ""


def through(command: Sequence[str]) -> Callable[[str], None]:
    """Return a function that sends a line to `command`'s standard input, without a shell.

    The command is the user's own setting.
    """

    def send(line: str) -> None:
        subprocess.run(  # noqa: S603 - see above
            command,
            input=line.encode("ascii"),
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=COMMAND_WITHIN,
        )

    return send
