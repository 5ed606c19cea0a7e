"""What an AAP agent posts: refused in words, or kept whole from the card to the answer."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import canonical, compact
from crabhook.platforms.aap import submissions
from crabhook.server.http.approvals import Approval
from tests.fuzz.mutation import values
from tests.fuzz.payloads import law_of
from tests.fuzz.target import Target

ABOUT: dict[str, Any] = {"id": "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", "key": "k"}
ABOUT |= dict.fromkeys(("created_at", "deadline_at"), "2026-09-16T12:00:00.000000Z")


@cache
def _of_card() -> Any:
    return law_of("aap")


def law(data: bytes) -> None:
    """What is taken says one thing, is a card that acts on nothing, and comes back as it was."""
    for what in (submissions.REQUEST, submissions.OUTCOME):
        try:
            fields = submissions.read(data, what)
        except PayloadError as error:
            assert str(error)
            continue
        if what == submissions.OUTCOME:
            assert fields["status"] in ("succeeded", "failed")
            continue
        event = submissions.event_asked(fields, ABOUT)
        assert event.tool is not None
        assert event.tool.use_id == ABOUT["id"]
        assert canonical(submissions.request_in(event.fields)) == canonical(fields)
        _of_card()(compact(dict(event.fields)).encode())
        answered = json.loads(compact(Approval("", fields, ABOUT, "").as_json()))
        assert answered.pop("status") == "pending"
        rest = {name: answered.pop(name) for name in ("id", "created_at", "deadline_at")}
        assert rest["id"] == ABOUT["id"]
        assert canonical(answered) == canonical(fields)


def seeds() -> list[bytes]:
    """Bodies as the adapters write them."""
    call: dict[str, Any] = {"tool": "refund", "arguments": {"amount": 4900}, "timeout": "10m"}
    handle = {"framework": "langgraph", "thread_id": "t"}
    context = {"framework": "langgraph", "call_id": "t::c", "resume": handle}
    bodies = [
        call,
        {**call, "server": "stripe", "agent_reasoning": "charged twice", "context": context},
        {"status": "failed", "note": "it broke"},
    ]
    return [json.dumps(body).encode() for body in bodies]


TIMES = ("24h", "1h30m", "0s", "1d", "9" * 30 + "s", 7)
TARGET = Target(
    law,
    values.of(timeout=TIMES, status=("succeeded", "failed", "?"), context=({}, [], None)),
    seeds,
    longest=8192,
)
