"""Which format goes by which way, and how records are packed for it."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from crabhook.export.cef import cef_line, syslog_message
from crabhook.export.item import ExportItem, ExportSource
from crabhook.export.ocsf import ocsf_event
from crabhook.export.otlp import otlp_request, otlp_span
from crabhook.model.jsontext import compact


class ExportFormat(StrEnum):
    """A format of other systems."""

    OCSF = "ocsf"
    CEF = "cef"
    OTLP = "otlp"


class ExportWay(StrEnum):
    """How records travel."""

    SYSLOG = "syslog"
    HTTP = "http"


Line: TypeAlias = Callable[[ExportItem, ExportSource], str]
"""Returns a record as a line."""


class Packing(NamedTuple):
    """How records are packed: `each` record alone, and then the `whole` of some.

    `content_type` is that of HTTP; empty for another way.
    """

    each: Callable[[ExportItem, ExportSource], bytes]
    whole: Callable[[Sequence[bytes], ExportSource], bytes]
    content_type: str = ""

    def of(self, items: Sequence[ExportItem], source: ExportSource) -> bytes:
        """Return some records, packed."""
        return self.whole([self.each(item, source) for item in items], source)


def _ocsf_line(item: ExportItem, source: ExportSource) -> str:
    return compact(ocsf_event(item, source))


def _in_a_row(parts: Sequence[bytes], _: ExportSource) -> bytes:
    return b"".join(parts)


def _framed(line: Line) -> Packing:
    """Return the packing of lines as messages of syslog."""

    def framed(item: ExportItem, source: ExportSource) -> bytes:
        return syslog_message(line(item, source), item, source)

    return Packing(framed, _in_a_row)


def _request(spans: Sequence[bytes], source: ExportSource) -> bytes:
    head, tail = compact(otlp_request((), source)).encode("ascii").rsplit(b"[]", 1)
    return b"%s[%s]%s" % (head, b",".join(spans), tail)


LINES: Mapping[ExportFormat, Line] = {
    ExportFormat.OCSF: _ocsf_line,
    ExportFormat.CEF: cef_line,
    ExportFormat.OTLP: lambda item, source: compact(otlp_request([otlp_span(item)], source)),
}
"""A record as a line of each format."""

PACKINGS: Mapping[tuple[ExportWay, ExportFormat], Packing] = {
    (ExportWay.SYSLOG, ExportFormat.CEF): _framed(cef_line),
    (ExportWay.SYSLOG, ExportFormat.OCSF): _framed(_ocsf_line),
    (ExportWay.HTTP, ExportFormat.OCSF): Packing(
        lambda item, source: f"{_ocsf_line(item, source)}\n".encode("ascii"),
        _in_a_row,
        "application/x-ndjson",
    ),
    (ExportWay.HTTP, ExportFormat.OTLP): Packing(
        lambda item, _: compact(otlp_span(item)).encode("ascii"), _request, "application/json"
    ),
}
"""How records are packed, for each format and each way that it can go."""
