"""The trace of a record: the agent's, where its hook's environment had a TRACEPARENT.

Source: W3C Trace Context, level 1. All ids derive from the record: a span that is sent twice has
the same ids.
"""

from hashlib import sha256
from typing import NamedTuple

from crabhook.export.item import ExportItem
from crabhook.model.jsontext import text_at
from crabhook.model.trace import trace_parent


class Trace(NamedTuple):
    """Ids in hexadecimal: 32 digits of the trace, 16 of the span and of its parent or none."""

    trace: str
    span: str
    parent: str = ""


def trace_of(item: ExportItem) -> Trace:
    """Return the trace of a record: without a parent the spans of a session are one trace."""
    record = item.record
    span = record.hash[:8].hex()
    if parent := trace_parent(text_at(item.data, "trace")):
        return Trace(parent[0], span, parent[1])
    whose = f"{record.platform}\0{record.session or record.hash.hex()}"
    return Trace(sha256(whose.encode("utf-8", "surrogatepass")).hexdigest()[:32], span)
