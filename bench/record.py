"""What the record costs: decisions a second, bytes a record, how long a large one takes to read.

    python -m bench.record [RECORDS]

It writes to a folder of its own and leaves nothing behind.
"""

import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter

from bench.table import table
from crabhook.model.jsontext import Value
from crabhook.store.change import Answer, Change, Waiting, happened, settled, waits
from crabhook.store.interface import Query
from crabhook.store.opening import open_history, open_writer
from crabhook.store.record import Entry, Kind, Retention
from crabhook.store.sqlite.files import HeadFile
from crabhook.store.verify import ENDS, stats, verify
from crabhook.store.writer import Writer

_BEGIN = 1_760_000_000.0
_ALONE = 3000  # decisions written one by one
_BATCH = 500  # records in a transaction when a large record is made
_TOOLS = ("Bash", "Bash", "Bash", "Read", "Edit", "Write", "WebFetch", "mcp__github__get_issue")
_VERBS = (
    "git log --oneline -n",
    "npm run test -- --shard",
    "pytest -q tests/unit -k case",
    "ls -la",
)
KEEP = Retention(days=1e5, size=1 << 50)


@dataclass(frozen=True, slots=True)
class Call:
    """A call as agents make them: one of many sessions, never the same words twice."""

    number: int

    @property
    def request_id(self) -> str:
        """Return the id of its request."""
        return f"{self.number:032x}"

    def entry(self, kind: Kind, verdict: str = "", **body: Value) -> Entry:
        """Return what is recorded of it."""
        chance = random.Random(self.number)  # noqa: S311 - not for secrets
        tool = _TOOLS[self.number % len(_TOOLS)]
        path = f"/home/dev/project/src/module_{chance.randrange(400)}/part_{self.number}.py"
        told: dict[str, Value] = {"command": f"{chance.choice(_VERBS)} {self.number} {path}"}
        if tool in ("Edit", "Write"):
            told = {"file_path": path, "new_string": f"value = {self.number}  # as agreed\n" * 4}
        session = f"{self.number // 4000:08x}-95df-4ba4-aff4-cdc28ce4e641"
        transcript = f"/home/dev/.claude/projects/-home-dev-project/{session}.jsonl"
        fields: dict[str, Value] = {"transcript_path": transcript, "tool_input": told}
        whole: dict[str, Value] = {"input": told} if verdict else {"fields": fields}
        return Entry(
            kind,
            _BEGIN + self.number,
            platform="claude",
            session=session,
            cwd="/home/dev/project",
            tool=tool,
            tool_use_id=f"toolu_{chance.getrandbits(96):024x}",
            request_id=self.request_id,
            card=self.number,
            verdict=verdict,
            body={**whole, **body},
        )

    def asks(self) -> Change:
        """Return the change when it comes to wait."""
        wait = Waiting(
            self.request_id, "secret", "claude", b"{}" * 250, "gate", _BEGIN, _BEGIN, self.number
        )
        return waits(wait, self.entry(Kind.ASKED, stance="gate", legs=[self.request_id]))

    def ends(self) -> Change:
        """Return the change when it is decided."""
        verdict = "deny" if self.number % 10 == 0 else "allow"
        entry = self.entry(Kind.DECIDED, verdict, by="operator", waited=self.number % 60 / 7)
        reply = b'{"hookSpecificOutput":{"permissionDecision":"allow"}}\n'
        return settled([Answer(self.request_id, "secret", reply, "", 0, _BEGIN)], entry)


def asked_and_decided() -> Iterator[Change]:
    """Return the changes of ever more calls, asked and decided."""
    number = 0
    while True:
        number += 1
        call = Call(number)
        yield happened(call.entry(Kind.ASKED))
        yield happened(call.entry(Kind.DECIDED, "allow", by="operator", waited=number % 60 / 7))


def _seconds(what: Callable[[], object]) -> float:
    begun = perf_counter()
    what()
    return perf_counter() - begun


def _each(store: Writer, changes: Iterable[Change]) -> float:
    """Write changes, each in a transaction of its own; return how many a second."""
    listed = list(changes)
    return len(listed) / _seconds(lambda: [store.write([change]) for change in listed])


def decisions(folder: Path) -> Iterator[tuple[str, str]]:
    """Measure decisions written as the server writes them."""
    calls = [Call(number) for number in range(1, _ALONE + 1)]
    with closing(open_writer(folder, KEEP)) as store:
        yield "requests kept a second, one by one", f"{_each(store, (c.asks() for c in calls)):.0f}"
        yield "decisions a second, one by one", f"{_each(store, (c.ends() for c in calls)):.0f}"
        later = [Call(number + 2 * _ALONE) for number in range(_ALONE)]
        store.write([call.asks() for call in later])
        groups = [[call.ends() for call in later[at : at + 20]] for at in range(0, _ALONE, 20)]
        took = _seconds(lambda: [store.write(group) for group in groups])
        yield "decisions a second, twenty at a time", f"{_ALONE / took:.0f}"
        yield "an anchor", f"{_seconds(store.anchor) * 1000:.1f} ms"


def reading(folder: Path, number: int) -> Iterator[tuple[str, str]]:
    """Write a large record, then measure what people do with it."""
    with closing(open_writer(folder, KEEP)) as store:
        stream = asked_and_decided()
        begun = perf_counter()
        for _ in range(0, number, _BATCH):
            store.write(list(islice(stream, _BATCH)))
            store.anchor()
        yield f"{number} records written", f"{perf_counter() - begun:.0f} s"
    size = (folder / "record.db").stat().st_size
    yield "size", f"{size / 1e6:.0f} MB, {size / number:.0f} bytes a record"
    kept = HeadFile(folder / "record.head").read()
    session = Call(number // 4).entry(Kind.EVENT).session
    queries = {
        "audit (the last 100 decisions)": Query(kinds=ENDS, last=100),
        "audit --session": Query(kinds=ENDS, session=session),
        "audit --verdict deny --last 100": Query(kinds=ENDS, verdict="deny", last=100),
        "audit --tool mcp__* --last 0": Query(kinds=ENDS, tool="mcp__*"),
        "audit --since (the last tenth)": Query(kinds=ENDS, since="2025-10-12", last=100),
    }
    with open_history(folder) as history:
        for name, query in queries.items():
            yield name, f"{_seconds(lambda q=query: list(history.find(q))):.2f} s"  # type: ignore[misc]
        yield "audit stats", f"{_seconds(lambda: stats(history.find(Query(kinds=ENDS)))):.1f} s"
        yield "audit sessions", f"{_seconds(lambda: list(history.agents())):.1f} s"
        heads = [kept] if kept else []
        yield "the chain alone", f"{_seconds(lambda: verify(history, heads, thorough=False)):.1f} s"
        yield "audit verify", f"{_seconds(lambda: verify(history, heads)):.1f} s"


def main() -> None:
    """Print the figures."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="crabhook-record-") as place:
        rows = [*decisions(Path(place) / "one"), *reading(Path(place) / "many", number)]
    sys.stdout.write(table(("the record", "measured"), rows))


if __name__ == "__main__":
    main()
