"""Every record in every format: valid by its schema, on one line, with the chain, without secrets."""

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from crabhook.export.item import ExportItem, linked
from crabhook.export.ocsf import ocsf_event
from crabhook.export.packing import LINES, PACKINGS, ExportFormat, ExportWay
from crabhook.store.interface import Query
from crabhook.store.opening import open_history
from crabhook.store.record import GENESIS, RecordKind
from tests.support.exported import NOON, SCHEMA, SOURCE, TRACEPARENT, call, kept, of_every_kind
from tests.unit.secrets.corpus import secrets


@pytest.fixture
def items(tmp_path: Path) -> list[ExportItem]:
    return kept(tmp_path / "state", of_every_kind())


def events(items: list[ExportItem]) -> list[Any]:
    return [json.loads(LINES[ExportFormat.OCSF](item, SOURCE)) for item in items]


def fields(line: str) -> tuple[list[str], dict[str, str]]:
    """The header of a line of CEF, and its extension, as a receiver reads them."""
    *header, extension = re.split(r"(?<!\\)\|", line, maxsplit=7)
    parts = re.findall(r"(\w+)=((?:\\.|[^\\=])*)(?=\s\w+=|$)", extension)
    unescaped = {k: re.sub(r"\\(.)", lambda it: {"n": "\n"}.get(it[1], it[1]), v) for k, v in parts}
    return header, unescaped


def test_an_event_of_every_kind_is_valid_by_the_published_schema(items: list[ExportItem]) -> None:
    assert {item.record.kind for item in items} == {str(kind) for kind in RecordKind}
    valid = jsonschema.Draft202012Validator(SCHEMA)
    faults = [
        (e["activity_name"], fault.message) for e in events(items) for fault in valid.iter_errors(e)
    ]
    assert faults == []


def test_the_schema_refuses_an_attribute_that_ocsf_does_not_have(items: list[ExportItem]) -> None:
    event = events(items)[0]
    event["actor"]["crabhook"] = "Ann"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(event, SCHEMA)


def test_who_has_the_events_alone_can_verify_the_chain(items: list[ExportItem]) -> None:
    before = GENESIS.hash.hex()
    for event in events(items):
        attestation = event["attestation_list"][0]
        if before != GENESIS.hash.hex():
            assert attestation["prev_event"]["fingerprint"]["value"] == before
        content = bytes.fromhex(before) + event["raw_data"].encode("ascii")
        before = attestation["fingerprint"]["value"]
        assert sha256(content).hexdigest() == before == event["metadata"]["uid"]


def test_a_decision_says_who_decided_what_and_how(items: list[ExportItem]) -> None:
    allowed, denied = events(items)[0], events(items)[1]
    assert allowed["actor"]["user"] == {"name": "Ann", "uid": "op1"}
    assert (allowed["status"], denied["status"]) == ("Success", "Failure")
    assert allowed["api"]["operation"] == "Bash"
    assert allowed["api"]["request"]["data"] == {"command": "ls -l | grep 'a=b'\n"}
    assert allowed["time"] == int(NOON * 1000)


def test_a_line_of_cef_is_read_back_as_it_was_meant(items: list[ExportItem]) -> None:
    header, told = fields(LINES[ExportFormat.CEF](items[0], SOURCE))
    assert header == ["CEF:0", "crabhook", "crabhook", "1.2.3", "decided", "allow Bash", "2"]
    assert told["suser"] == "Ann"
    assert told["reason"] == "why | not = so\n"
    assert json.loads(told["request"]) == {"command": "ls -l | grep 'a=b'\n"}
    assert told["cs3"] == items[0].record.hash.hex()
    assert told["cs3Label"] == "hash"
    assert told["cn2"] == "2500"


def test_no_letter_of_a_record_ends_a_line_or_steers_a_terminal(items: list[ExportItem]) -> None:
    for item in items:
        for line in LINES.values():
            assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", line(item, SOURCE))


