"""What a soak has to say at its end."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crabhook.store.record import RecordKind
from tests.soak.jobs import CALL_ID, job_of, number_of
from tests.soak.leaks import grown
from tests.soak.said import fallback
from tests.soak.undecided import is_ruling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.soak.judge import Ending
    from tests.soak.run import Soak
    from tests.support.ledger import Ledger


def summary(soak: Soak, seconds: float) -> str:
    """Return the table of what was asked, how it ended, what broke, and what was held."""
    return "\n".join(f"  {name:<26} {value}" for name, value in _rows(soak, seconds))


def _rows(soak: Soak, seconds: float) -> Iterator[tuple[str, str]]:
    endings, chaos, clients = soak.clients.endings, soak.chaos, soak.clients
    yield "took", f"{seconds:.0f} s"
    yield "hooks run", f"{len(clients.started)}: {_counted(_kind(one) for one in endings)}"
    yield "of them", _counted(_installed(one) for one in endings)
    yield "sessions", str(len({one.job.session for one in endings}))
    yield "how they ended", _counted(_end(one) for one in endings)
    if soak.ledger is not None:
        records = soak.ledger.records
        yield "requests on a card", str(len(soak.ledger.of(RecordKind.ASKED)))
        ends = (RecordKind.WITHDRAWN, RecordKind.EXPIRED, RecordKind.EVENT)
        decided = [f"decided: {one.verdict}" for one in records if one.kind == RecordKind.DECIDED]
        yield (
            "final states on record",
            _counted([*decided, *(str(one.kind) for one in records if one.kind in ends)]),
        )
        left_open = len(soak.ledger.of(RecordKind.UNDECIDED))
        yield "left open", f"{left_open}; ruled on: {_counted(_rulings(soak.ledger))}"
        yield "taken up after a restart", str(len(soak.ledger.of(RecordKind.TAKEN_UP)))
        yield "record", f"{len(records)} entries; log verify: {soak.audit.splitlines()[-1:]}"
    yield "servers' ends", _counted(soak.ended)
    yield "hooks killed, frozen", f"{clients.shot}, {clients.frozen}"
    yield "what broke", _counted(kind for kind, many in chaos.done.items() for _ in range(many))
    yield "frames", soak.frames
    if soak.measured:
        held = [one.held for one in soak.measured]
        yield "descriptors", " → ".join(str(one["descriptors"]) for one in held)
        for name in ("tasks", "pending", "receipts"):
            yield name, " → ".join(str(one[name]) for one in held)
        yield "resident", " → ".join(f"{one['resident'] / 1e6:.1f} MB" for one in held)
    if len(soak.measured) > 1:
        octets, objects = grown(soak.measured)
        yield "left by a job", f"{octets:.0f} bytes, {objects:.1f} objects"


def _rulings(ledger: Ledger) -> Iterator[str]:
    """Yield the rulings on calls that were left open, and what they decided of the same calls."""
    for one in ledger.of(RecordKind.DECIDED):
        if is_ruling(one):
            yield one.verdict
        elif one.tool_use_id.startswith(CALL_ID) and job_of(one) != number_of(one.cwd):
            yield f"made again and {'asked' if one.card else 'at once'}: {one.verdict}"


def _counted(things: object) -> str:
    assert hasattr(things, "__iter__")
    return ", ".join(f"{many} {thing}" for thing, many in Counter(things).most_common()) or "none"


def _kind(one: Ending) -> str:
    return "processes" if one.job.real else "in crowds"


def _installed(one: Ending) -> str:
    return f"{one.job.agent} {'over TLS' if one.job.remote else 'on the socket'}"


def _end(one: Ending) -> str:
    if one.killed:
        return "killed"
    if one.printed is None:
        return "never"
    return f"own way ({kind})" if (kind := fallback(one.printed)) else "answered"
