"""Reads what an AAP agent sends, as strictly as its own package reads: unknown fields are errors.

Each table of `protocol.toml` is one body. A key that stands twice is refused too. One reader takes
its first value and another its last, so the call that is shown could differ from the call that
runs.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from crabhook.data_files import tables
from crabhook.model.errors import PayloadError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact, object_at, parse_object, text_at
from crabhook.model.marked_call import MARK
from crabhook.platforms.aap.events import ASKED, FAILED, SUCCEEDED, read_event

REQUEST, OUTCOME = "request", "outcome"
LONGEST = 30 * 86_400  # seconds of a timeout; a longer one means the same to people
_UNITS: Mapping[str, int] = {"h": 3600, "m": 60, "s": 1}
_DURATION = re.compile("(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,8})s)?")


def seconds(duration: str) -> float:
    """Return the seconds of "1h30m", at most LONGEST; raises PayloadError for another form."""
    parts = _DURATION.fullmatch(duration)
    total = sum(
        int(number) * unit
        for number, unit in zip(parts.groups() if parts else (), _UNITS.values(), strict=False)
        if number
    )
    if not total:
        raise PayloadError('it is no duration, such as "10m"')
    return min(total, LONGEST)


def read(body: bytes, what: str) -> dict[str, Value]:
    """Return a body, REQUEST or OUTCOME; raises PayloadError, in words for its programmer."""
    fields = parse_object(body)
    json.loads(body, object_pairs_hook=_once)
    rows: Mapping[str, Mapping[str, Any]] = tables(__file__, "protocol")[what]
    for name, value in fields.items():
        if name not in rows:
            raise PayloadError(f"there is no field {name!r:.60}")
        _check(name, value, rows[name])
    for name, row in rows.items():
        if row.get("needed") and name not in fields:
            raise PayloadError(f"the field {name} is missing")
    return fields


def _once(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise PayloadError("a key stands twice in one object")
    return members


def _check(name: str, value: Value, row: Mapping[str, Any]) -> None:
    kind, most = row["kind"], row.get("most")
    if isinstance(kind, list):
        if value not in kind:
            raise PayloadError(f"the field {name} is one of: {', '.join(kind)}")
        return
    try:
        _KINDS[kind](value)
    except PayloadError as error:
        raise PayloadError(f"the field {name}: {error}") from error
    if most is not None and isinstance(value, str) and len(value) > most:
        raise PayloadError(f"the field {name} is longer than {most} letters")


def _text(value: Value) -> None:
    if not isinstance(value, str) or not value.strip():
        raise PayloadError("it must be a text that is not empty")


def _object(value: Value) -> None:
    if not isinstance(value, dict):
        raise PayloadError("it must be a JSON object")


def _duration(value: Value) -> None:
    seconds(value if isinstance(value, str) else "")


_KINDS: Mapping[str, Callable[[Value], None]] = {
    "text": _text,
    "object": _object,
    "duration": _duration,
}

_SESSION = ("thread_id", "conversation_id", "run_id", "session_id")
"""What frameworks call their run, in the handle by which they wake it."""
_LONGEST_NAME = 200  # letters of a session's name
_UNSAID = "-"  # what adapters put in a call's id where the run has none


def session_of(context: Mapping[str, Value]) -> str:
    """Return the agent's run: as its handle names it, or its call's id begins, or its framework."""
    resume = object_at(context, "resume")
    of_handle = next(filter(None, (text_at(resume, key) for key in _SESSION)), "")
    begins, colon, _ = text_at(context, "call_id").partition(":")
    of_call = begins if colon and begins != _UNSAID else ""
    return (of_handle or of_call or text_at(context, "framework"))[:_LONGEST_NAME]


def tool_of(request: Mapping[str, Value]) -> str:
    """Return the tool's name as rules know it: with its server, as MCP tools are named."""
    tool, server = text_at(request, "tool"), text_at(request, "server")
    return f"mcp__{server}__{tool}" if server else tool


def event_asked(request: Mapping[str, Value], about: Mapping[str, Value]) -> Event:
    """Return the event of a request; `about` has its `id`, and what the provider adds to it.

    The context is where the marked request of `crabhook prove` has its mark.
    """
    rest = {name: value for name, value in request.items() if name != "arguments"}
    own = _call(request, text_at(about, "id"))
    fields = {**own, **rest, **about, "hook_event_name": ASKED, "tool_input": request["arguments"]}
    if mark := text_at(object_at(request, "context"), MARK):
        fields[MARK] = mark
    return read_event(compact(fields).encode("ascii"))


def request_in(fields: Mapping[str, Value]) -> dict[str, Value]:
    """Return the request in the fields of its event, as it was sent."""
    names = tables(__file__, "protocol")[REQUEST]
    sent = {name: fields[name] for name in names if name in fields}
    return {**sent, "arguments": fields["tool_input"]}


def event_told(
    request: Mapping[str, Value], about: Mapping[str, Value], outcome: Mapping[str, Value]
) -> Event:
    """Return the event of what became of a request's call."""
    name = FAILED if outcome["status"] == "failed" else SUCCEEDED
    own = _call(request, text_at(about, "id"))
    note = {"note": outcome["note"]} if "note" in outcome else {}
    fields = {**own, **note, "hook_event_name": name, "tool_input": request["arguments"]}
    return read_event(compact(fields).encode("ascii"))


def _call(request: Mapping[str, Value], request_id: str) -> dict[str, Value]:
    return {
        "session_id": session_of(object_at(request, "context")),
        "tool_name": tool_of(request),
        "tool_use_id": request_id,
    }