def test_a_message_of_syslog_is_of_rfc_5424_and_says_how_long_it_is(
    items: list[ExportItem],
) -> None:
    stream = PACKINGS[ExportWay.SYSLOG, ExportFormat.CEF].of(items, SOURCE)
    for item in items:
        length, _, rest = stream.partition(b" ")
        message, stream = rest[: int(length)].decode("utf-8"), rest[int(length) :]
        head = re.fullmatch(
            r"<(\d+)>1 (\S+Z) desk\.example crabhook - (\S{1,32}) "
            r'\[meta sequenceId="(\d+)"\] CEF:0\|.*',
            message,
        )
        assert head is not None
        assert int(head[1]) // 8 == 13
        assert (head[2], head[3], int(head[4])) == (
            item.record.at,
            item.record.kind,
            item.record.seq,
        )
    assert stream == b""


def test_a_span_is_a_child_of_the_agents_trace_and_as_long_as_the_wait(
    items: list[ExportItem],
) -> None:
    request = json.loads(PACKINGS[ExportWay.HTTP, ExportFormat.OTLP].of(items, SOURCE))
    (spans,) = [scope["spans"] for scope in request["resourceSpans"][0]["scopeSpans"]]
    first, traced = spans[0], next(span for span in spans if "parentSpanId" in span)
    assert first["name"] == traced["name"] == "crabhook.approval"
    assert int(first["endTimeUnixNano"]) == int(NOON * 1000) * 1_000_000
    assert int(first["endTimeUnixNano"]) - int(first["startTimeUnixNano"]) == 2_500_000_000
    assert (traced["traceId"], traced["parentSpanId"]) == tuple(TRACEPARENT.split("-")[1:3])
    assert len({span["spanId"] for span in spans}) == len(items)
    assert all(re.fullmatch(r"[0-9a-f]{32}", span["traceId"]) for span in spans)
    told = {each["key"]: each["value"] for each in first["attributes"]}
    assert told["gen_ai.tool.name"] == {"stringValue": "Bash"}
    assert told["crabhook.seq"] == {"intValue": "1"}


def test_a_trace_that_no_agent_can_have_is_none(tmp_path: Path) -> None:
    wrong = ["", "00-1-2-3", f"00-{32 * '0'}-00f067aa0ba902b7-01", TRACEPARENT.upper(), "x" * 9999]
    entries = [call(RecordKind.DECIDED, "allow", trace=text) for text in wrong]
    for item in kept(tmp_path, entries):
        assert "trace" not in ocsf_event(item, SOURCE)
        assert "parentSpanId" not in LINES[ExportFormat.OTLP](item, SOURCE)


def test_no_secret_of_the_corpus_is_in_any_format(tmp_path: Path) -> None:
    samples = [sample for sample in secrets() if sample.secrets]
    entries = [
        call(RecordKind.DECIDED, "deny", input={"command": sample.text}, reason=sample.text)
        for sample in samples
    ]
    entries += [call(RecordKind.ASKED, fields={"tool_input": sample.text}) for sample in samples]
    items = kept(tmp_path, entries)
    packed = [packing.of(items, SOURCE) for packing in PACKINGS.values()]
    packed += [line(item, SOURCE).encode() for item in items for line in LINES.values()]
    everything = b"\n".join(packed).decode("utf-8")
    # As JSON within JSON writes them too.
    spelled = [
        {text, json.dumps(text)[1:-1], json.dumps(json.dumps(text)[1:-1])[1:-1]}
        for sample in samples
        for text in sample.secrets
    ]
    assert [texts for texts in spelled if any(text in everything for text in texts)] == []
    assert everything.count("[redacted ") > len(samples)


def test_records_that_were_chosen_have_their_links_too(tmp_path: Path) -> None:
    whole = kept(tmp_path, of_every_kind())
    with open_history(tmp_path) as history:
        chosen = list(linked(history.find(Query(verdict="deny")), history))
    assert len(chosen) == 3
    assert chosen == [item for item in whole if item.record.verdict == "deny"]
