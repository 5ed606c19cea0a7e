"""The wire's messages and the model, each into the other; the only place that knows both."""

import re
from collections.abc import Mapping

from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact, compact_with
from crabhook.model.reply import Reply
from crabhook.model.request import Origin, Request, Stance
from crabhook.server.core.intake import deadlines
from crabhook.v1 import permission_pb2 as pb

_TICKET = re.compile(r"[0-9A-Za-z_-]{1,64}")

_STANCES = {
    pb.STANCE_UNSPECIFIED: Stance.GATE,
    pb.STANCE_GATE: Stance.GATE,
    pb.STANCE_COMPANION: Stance.COMPANION,
    pb.STANCE_SUPERVISOR: Stance.SUPERVISOR,
}


def fault(message: pb.PermissionRequest, platforms: Mapping[str, object]) -> str:
    """Return what is wrong with a request's envelope, or nothing."""
    if not _TICKET.fullmatch(message.request_id):
        return "request_id must be 1 to 64 characters of [0-9A-Za-z_-]"
    if not _TICKET.fullmatch(message.secret):
        return "secret must be 1 to 64 characters of [0-9A-Za-z_-]"
    if message.platform not in platforms:
        known = ", ".join(sorted(platforms))
        return f"platform {message.platform[:40]!r} is not known here; known: {known}"
    return ""


def request(message: pb.PermissionRequest, event: Event, now: float, wait: float) -> Request:
    """Return the request in `message`, whose payload was read into `event`.

    It waits `wait` seconds from `now`, or as long as its hook does.
    """
    until = deadlines(now, wait, message.wait_ms / 1000)
    return Request(
        id=message.request_id,
        secret=message.secret,
        event=event,
        wait_until=until.wait_until,
        stance=_STANCES.get(message.stance, Stance.GATE),
        origin=Origin(message.client.host, message.client.pid, message.client.user),
        gives_up_at=until.gives_up_at,
        size=len(message.payload),
        when_lost=message.when_lost,
    )


def response(reply: Reply, *, confirm: bool) -> pb.PermissionResponse:
    """Return the extended response: the reply itself, and the same decision field by field."""
    output = reply.output or {}
    message = pb.PermissionResponse(
        reply=pb.Reply(
            stdout=reply.stdout,
            stderr=reply.stderr.encode("utf-8", "backslashreplace"),
            exit_code=reply.exit_code,
        ),
        confirm=confirm,
    )
    _copy(message, output, _TOP_LEVEL)
    specific = output.get("hookSpecificOutput")
    if isinstance(specific, dict):
        _copy(message, specific, _SPECIFIC)
        inner = specific.get("decision")
        updated = specific.get("updatedInput")
        if updated is not None:  # it may be megabytes: it is written once
            message.updated_input_json = compact(updated)
            whole = compact_with(specific, "updatedInput", message.updated_input_json)
        else:
            whole = compact(specific)
            if isinstance(inner, dict) and inner.get("updatedInput") is not None:
                message.updated_input_json = compact(inner["updatedInput"])
        message.hook_specific_output_json = whole
    return message


# The platform's key -> the wire's field, for the plain ones.
_TOP_LEVEL = {
    "continue": "continue",
    "stopReason": "stop_reason",
    "suppressOutput": "suppress_output",
    "systemMessage": "system_message",
    "decision": "decision",
    "reason": "reason",
}
_SPECIFIC = {
    "hookEventName": "hook_event_name",
    "permissionDecision": "permission_decision",
    "permissionDecisionReason": "permission_decision_reason",
    "additionalContext": "additional_context",
}


def _copy(
    message: pb.PermissionResponse, values: Mapping[str, Value], fields: Mapping[str, str]
) -> None:
    for key, field in fields.items():
        value = values.get(key)
        if isinstance(value, str):  # protobuf takes no lone surrogates; the reply's JSON does
            setattr(message, field, value.encode("utf-8", "replace").decode())
        elif isinstance(value, bool):
            setattr(message, field, value)
