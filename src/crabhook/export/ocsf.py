"""A record as an event of OCSF 1.9: class API Activity, with the chain as `record_integrity`.

Source: github.com/ocsf/ocsf-schema, version 1.9.0. The fingerprint covers `raw_data`, which is the
record's own line, after the fingerprint of the event before. So a program that has the
events can verify the chain without crabhook.
"""

from collections.abc import Mapping

from crabhook.export.item import ExportItem, ExportSource
from crabhook.export.trace import Trace, trace_of
from crabhook.model.jsontext import Value

VERSION = "1.9.0"
CATEGORY, CLASS, OTHER = 6, 6003, 99
TYPE = CLASS * 100 + OTHER
CHAIN = "SHA-256 of the 32 bytes of prev_event.fingerprint.value, then raw_data in ASCII"

_SHA_256, _HEX, _SERIALIZED_OTHERWISE = 3, 1, 99
_USER_NAME, _HOST_NAME = 4, 1

_STATUS: Mapping[str, tuple[int, str]] = {
    "allow": (1, "Success"),
    "accept": (1, "Success"),
    "deny": (2, "Failure"),
    "decline": (2, "Failure"),
}


def ocsf_event(item: ExportItem, source: ExportSource) -> dict[str, Value]:
    """Return the event of a record."""
    record, severity = item.record, item.severity
    status_id, status = _STATUS.get(record.verdict, (OTHER, item.outcome))
    trace = trace_of(item)
    event: dict[str, Value] = {
        "category_uid": CATEGORY,
        "category_name": "Application Activity",
        "class_uid": CLASS,
        "class_name": "API Activity",
        "activity_id": OTHER,
        "activity_name": str(record.kind),
        "type_uid": TYPE,
        "type_name": "API Activity: Other",
        "severity_id": severity.ocsf,
        "severity": severity.word,
        "status_id": status_id,
        "status": status,
        "time": item.microseconds // 1000,
        "message": item.words,
        "metadata": _metadata(item, source, traced=trace.parent != ""),
        "actor": _actor(item),
        "api": _api(item),
        "src_endpoint": _asking(item),
        "ai_agent": _agent(item),
        "attestation_list": [_attestation(item, source)],
        "raw_data": item.line,
        "unmapped": {"crabhook": {"seq": record.seq, "kind": record.kind, **item.data}},
    }
    if record.verdict:
        event["status_code"] = record.verdict
    if reason := item.data.get("reason"):
        event["status_detail"] = str(reason)
    if seen := _observables(item):
        event["observables"] = seen
    if trace.parent:
        event["trace"] = _trace(item, trace)
    return event


def _metadata(item: ExportItem, source: ExportSource, *, traced: bool) -> Value:
    record = item.record
    about: dict[str, Value] = {
        "version": VERSION,
        "product": {"name": "crabhook", "vendor_name": "crabhook", "version": source.version},
        "profiles": ["ai_operation", "record_integrity", *(["trace"] if traced else [])],
        "uid": record.hash.hex(),
        "sequence": record.seq,
        "event_code": str(record.kind),
        "log_name": "record",
        "log_provider": source.host,
        "original_time": str(record.at),
    }
    if record.request_id:
        about["correlation_uid"] = record.request_id
    return about


def _actor(item: ExportItem) -> Value:
    actor, session = item.actor, item.record.session
    who: dict[str, Value] = {"app_name": "crabhook"}
    if actor is not None and actor.kind == "operator":
        user: dict[str, Value] = {"name": actor.name, "uid": actor.id}
        who["user"] = {key: value for key, value in user.items() if value}
    elif actor is not None:
        who["invoked_by"] = actor.name
    if session:
        who["session"] = {"uid": session}
    return who


def _api(item: ExportItem) -> Value:
    record, asked = item.record, item.input
    request: dict[str, Value] = {"uid": record.tool_use_id or record.request_id or str(record.seq)}
    if asked is not None:
        request["data"] = asked
    api: dict[str, Value] = {"operation": record.tool or str(record.kind), "request": request}
    if record.platform:
        api["service"] = {"name": record.platform}
    if record.verdict:
        response: dict[str, Value] = {"message": record.verdict}
        if (edited := item.data.get("edited")) is not None:
            response["data"] = edited
        api["response"] = response
    return api


def _asking(item: ExportItem) -> Value:
    """Return where it came from: the agent, and its machine where the record names that."""
    asking: dict[str, Value] = {"svc_name": item.record.platform or "crabhook"}
    return asking | {"name": item.machine} if item.machine else asking


def _agent(item: ExportItem) -> Value:
    record = item.record
    agent: dict[str, Value] = {"name": record.platform or "crabhook"}
    if record.agent_id or record.session:
        agent["instance_uid"] = record.agent_id or record.session
    if record.agent_type:
        agent |= {"type_id": OTHER, "type": record.agent_type}
    return agent


def _attestation(item: ExportItem, source: ExportSource) -> Value:
    record = item.record
    attestation: dict[str, Value] = {"uid": str(record.seq), "fingerprint": _print(record.hash)}
    if source.chain:
        attestation["chain_uid"] = source.chain
    if item.before is not None and record.seq > 1:
        attestation["prev_event"] = {
            "uid": item.before.hex(),
            "type_uid": TYPE,
            "fingerprint": _print(item.before),
        }
    return attestation


def _print(digest: bytes) -> Value:
    return {
        "algorithm_id": _SHA_256,
        "algorithm": "SHA-256",
        "encoding_id": _HEX,
        "encoding": "Hex",
        "serialization_id": _SERIALIZED_OTHERWISE,
        "serialization": CHAIN,
        "value": digest.hex(),
    }


def _observables(item: ExportItem) -> list[Value]:
    seen: list[Value] = []
    if item.actor is not None and item.actor.kind == "operator":
        name = item.actor.name
        seen.append({"name": "actor.user.name", "type_id": _USER_NAME, "value": name})
    if item.machine:
        seen.append({"name": "src_endpoint.name", "type_id": _HOST_NAME, "value": item.machine})
    return seen


def _trace(item: ExportItem, trace: Trace) -> Value:
    end = item.microseconds // 1000
    span: dict[str, Value] = {
        "uid": trace.span,
        "parent_uid": trace.parent,
        "start_time": end - round(item.waited * 1000),
        "end_time": end,
    }
    return {"uid": trace.trace, "span": span}
