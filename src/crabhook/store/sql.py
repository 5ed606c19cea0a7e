"""Code shared by both databases: table rows, a query's clauses, retention."""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from crabhook.store.ballots import signed_in, signed_text
from crabhook.store.change import DecidedCall, Halt, KeptReply, Waiting
from crabhook.store.interface import Query
from crabhook.store.record import DAY, Cut, Document, Retention, iso

WAITING = tuple(Waiting.__dataclass_fields__)
ANSWER = (
    *("request_id", "secret", "stdout", "stderr", "exit_code", "decided", "delivered"),
    *("card", "platform", "payload", "decision", "signed"),
)
FATES = {None: 0, True: 1, False: 2}
"""The column `delivered`: 0 while unknown, 1 for received, 2 for a client that was gone."""

DOCUMENTS = 'SELECT name, version, text, at, "by" FROM document ORDER BY name'

_FATE_OF = {number: fate for fate, number in FATES.items()}
_LARGEST = 2**63 - 1
_columns = attrgetter(*WAITING)


def waiting_row(waiting: Waiting) -> tuple[Any, ...]:
    """Return the table row of a request that waits."""
    host, user = _storable(waiting.host), _storable(waiting.user)
    kept = replace(waiting, host=host, user=user, pid=min(waiting.pid, _LARGEST))
    *columns, note, machine, strict = _columns(kept)
    return (*columns, note.encode("utf-8", "surrogatepass"), _storable(machine), strict)


def waiting_in(row: Sequence[Any]) -> Waiting:
    """Return the waiting request in a row."""
    *rest, note, machine, strict = row
    text = note.decode("utf-8", "surrogatepass")
    return replace(Waiting(*rest), note=text, machine=machine, strict=strict)


def answer_row(answer: KeptReply) -> tuple[Any, ...]:
    """Return the table row of an answer."""
    stderr = answer.stderr.encode("utf-8", "surrogatepass")  # unchanged: a blob can hold anything
    call = None if answer.delivered else answer.call
    call_columns = (call.card, call.platform, call.payload, call.decision) if call else (None,) * 4
    answer_columns = (
        answer.request_id,
        answer.secret,
        answer.stdout,
        stderr,
        answer.exit_code,
        answer.decided,
    )
    return (*answer_columns, FATES[answer.delivered], *call_columns, signed_text(answer.signed))


def answer_in(row: Sequence[Any]) -> KeptReply:
    """Return the answer in a row."""
    request_id, secret, stdout, stderr, exit_code, decided, delivered, *call_columns, signed = row
    text = stderr.decode("utf-8", "surrogatepass")
    call = DecidedCall(*call_columns) if call_columns[0] is not None else None
    fate = _FATE_OF[delivered]
    by = signed_in(signed)
    return KeptReply(request_id, secret, stdout, text, exit_code, decided, call, fate, by)


def halt_row(halt: Halt) -> tuple[str, str]:
    """Return the table row of a halted session."""
    return _storable(halt.session), _storable(halt.why)


def document_row(document: Document) -> tuple[str, int, str, str, str]:
    """Return the table row of a document."""
    return (
        _storable(document.name),
        document.version,
        document.text,
        document.at,
        _storable(document.by),
    )


def _storable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def clauses(query: Query, tool: tuple[str, str]) -> tuple[str, list[object]]:
    """Return the query's clauses, and the values for their marks.

    `tool` is this database's clause for a tool, with its value.
    """
    wanted = [(clause, values) for clause, asked, values in _conditions(query, tool) if asked]
    where = f"WHERE {' AND '.join(clause for clause, _ in wanted)} " if wanted else ""
    values = [
        min(value, _LARGEST) if isinstance(value, int) else value
        for _, some in wanted
        for value in some
    ]
    order = "ORDER BY seq DESC" if query.backwards else "ORDER BY seq"
    if not query.last:
        return f"{where}{order}", values
    latest = f"(SELECT seq FROM record {where}ORDER BY seq DESC LIMIT ?)"  # noqa: S608 - marks
    return f"WHERE seq IN {latest} {order}", [*values, min(query.last, _LARGEST)]


def _conditions(query: Query, tool: tuple[str, str]) -> list[tuple[str, bool, list[object]]]:
    marks = ", ".join("?" * len(query.kinds))
    session = [query.session, query.session + "\U0010ffff"]
    return [
        ("at >= ?", bool(query.since), [query.since]),
        ("at < ?", bool(query.until), [query.until]),
        (tool[0], bool(query.tool), [tool[1]]),
        ("session <> '' AND session >= ? AND session < ?", bool(query.session), [*session]),
        ("verdict <> '' AND verdict = ?", bool(query.verdict), [query.verdict]),
        (f"kind IN ({marks})", bool(query.kinds), list(query.kinds)),
        ("card = ?", query.card is not None, [query.card]),
        ("seq > ?", bool(query.after), [query.after]),
        ("seq < ?", bool(query.before), [query.before]),
    ]


def cut_among(
    oldest: Sequence[Sequence[Any]], retention: Retention, now: float, *, large: bool
) -> Cut | None:
    """Return which of the oldest records to remove, never the last; `large`: over the limit."""
    before = iso(max(0.0, now - retention.days * DAY))
    # From the oldest on: a record that is too young, by a wrong clock, keeps all after it.
    aged = next((place for place, (_, at, _) in enumerate(oldest) if at >= before), len(oldest))
    count = len(oldest) - 1 if large else min(aged, len(oldest) - 1)
    if count <= 0:
        return None
    first, last = oldest[0], oldest[count - 1]
    size, days = f"more than {retention.size} bytes", f"older than {retention.days:g} days"
    latest = max(str(at) for _, at, _ in oldest[:count])
    why = size if large else days
    return Cut(last[0] + 1, last[2], count, first[1], last[1], why, latest)
