"""A record as a span of OpenTelemetry, in the JSON of OTLP/HTTP.

Source: opentelemetry-proto 1.x (docs/specification.md, "JSON Protobuf Encoding"), and the semantic
conventions of generative AI for the names `gen_ai.*`. Nothing there names an approval yet.
"""

from collections.abc import Mapping, Sequence

from crabhook.export.item import ExportItem, ExportSource
from crabhook.export.trace import trace_of
from crabhook.model.jsontext import Value, compact

INTERNAL = 1  # the kind of a span that no other service sees
APPROVAL = "crabhook.approval"
LONGEST = 4000  # letters of a value
_ENDS = {"decided", "expired", "withdrawn"}


def otlp_span(item: ExportItem) -> dict[str, Value]:
    """Return the span of a record: as long as the call waited, or without a length."""
    record, trace = item.record, trace_of(item)
    end = item.microseconds * 1000
    span: dict[str, Value] = {
        "traceId": trace.trace,
        "spanId": trace.span,
        "name": APPROVAL if record.kind in _ENDS else f"crabhook.{record.kind}",
        "kind": INTERNAL,
        "startTimeUnixNano": str(end - round(item.waited * 1e9)),
        "endTimeUnixNano": str(end),
        "attributes": _attributes(_told(item)),
    }
    return span | {"parentSpanId": trace.parent} if trace.parent else span


def otlp_request(spans: Sequence[Value], source: ExportSource) -> dict[str, Value]:
    """Return an ExportTraceServiceRequest with these spans."""
    resource = {
        "service.name": "crabhook",
        "service.version": source.version,
        "host.name": source.host,
    }
    scope: dict[str, Value] = {"name": "crabhook", "version": source.version}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeSpans": [{"scope": scope, "spans": list(spans)}],
            }
        ]
    }


def _told(item: ExportItem) -> Mapping[str, Value]:
    """Return what a record says, by the names of attributes."""
    record, actor, asked = item.record, item.actor, item.input
    is_call = {"gen_ai.operation.name": "execute_tool"} if record.tool else {}
    return {
        **is_call,
        "gen_ai.tool.name": record.tool,
        "gen_ai.tool.call.id": record.tool_use_id,
        "gen_ai.tool.call.arguments": "" if asked is None else compact(asked),
        "gen_ai.conversation.id": record.session,
        "gen_ai.agent.id": record.agent_id,
        "gen_ai.agent.name": record.agent_type or record.platform,
        "crabhook.kind": str(record.kind),
        "crabhook.seq": record.seq,
        "crabhook.hash": record.hash.hex(),
        "crabhook.hash.before": item.before.hex() if item.before is not None else "",
        "crabhook.card": record.card,
        "crabhook.verdict": record.verdict,
        "crabhook.decided_by": actor.name if actor else "",
        "crabhook.decided_by.kind": actor.kind if actor else "",
        "crabhook.decided_by.id": actor.id if actor else "",
        "crabhook.waited_ms": round(item.waited * 1000) if "waited" in item.data else None,
        "crabhook.cwd": record.cwd,
        "crabhook.machine": item.machine,
        "crabhook.words": item.words,
    }


def _attributes(values: Mapping[str, Value]) -> list[Value]:
    """Return the attributes that say something, in OTLP's form; 64-bit numbers are texts there."""
    made: list[Value] = []
    for key, value in values.items():
        if isinstance(value, int):
            made.append({"key": key, "value": {"intValue": str(value)}})
        elif value:
            made.append({"key": key, "value": {"stringValue": str(value)[:LONGEST]}})
    return made
