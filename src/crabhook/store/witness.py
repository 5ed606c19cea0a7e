"""What the chain witnesses of the tables beside the record.

Requests that wait or were answered and stopped sessions lie in tables of their own: they are wiped
after minutes and hold secrets. The record that tells of such a row has the row's fingerprint, as
`kept`. So `log verify` finds a row that was changed, added or removed by hand. A fingerprint takes
the record's key, so that nothing can be guessed from it.
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2b

from crabhook.store.change import Change, KeptReply
from crabhook.store.interface import Row
from crabhook.store.record import Entry, RecordKind
from crabhook.store.sql import ANSWER, WAITING, answer_row, halt_row, waiting_row

UNDECIDED = frozenset({RecordKind.LEFT, RecordKind.EXPIRED, RecordKind.WITHDRAWN})
"""The kinds of records of a wait that ended undecided, though its hook may have been told so."""
ANSWERS = UNDECIDED | {RecordKind.DECIDED, RecordKind.CONSUMED}
"""The kinds of records that an answer to a hook is written with."""
_LATER = frozenset({"asked", "wait_until", "card", "gives_up_at"})
"""Columns of a waiting request that change while it waits."""
_ASKED = tuple(name for name in WAITING if name not in _LATER)
_GIVEN = ANSWER[:5]
_CALL = ("request_id", *ANSWER[7:])


def fingerprint(key: bytes, parts: Iterable[object]) -> str:
    """Return the fingerprint of a row's columns, with any content."""
    content = [
        part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        for part in parts
    ]
    text = b"".join([b"%d:%b" % (len(part), part) for part in content])
    return blake2b(text, key=key[:64], digest_size=12, person=b"crabhook kept").hexdigest()


def of_asked(key: bytes, row: Row) -> str:
    """Return the fingerprint of a waiting request's row, of what never changes in it."""
    return fingerprint(key, (row.get(name, "") for name in _ASKED))


def of_answer(key: bytes, row: Row) -> tuple[str, ...]:
    """Return the fingerprints of an answer's row: of the reply, and of the call if it is there."""
    reply = fingerprint(key, (row.get(name, "") for name in _GIVEN))
    if row.get("card") is None:
        return (reply,)
    return reply, fingerprint(key, (row.get(name, "") for name in _CALL))


def of_halts(key: bytes, rows: Iterable[tuple[str, str]]) -> str:
    """Return the fingerprint of all rows of stops and notes."""
    return fingerprint(key, (part for row in sorted(rows) for part in row))


def witnessed(key: bytes, change: Change, entry: Entry) -> list[str]:
    """Return the fingerprints that an entry of a change is written with."""
    match entry.kind:
        case RecordKind.ASKED | RecordKind.TAKEN_UP:
            return [
                of_asked(key, dict(zip(WAITING, waiting_row(request), strict=True)))
                for request in change.waiting
                if request.request_id == entry.request_id
            ]
        case kind if kind in ANSWERS and change.answers:
            if len(change.answers) == 1 and change.answers[0].request_id == entry.request_id:
                return [*_answer(key, change.answers[0])]
            legs = legs_of(entry.request_id, entry.body)
            answers = [answer for answer in change.answers if answer.request_id in legs]
            return [mark for answer in answers for mark in _answer(key, answer)]
        case RecordKind.STOPS:
            return [] if change.halts is None else [of_halts(key, map(halt_row, change.halts))]
    return []


def legs_of(request_id: str, body: Mapping[str, object]) -> set[str]:
    """Return the ids of all requests that a decision or a vote is about."""
    legs = body.get("legs")
    return {request_id, *(map(str, legs) if isinstance(legs, list | tuple) else ())}


def _answer(key: bytes, answer: KeptReply) -> tuple[str, ...]:
    if answer.call is None:  # most, and each decision by a rule
        return (
            fingerprint(
                key,
                (answer.request_id, answer.secret, answer.stdout, answer.stderr, answer.exit_code),
            ),
        )
    return of_answer(key, dict(zip(ANSWER, answer_row(answer), strict=True)))
