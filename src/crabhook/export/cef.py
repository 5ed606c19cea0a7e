"""A record as a line of CEF, and as a message of syslog.

Sources: "Implementing ArcSight Common Event Format", version 25 (the header, the extension's keys
and what is escaped). RFC 5424 has the message, RFC 6587 §3.4.1 and RFC 5425 §4.3 the octet counting
that frames it over TCP and TLS.
"""

import re
from collections.abc import Mapping

from crabhook.export.item import ExportItem, ExportSource
from crabhook.model.jsontext import compact
from crabhook.present.safe import safe

AUDIT = 13  # syslog's facility "log audit"
LONGEST_INPUT, LONGEST_VALUE = 3000, 1000  # letters: many receivers cut a message after 8 KiB
_LAST_SEQUENCE = 2**31 - 1  # of RFC 5424's `sequenceId`, which begins again at 1

_NOT_PRINTABLE = re.compile(r"[^\x21-\x7e]")
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def cef_line(item: ExportItem, source: ExportSource) -> str:
    """Return a record as CEF, on one line of visible letters."""
    record = item.record
    kind, name = str(record.kind), f"{item.outcome} {record.tool}".strip()
    header = ("CEF:0", "crabhook", "crabhook", source.version, kind, name, str(item.severity.cef))
    extension = " ".join(
        f"{key}={_value(text)}" for key, text in _extension(item, source).items() if text
    )
    return "|".join((*(_field(text) for text in header), extension))


def syslog_message(text: str, item: ExportItem, source: ExportSource) -> bytes:
    """Return a message of RFC 5424, behind its length in octets and a space."""
    record = item.record
    at = str(record.at) if _UTC.fullmatch(str(record.at)) else "-"
    host, kind = _word(source.host, 255), _word(str(record.kind), 32)
    sequence = (record.seq - 1) % _LAST_SEQUENCE + 1
    priority = AUDIT * 8 + item.severity.syslog
    meta = f'[meta sequenceId="{sequence}"]'
    head = f"<{priority}>1 {at} {host} crabhook - {kind} {meta} "
    message = (head + text).encode("utf-8", "backslashreplace")
    return b"%d %s" % (len(message), message)


def _extension(item: ExportItem, source: ExportSource) -> Mapping[str, str]:
    """Return the extension's keys, those of CEF's dictionary, but no empty key."""
    record, actor, asked = item.record, item.actor, item.input
    person = actor if actor and actor.kind == "operator" else None
    before = item.before.hex() if item.before is not None else ""
    numbers = {"card": record.card, "waited ms": round(item.waited * 1000)}
    texts = {
        "session": record.session,
        "tool": record.tool,
        "hash": record.hash.hex(),
        "hash before": before,
        "folder": record.cwd,
        "decided by": actor.name if actor else "",
    }
    return {
        "rt": str(item.microseconds // 1000),
        "externalId": str(record.seq),
        "act": item.outcome,
        "dvchost": source.host,
        "shost": item.machine,
        "sourceServiceName": record.platform,
        "suser": person.name if person else "",
        "suid": person.id if person else "",
        "request": "" if asked is None else compact(asked)[:LONGEST_INPUT],
        "reason": str(item.data.get("reason") or "")[:LONGEST_VALUE],
        "msg": item.words,
        **_labelled("cs", {name: text[:LONGEST_VALUE] for name, text in texts.items()}),
        **_labelled("cn", {name: "" if n is None else str(n) for name, n in numbers.items()}),
    }


def _labelled(key: str, values: Mapping[str, str]) -> dict[str, str]:
    """Return values for which CEF has numbered keys, each with its label, as cs1 and cs1Label."""
    made = dict[str, str]()
    for number, (name, text) in enumerate(values.items(), 1):
        if text:
            made |= {f"{key}{number}": text, f"{key}{number}Label": name}
    return made


def _field(text: str) -> str:
    return safe(text.replace("\\", "\\\\").replace("|", "\\|"))


def _value(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("=", "\\=")
    return safe(escaped.replace("\r\n", "\\n").replace("\n", "\\n").replace("\r", "\\r"))


def _word(text: str, most: int) -> str:
    """Return a field of syslog's header: printable ASCII without blanks, - for none."""
    return _NOT_PRINTABLE.sub("_", text)[:most] or "-"
