"""What the server is told: a request of the agent as one object, in a bounded size."""

from collections.abc import Mapping

from crabhook.model.jsontext import Value, compact_utf8, object_at, parse_object, text_at
from crabhook.platforms.acp.events import FORM

LARGEST = 16 << 20
"""Bytes of a request that a card can have whole."""
_BEGINNING = 2000
_FEW = 200


def asked_payload(
    method: str,
    params: Mapping[str, Value],
    call: Mapping[str, Value],
    about: Mapping[str, Value],
    size: int,
) -> bytes:
    """Return a request as the server reads it; `size`: the bytes of its line.

    Of a request that is too long the beginnings of its texts are sent, and that it was cut.
    """
    fields: dict[str, Value]
    if method == FORM:
        fields = {
            "message": params.get("message", ""),
            "mode": params.get("mode", ""),
            "requested_schema": params.get("requestedSchema"),
        }
    else:
        fields = {"tool_call": dict(call), "options": params.get("options")}
    if size <= LARGEST:
        whole = _written({"hook_event_name": method, **about, **fields})
        size = len(whole)
        if size <= LARGEST:
            return whole
    cut: dict[str, Value] = {"hook_event_name": method, **about, "cut": {"bytes": size}}
    beginnings = {key: beginning(value) for key, value in fields.items()}
    if len(part := _written({**cut, **beginnings})) <= LARGEST:
        return part
    names = ("toolCallId", "title", "kind")
    names_alone = {key: text_at(call, key)[:_BEGINNING] for key in names if key in call}
    return _written({**cut, "tool_call": {**names_alone}, "options": []})


def beginning(value: Value) -> Value:
    """Return a value with the beginnings of its long texts and lists."""
    if isinstance(value, str) and len(value) > _BEGINNING:
        return f"{value[:_BEGINNING]}…"
    if isinstance(value, list):
        return [beginning(item) for item in value[:_FEW]]
    if isinstance(value, dict):
        return {key[:_BEGINNING]: beginning(item) for key, item in [*value.items()][:_FEW]}
    return value


def event_payload(
    name: str, about: Mapping[str, Value] | bytes, fields: Mapping[str, Value]
) -> bytes:
    """Return an event of the proxy's; `about` is its session, or a request's whole payload."""
    if isinstance(about, bytes):
        asked = parse_object(about, _DEEPEST)
        kept = ("session_id", "cwd", "permission_mode", "agent", "tool_call", "cut")
        about = {key: asked[key] for key in kept if key in asked}
    return _written({"hook_event_name": name, **about, **fields})


_DEEPEST = 250  # of a request in an object of ours


def _written(fields: Mapping[str, Value]) -> bytes:
    return compact_utf8(fields).encode()


def call_of(payload: bytes) -> Mapping[str, Value]:
    """Return the call in a request's payload."""
    return object_at(parse_object(payload, _DEEPEST), "tool_call")
