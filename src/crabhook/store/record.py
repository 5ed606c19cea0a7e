"""The record's parts: entries, records with their numbers, and their chain.

A record never changes. Its order is its `seq`, not its time: a clock can be set back.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

from crabhook.datatypes import frozen
from crabhook.model.actor import ShownBy
from crabhook.model.jsontext import Value
from crabhook.model.proof import CallProof
from crabhook.model.signing import DecisionSignature


class RecordKind(StrEnum):
    """What a record is about."""

    EVENT = "event"  # an agent's message without an answer
    ASKED = "asked"  # a request came onto a card
    DECIDED = "decided"  # a verdict by a rule, the operator, or nobody
    VOTED = "voted"  # a yes to a card that needs more than one; the last yes is the decision
    VOTES_VOID = "votes-void"  # votes that count no more, since their people left the team
    CLAIMED = "claimed"  # the first look of a person whose yes a card waits for
    ESCALATED = "escalated"  # more people may say yes, since nobody decided in time
    WITHDRAWN = "withdrawn"  # a request ended without an answer
    EXPIRED = "expired"  # a request's timeout
    UNDECIDED = "undecided"  # a timeout after which the card stays open, without its agent
    LEFT = "left"  # a hook of a call left or timed out; another hook of the call still waits
    DELIVERED = "delivered"  # whether a client got its reply
    CONSUMED = "consumed"  # an agent begins the call of an approval, which counts once
    TAKEN_UP = "taken-up"  # a waiting request was restored after a restart
    CONFLICT = "conflict"  # a hook's message that cannot be true of a call
    RAN_OTHER = "ran-other"  # the call that ran differs from the decision
    OUTCOME = "outcome"  # the outcome of a call that was left to the agent
    GAP = "gap"  # records are missing, or were cut off
    OPERATOR = "operator"  # an operator's action that was no decision
    CHECKPOINT = "checkpoint"  # older records were deleted; the start of the kept part
    SUMMARY = "summary"  # what a session was about, at its end
    STOPS = "stops"  # the stopped sessions and waiting notes changed: all of them, as they are now
    SERVER = "server"  # an event of the server's own, such as a replaced socket
    DOCUMENT = "document"  # a new version of a document: the rules, the team
    RULES_CHANGED = "rules-changed"  # the rules, or the list of trusted projects, by whom
    TEAM_CHANGED = "team-changed"
    SETTINGS_CHANGED = "settings-changed"
    ATTESTED = "attested"  # a person answers for a change that no desk and no command made
    EXPORTED = "exported"  # up to which record a receiver elsewhere has the record


@frozen
class Entry:
    """What to record, with secrets: the store removes them.

    `at` is wall time, seconds since 1970. `card` is a number or None. `verdict` is a decision's.
    `body` has the kind's own data. `proof` is what a passkey signed for it: a `Writer` puts it into
    the body as it is, since a signature looks like a secret. `signed`: what people signed for
    strict hooks, which goes the same way.
    """

    kind: RecordKind
    at: float
    platform: str = ""
    session: str = ""
    agent_id: str = ""
    agent_type: str = ""
    cwd: str = ""
    tool: str = ""
    tool_use_id: str = ""
    request_id: str = ""
    card: int | None = None
    verdict: str = ""
    body: Mapping[str, Value] = field(default_factory=dict)
    proof: CallProof | None = None
    signed: tuple[DecisionSignature, ...] = ()


class Record(NamedTuple):
    """One record: the database's fields, in the order of its columns.

    `at` is UTC, as ISO 8601 with microseconds. `body` is JSON text. `hash` covers all the others
    and the hash of the record before (`link`).
    """

    seq: int
    at: str
    kind: str
    platform: str
    session: str
    agent_id: str
    agent_type: str
    cwd: str
    tool: str
    tool_use_id: str
    request_id: str
    card: int | None
    verdict: str
    body: str
    hash: bytes

    def data(self) -> dict[str, Any]:
        """Return the body's data; empty if somebody replaced it by no JSON object."""
        with suppress(ValueError, TypeError):  # TypeError: a column may hold anything
            body = json.loads(self.body)
            return body if isinstance(body, dict) else {}
        return {}


COLUMNS = Record._fields


@frozen
class Head:
    """The chain's end: the last record's number and hash; seq 0 means an empty record.

    `at` is that record's time; empty if unknown.
    """

    seq: int
    hash: bytes
    at: str = field(default="", compare=False)


def may_be_by_passkey(record: Record) -> bool:
    """Whether a record may say that a passkey opened its call: a quick look at its text."""
    body = str(record.body)
    decided_so = record.kind in (RecordKind.DECIDED, RecordKind.VOTED) and _BY_PASSKEY in body
    return decided_so or _PROOF in body


def may_be_signed(record: Record) -> bool:
    """Whether a record may have signatures of its decision: a quick look at its text."""
    return record.kind in (RecordKind.DECIDED, RecordKind.VOTED) and _SIGNED in str(record.body)


_SIGNED = '"signed":['
_PROOF, _BY_PASSKEY = '"proof":{', f'"shown":"{ShownBy.PASSKEY}"'


