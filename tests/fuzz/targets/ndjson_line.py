"""The bridge's lines: an envelope is read or refused in words, and its payload is passed on whole."""

from __future__ import annotations

import json

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import parse_object
from crabhook.platforms import PLATFORMS
from crabhook.server.ndjson.bridge import EnvelopeError, no_opinion, quoted, read, written
from tests.fuzz.mutation import values
from tests.fuzz.payloads import samples
from tests.fuzz.target import Target


def law(data: bytes) -> None:
    """Of a line that is an envelope nothing is dropped; whose answer it is, stays."""
    try:
        envelope = read(data)
    except EnvelopeError as error:
        assert str(error)
        _answer(error.request_id, str(error))
        return
    told = parse_object(data)
    assert envelope.request_id == told["request_id"]
    assert json.loads(envelope.payload) == told["payload"]
    assert envelope.payload.isascii()
    assert len(quoted(envelope.session_id)) <= 61
    _answer(envelope.request_id, "why\n")
    for platform in PLATFORMS.values():
        try:
            event = platform.read(envelope.payload)
        except PayloadError:
            continue
        envelope.differs(event)


def _answer(request_id: str | None, why: str) -> None:
    line = written(request_id, no_opinion(why), 1)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line)["request_id"] == request_id
    assert json.loads(line)["payload"]["action"] == "passthrough"


def seeds() -> list[bytes]:
    """Envelopes around recorded inputs."""
    rows = [json.loads(payload) for platform in PLATFORMS for payload in samples(platform)[:6]]
    return [
        json.dumps({"request_id": "r1", "ts": 1, "session_id": row.get("session_id"), "hook_event_name": row.get("hook_event_name", ""), "payload": row}).encode()
        for row in rows
    ]  # fmt: skip


IDS = ("", "x" * 256, "x" * 257, 7, None, "\ud800", "\x1b")
TARGET = Target(law, values.of(request_id=IDS, payload=([], {}, None, "x")), seeds, longest=8192)
