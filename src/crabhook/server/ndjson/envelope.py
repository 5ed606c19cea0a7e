"""The bridge's lines: envelopes read, answers written; docs/reference/ndjson.md has each field.

An answer that carries a request id is that request's answer, and nothing else
is: what cannot be answered so carries null in the id's place.
"""

from collections.abc import Container
from dataclasses import dataclass

from crabhook.model.errors import CrabhookError, PayloadError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact, parse_object
from crabhook.model.reply import Reply

LONGEST_ID = 256  # characters
_BLOCKED = 2  # the exit code that blocks
_QUOTED = 60  # characters of what somebody sent that a message repeats


class EnvelopeError(CrabhookError):
    """A line that is no envelope; `request_id` is whose it is, None where that cannot be read."""

    def __init__(self, what: str, request_id: str | None = None) -> None:
        super().__init__(what)
        self.request_id = request_id


@dataclass(frozen=True, slots=True)
class Envelope:
    """One request.  `payload` is the agent's hook input, as JSON.

    `session_id` and `hook_event_name` are copies that the forwarder made, None
    where it made none.
    """

    request_id: str
    payload: bytes
    session_id: Value = None
    hook_event_name: Value = None

    def differs(self, event: Event) -> str:
        """Return where the copies contradict the payload, in words; nothing where they do not."""
        named = (
            ("hook_event_name", self.hook_event_name, event.name),
            ("session_id", self.session_id, event.session),
        )
        told = [
            f"{key} {quoted(copy)}, its payload {quoted(original)}"
            for key, copy, original in named
            if copy is not None and copy != original
        ]
        return f"its envelope says {' and '.join(told)}: the payload counts" if told else ""


def read(line: bytes, waiting: Container[str] = ()) -> Envelope:
    """Return the envelope in a line; raise EnvelopeError, in words for a person, if there is none.

    Fields that are not known, `ts` among them, are not looked at.  `waiting` are the ids
    of requests that are yet to be answered, and that no other may have.
    """
    try:
        fields = parse_object(line)
    except PayloadError as error:
        raise EnvelopeError(f"the line is no envelope: {error}") from error
    request_id, payload = fields.get("request_id"), fields.get("payload")
    if not isinstance(request_id, str) or not 0 < len(request_id) <= LONGEST_ID:
        raise EnvelopeError(f'"request_id" must be a text of 1 to {LONGEST_ID} characters')
    if not isinstance(payload, dict):
        raise EnvelopeError('"payload" must be the hook\'s input, an object', request_id)
    if request_id in waiting:
        raise EnvelopeError("a request with this id waits on this connection already")
    return Envelope(
        request_id,
        compact(payload).encode("ascii"),
        fields.get("session_id"),
        fields.get("hook_event_name"),
    )


def written(request_id: str | None, reply: Reply, ts: int) -> bytes:
    """Return the line that answers a request; `ts` in milliseconds since 1970."""
    answer: dict[str, Value] = {"request_id": request_id, "ts": ts, "payload": result(reply)}
    return compact(answer).encode("ascii") + b"\n"


def result(reply: Reply) -> dict[str, Value]:
    """Return a reply as the action that the forwarder is to carry out.

    Beside an action that prints nothing on standard error, `stderr` is a
    diagnostic: a forwarder may print it, and may as well not.
    """
    body: dict[str, Value] = {"action": "passthrough"}
    if reply.exit_code == _BLOCKED:
        body = {"action": "block_with_stderr", "stderr": reply.stderr}
    elif reply.output is not None:
        body = {"action": "json_output", "stdout_json": dict(reply.output)}
    return {**body, "stderr": reply.stderr} if reply.stderr else body


def no_opinion(why: str) -> Reply:
    """Return the reply to what was not decided, with the reason where people look for it."""
    return Reply(stderr=f"crabhook: no opinion: {why}\n")


def quoted(value: Value) -> str:
    """Return a value that somebody sent as JSON, shortened, to be repeated in a message."""
    text = compact(value)
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"