def as_hash(kept: object) -> bytes:
    """Return the content of a record's hash column as bytes, also if somebody changed its type."""
    return kept if isinstance(kept, bytes) else repr(kept).encode()


def as_number(kept: object) -> int:
    """Return the content of a counter's column as a number, also if somebody changed its type."""
    return kept if isinstance(kept, int) else -1


def iso(at: float) -> str:
    """Return wall seconds in the record's format: UTC, of constant width, so that text sorts."""
    second, rest = divmod(round(at * 1_000_000), 1_000_000)
    return f"{_to_the_second(second)}.{rest:06d}Z"


@lru_cache  # several records are written in a second
def _to_the_second(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()[:-6]


GENESIS = Head(0, bytes(32))
_LINE = json.JSONEncoder(separators=(",", ":"), default=repr)


def line_of(content: Sequence[object]) -> str:
    """Return the text of a record that is hashed: every column but the hash, as a JSON list.

    A JSON list is unambiguous. A value outside JSON (a blob somebody put there) is there by its
    repr, so that verifying never fails.
    """
    return _LINE.encode(content)


def link(before: bytes, content: Sequence[object]) -> bytes:
    """Return the hash of a record: of the hash `before` and of its line."""
    return sha256(before + line_of(content).encode("ascii")).digest()


DAY = 86_400.0


@frozen
class Retention:
    """How long records are kept, in days, and how many bytes of them; the stricter limit counts."""

    days: float = 180.0
    size: int = 2_000_000_000


@frozen
class Cut:
    """Where the kept part begins: `hash` is the last removed record's.

    `since` and `until` are of the first and last removed one, `latest` of all.
    """

    begins: int
    hash: bytes
    removed: int
    since: str
    until: str
    why: str
    latest: str

    def entry(self, now: float) -> Entry:
        """Return the checkpoint."""
        body: dict[str, Value] = {"begins": self.begins, "hash": self.hash.hex()}
        body |= {"removed": self.removed, "from": self.since, "to": self.until}
        body |= {"latest": self.latest, "why": self.why}
        return Entry(RecordKind.CHECKPOINT, now, body=body)

    def untrue(self, at: str) -> str:
        """Return why retention cannot have made this cut at its checkpoint's time, or ""."""
        if not 0 < self.removed < self.begins:
            return f"{self.removed} records cannot have gone before record {self.begins}"
        if not (age := _AGE.fullmatch(self.why)):
            return ""
        days = float(age[1])
        slack = 60 + days * DAY * 1e-5  # the text has six digits of the days
        moment = datetime.fromisoformat(at).timestamp() - days * DAY + slack
        if self.latest > iso(max(0.0, moment)):
            return f"it says {self.why}, and removed a record of {self.latest} at {at}"
        return ""


TOKEN = "token"  # noqa: S105 - a name, and no token
"""The document with the digest of the token that all servers of a shared record admit."""
POLICY = "policy"
"""The document with what changed of rules, team and settings; each change has its own record."""
ORDERS = "orders"
"""The document with the standing orders of a shared record; each order also has its own record."""
PHONES = "phones"
"""The document with the phones that servers of a shared record call, sealed for these servers."""


@frozen
class Document:
    """One version, from 1, of a shared record's text, such as the rules.

    `by`: its writer in words; `at`: the time as in the record. The text may be private: the record
    has its hash alone.
    """

    name: str
    version: int
    text: str = field(repr=False)
    at: str
    by: str

    @property
    def hash(self) -> str:
        """The SHA-256 of the text, in hexadecimal."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    def entry(self, before: "Document | None", now: float, actor: Mapping[str, Value]) -> Entry:
        """Return the record entry of this version after `before` (None for the first)."""
        what = f"the document {self.name} was changed by {self.by}"
        if before is None:
            what = f"the document {self.name} was begun by {self.by}"
        return self._told(f"{what}: version {self.version}", before, now, {"actor": {**actor}})

    def again(self, now: float) -> Entry:
        """Return a new entry before retention removes this version's record."""
        what = f"the document {self.name} stays as it is: version {self.version}"
        return self._told(what, self, now, {})

    def _told(
        self, what: str, before: "Document | None", now: float, beside: Mapping[str, Value]
    ) -> Entry:
        body: dict[str, Value] = {"what": what, "document": self.name, "version": self.version}
        body |= {"from": before.hash if before else "", "to": self.hash, **beside}
        return Entry(RecordKind.DOCUMENT, now, body=body)


_AGE = re.compile(r"older than ([0-9.e+]{1,20}) days")


def cut_of(body: str) -> Cut:
    """Return the cut in a checkpoint's body; raises ValueError, KeyError or TypeError."""
    data = json.loads(body)
    until = str(data["to"])
    return Cut(
        int(data["begins"]),
        bytes.fromhex(data["hash"]),
        int(data["removed"]),
        str(data["from"]),
        until,
        str(data["why"]),
        str(data.get("latest", until)),  # older checkpoints do not say
    )


def cuts_in(bodies: Iterable[str]) -> Iterator[Cut]:
    """Return the cuts in the bodies of checkpoints, without bodies that a person edited."""
    for body in bodies:
        with suppress(ValueError, KeyError, TypeError):  # the record's link shows the edit
            yield cut_of(body)
