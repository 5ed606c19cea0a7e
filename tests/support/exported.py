"""Records to export: of each kind that the server writes, and of all secrets of the corpus."""

from __future__ import annotations

import json
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crabhook.export.item import ExportItem, ExportSource, linked
from crabhook.store.change import happened
from crabhook.store.opening import open_history, open_writer
from crabhook.store.record import Entry, RecordKind
from crabhook.store.sqlite.files import KEY, KEY_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crabhook.store.opening import Place

NOON = 1_767_960_000.25
SOURCE = ExportSource("desk.example", "1.2.3", "c0ffee")
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
SCHEMA = json.loads(
    (Path(__file__).parents[1] / "samples/export/api_activity.schema.json").read_text("utf-8")
)


def call(kind: RecordKind, verdict: str = "", **body: Any) -> Entry:
    """An entry about a call of Claude's."""
    return Entry(
        kind,
        NOON,
        *("claude", "s-1", "a-7", "Explore", "/home/dev", "Bash", "toolu_1", "r-1", 12, verdict),
        body,
    )


def of_every_kind() -> list[Entry]:
    """Entries of every kind; decisions by everybody who decides."""
    ann = {"kind": "operator", "id": "op1", "name": "Ann", "desk": "laptop", "role": "decider"}
    by = {
        "operator": {"by": "operator", "actor": ann, "where": "the desk"},
        "rule": {"by": "rule: allow Bash(ls)", "actor": {"kind": "rule", "ref": "allow Bash(ls)"}},
        "nobody": {"by": "crabhook", "actor": {"kind": "nobody", "end": {"kind": "away"}}},
    }
    asked = {"command": "ls -l | grep 'a=b'\n"}
    decided = [
        call(RecordKind.DECIDED, verdict, **who, input=asked, waited=2.5, reason="why | not = so\n")
        for who in by.values()
        for verdict in ("allow", "deny", "pass")
    ]
    edited = call(
        RecordKind.DECIDED, "allow", **by["operator"], input=asked, edited={"command": "ls"}
    )
    traced = call(RecordKind.DECIDED, "allow", **by["rule"], input=asked, trace=TRACEPARENT)
    sender = {"host": "build1", "pid": 7, "user": "dev", "machine": "build1"}
    fields = {"event": "PreToolUse", "fields": {"tool_input": asked}, "from": sender}
    hostile = "\x1b[2J\u202e\r\nCEF:0|x|y|\u2028 key=value \\"
    others = [Entry(kind, NOON, body={"what": f"{kind} {hostile}"}) for kind in RecordKind]
    return [*decided, edited, traced, call(RecordKind.ASKED, **fields), *others]


def kept(place: Place, entries: Sequence[Entry]) -> list[ExportItem]:
    """Write entries as the server does; return all records there, ready to be exported.

    In a new folder the key is always the same, and so are all hashes: the letters of a random hash
    could be those of a short secret.
    """
    if isinstance(place, Path):
        place.mkdir(exist_ok=True)
        with suppress(FileExistsError), (place / KEY).open("xb") as file:
            (place / KEY).chmod(0o600)
            file.write(bytes(range(KEY_BYTES)))
    with closing(open_writer(place)) as writer:
        writer.write([happened(*entries)])
    with open_history(place) as history:
        return list(linked(history.find(), history))
