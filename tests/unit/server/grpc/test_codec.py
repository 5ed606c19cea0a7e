"""The wire and the model, each into the other."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from crabhook.hook.call import LARGEST_MESSAGE
from crabhook.hook.statement import ticket_digest
from crabhook.model.card import Origin, Stance
from crabhook.model.decision import SILENCE, Decision, Reply, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact
from crabhook.model.signing import DecisionSignature, SignedOnly
from crabhook.platforms import AT_THE_DOOR, CLIENTS
from crabhook.platforms import HOOKED as AGENTS
from crabhook.platforms.claude.write import LARGEST_ECHO
from crabhook.platforms.installation import Transport
from crabhook.platforms.interface import Platform
from crabhook.server.address import MAX_REPLY, MAX_REQUEST
from crabhook.server.grpc import permission
from crabhook.v1 import permission_pb2 as pb
from tests.support.exported import TRACEPARENT
from tests.support.rows import every_row

EVENT = Event("claude", "PreToolUse")
PLATFORMS = {"claude": None, "else": None}


def envelope(**fields: object) -> pb.PermissionRequest:
    known = {"request_id": "r-1_A", "secret": "hush", "platform": "claude"}
    return pb.PermissionRequest(**{**known, **fields})  # type: ignore[arg-type]


def test_a_good_envelope_has_no_fault() -> None:
    assert permission.fault_of(envelope(), PLATFORMS) == ""
    assert permission.fault_of(envelope(request_id="x" * 64, secret="y" * 64), PLATFORMS) == ""


@every_row("ticket", ["", "x" * 65, "a b", "a\n", "é", "a/b", "\x00", "a.b"])
@every_row("field", ["request_id", "secret"])
def test_a_bad_ticket_is_named_and_not_repeated(field: str, ticket: str) -> None:
    fault = permission.fault_of(envelope(**{field: ticket}), PLATFORMS)
    assert fault == f"{field} must be 1 to 64 characters of [0-9A-Za-z_-]"


@pytest.mark.parametrize("platform", ["", "Claude", "x" * 999])
def test_an_unknown_platform_is_named_in_short_with_those_that_are_known(platform: str) -> None:
    fault = permission.fault_of(envelope(platform=platform), PLATFORMS)
    assert "is not known here, but known: claude, else. " in fault
    assert len(fault) < 120


def test_no_hook_can_speak_for_an_agent_that_asks_at_the_http_door() -> None:
    for platform in AT_THE_DOOR:
        assert "is not known here" in permission.fault_of(envelope(platform=platform), CLIENTS)


@pytest.mark.parametrize(
    ("stance", "meant"),
    [
        (pb.STANCE_UNSPECIFIED, Stance.GATE),
        (pb.STANCE_GATE, Stance.GATE),
        (pb.STANCE_COMPANION, Stance.COMPANION),
        (pb.STANCE_SUPERVISOR, Stance.SUPERVISOR),
        (99, Stance.GATE),
    ],
)
def test_a_stance_that_is_not_said_or_not_known_is_the_gate(stance: int, meant: Stance) -> None:
    assert permission.request_of(envelope(stance=stance), EVENT, 0.0, 60.0).stance is meant


def test_a_request_is_read_whole() -> None:
    client = pb.ClientFacts(host="h", pid=7, user="u", version="1")
    asked = envelope(client=client, when_lost="deny")
    read = permission.request_of(asked, EVENT, 100.0, 60.0, "build1")
    assert (read.id, read.secret, read.event) == ("r-1_A", "hush", EVENT)
    assert read.origin == Origin("h", 7, "u", "build1")
    assert read.when_lost == "deny"


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (TRACEPARENT, TRACEPARENT),
        ("", ""),
        (f"{TRACEPARENT}\n", ""),
        (TRACEPARENT.upper(), ""),
        (f"00-{32 * '0'}-00f067aa0ba902b7-01", ""),
        ("rm -rf /", ""),
    ],
)
def test_a_trace_that_none_can_be_is_not_taken(sent: str, read: str) -> None:
    asked = envelope(client=pb.ClientFacts(traceparent=sent))
    assert permission.request_of(asked, EVENT, 0.0, 60.0).event.trace == read


@pytest.mark.parametrize(
    ("wait_ms", "until"),
    [
        (0, 160.0),  # not said: the server's own
        (61_000, 160.0),
        (10_000, 109.0),  # a second before the hook gives up
        (1_000, 100.9),
        (1, 100.0009),
        (2**64 - 1, 160.0),
    ],
)
def test_we_answer_before_the_hook_gives_up_and_never_later_than_the_server_says(
    wait_ms: int, until: float
) -> None:
    read = permission.request_of(envelope(wait_ms=wait_ms), EVENT, 100.0, 60.0)
    assert read.wait_until == pytest.approx(until)


def test_silence_has_no_field_but_the_reply() -> None:
    assert permission.response_of(SILENCE, confirm=False) == pb.PermissionResponse(reply=pb.Reply())


def test_absent_is_not_false_and_not_empty() -> None:
    response = permission.response_of(Reply({"continue": False, "reason": ""}), confirm=False)
    assert response.HasField("continue")
    assert response.HasField("reason")
    assert not response.HasField("suppress_output")
    assert not response.HasField("hook_specific_output_json")
    assert not permission.response_of(Reply({}), confirm=False).HasField("reason")


@pytest.mark.parametrize("beside", [{}, {"systemMessage": "m"}])
@pytest.mark.parametrize("more", [{"updatedInput": {"a": "é"}}, {"decision": {"b": [1]}}, {}])
def test_what_is_specific_to_an_event_is_written_the_same_alone_and_beside_other_keys(
    beside: dict[str, Value], more: dict[str, Value]
) -> None:
    specific: dict[str, Value] = {"hookEventName": "PreToolUse", **more, "additionalContext": "}"}
    reply = Reply({"hookSpecificOutput": specific, **beside})
    response = permission.response_of(reply, confirm=False)
    assert response.hook_specific_output_json == compact(specific)


def test_every_top_level_key_of_the_protocol_has_its_field() -> None:
    output = {
        "continue": False,
        "stopReason": "s",
        "suppressOutput": True,
        "systemMessage": "m",
        "decision": "block",
        "reason": "r",
    }
    response = permission.response_of(Reply(output), confirm=True)  # type: ignore[arg-type]
    found = (response.stop_reason, response.suppress_output, response.system_message)
    assert found == ("s", True, "m")
    assert (response.decision, response.reason, response.confirm) == ("block", "r", True)
    assert not getattr(response, "continue")
    assert json.loads(response.reply.stdout) == output


def test_what_a_protobuf_text_cannot_hold_is_still_in_the_reply() -> None:
    reply = Reply({"reason": "a\ud800b"}, stderr="c\ud800d", exit_code=2)
    response = permission.response_of(reply, confirm=False)
    assert response.reason == "a?b"
    assert json.loads(response.reply.stdout) == {"reason": "a\ud800b"}
    assert (response.reply.stderr, response.reply.exit_code) == (b"c\\ud800d", 2)
    assert pb.PermissionResponse.FromString(response.SerializeToString()) == response


# One copy.

ROOT = Path(__file__).parents[4]
SAMPLES = sorted((ROOT / "tests" / "samples").glob("*/*.json"))
UPDATE: Mapping[str, Value] = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "é \ud800"}, {"toolName": "Edit"}],
    "behavior": "allow",
    "destination": "session",
    "newer": [1],
}
PARTS: Mapping[str, Any] = {
    "note": "a note é",
    "updated_input": {"command": "ls", "odd": ["é", "\ud800", None, 1.5]},
    "permissions": (UPDATE, {"type": "setMode", "mode": "plan", "destination": "session"}),
    "interrupt": True,
    "halt": "enough",
    "user_message": "see é",
    "suppress_output": True,
    "output": {"stdout": "é\udfff"},
    "content": {"name": "é"},
}


def answers(platform: Platform, event: Event) -> Iterator[Decision]:
    """All that an event can be answered with: each verdict bare, and with each part that it takes."""
    for verdict in sorted(platform.choices(event).verdicts):
        bare = Decision(verdict, reason="because é" if verdict is not Verdict.ALLOW else "")
        for part, value in [("note", ""), *PARTS.items()]:
            decision = replace(bare, **{part: value})
            try:
                platform.check(event, decision)
            except DecisionError:
                continue
            yield decision


def put_together(
    response: pb.PermissionResponse, place: tuple[str, ...], *, flat: bool
) -> dict[str, Any]:
    """Write the output that the fields say.

    `place` is where this event has the tool's input. `flat`: it has all at the top level.
    """
    fields = {field.name: value for field, value in response.ListFields()}
    if flat:
        names = permission._TOP_LEVEL | permission._FLAT
        return {key: fields[name] for key, name in names.items() if name in fields}
    other = json.loads(fields.get("other_output_json", "{}"))
    specific = {key: fields[name] for key, name in permission._SPECIFIC.items() if name in fields}
    inner = {key: fields[key] for key in ("behavior", "message", "interrupt") if key in fields}
    if response.updated_permissions:
        inner["updatedPermissions"] = [json.loads(one.json) for one in response.updated_permissions]
    if inner:
        specific["decision"] = inner
    specific |= other
    if "updated_input_json" in fields:
        holder = specific["decision"] if place[0] == "decision" else specific
        holder[place[-1]] = json.loads(fields["updated_input_json"])
    top = {key: fields[name] for key, name in permission._TOP_LEVEL.items() if name in fields}
    return {**top, **({"hookSpecificOutput": specific} if specific else {})}


def place_of_input(platform: str, event: str) -> tuple[str, ...]:
    if platform == "gemini":
        return ("tool_input",)
    return ("decision", "updatedInput") if event == "PermissionRequest" else ("updatedInput",)


def test_the_fields_leave_out_nothing_that_the_reply_says() -> None:
    keys = set()
    for sample in SAMPLES:
        platform = AGENTS.get(sample.parent.name)
        if platform is None or Transport.COMMAND not in platform.settings.transports:
            continue  # its answers go over HTTP alone
        event = platform.read(sample.read_bytes())
        for decision in answers(platform, event):
            reply = platform.write(event, decision)
            response = permission.response_of(reply, confirm=True, form=pb.ANSWER_FORM_FIELDS)
            place = place_of_input(platform.name, event.name)
            flat = platform.name == "copilot" and event.name != "PreToolUse"
            said = put_together(response, place, flat=flat)
            assert said == json.loads(reply.stdout or b"{}"), decision
            assert response.reply == pb.Reply(
                stderr=reply.stderr.encode(), exit_code=reply.exit_code
            )
            assert not response.hook_specific_output_json
            keys |= {field.name for field, _ in response.ListFields()}
    every = {field.name for field in pb.PermissionResponse.DESCRIPTOR.fields}
    of_strict_hooks = {"signatures", "team_file"}
    assert keys == every - {"hook_specific_output_json"} - of_strict_hooks


@pytest.mark.parametrize("form", [pb.ANSWER_FORM_REPLY, pb.ANSWER_FORM_FIELDS])
@pytest.mark.parametrize("name", ["PreToolUse", "PermissionRequest", "BeforeTool"])
def test_a_form_holds_what_is_long_once(form: "pb.AnswerForm.ValueType", name: str) -> None:
    content: dict[str, Value] = {"content": "x" * 1_000_000}
    specific: Mapping[str, dict[str, Value]] = {
        "PreToolUse": {"updatedInput": content},
        "PermissionRequest": {"decision": {"behavior": "allow", "updatedInput": content}},
        "BeforeTool": {"tool_input": content},
    }
    reply = Reply({"hookSpecificOutput": {"hookEventName": name, **specific[name]}})
    assert permission.response_of(reply, confirm=True, form=form).ByteSize() < 1_000_500
    whole = permission.response_of(reply, confirm=True)
    assert json.loads(whole.updated_input_json) == content
    assert permission.response_of(reply, confirm=True, form=99) == whole  # type: ignore[arg-type]


def test_the_fields_json_is_about_as_long_as_the_text_in_any_script() -> None:
    for letter in ("x", "é", "中", "🦀"):
        content: Value = {"content": letter * 100_000}
        reply = Reply({"hookSpecificOutput": {"updatedInput": content}})
        response = permission.response_of(reply, confirm=True, form=pb.ANSWER_FORM_FIELDS)
        assert response.ByteSize() < 100_000 * len(letter.encode()) + 200


def test_a_permission_update_of_an_unknown_kind_is_whole_and_has_what_fits() -> None:
    odd: Value = [{"type": 7, "rules": ["x", {"toolName": 1}], "directories": ["/a", 2]}, "text"]
    reply = Reply({"hookSpecificOutput": {"decision": {"updatedPermissions": odd}}})
    response = permission.response_of(reply, confirm=True, form=pb.ANSWER_FORM_FIELDS)
    assert [json.loads(one.json) for one in response.updated_permissions] == odd
    assert list(response.updated_permissions[0].directories) == ["/a"]


def test_every_reply_to_a_request_fits_into_what_server_and_hook_take() -> None:
    assert 3 * MAX_REQUEST < MAX_REPLY == LARGEST_MESSAGE


# The pages.


def comment_of(proto: str, rpc: str) -> str:
    """The comment above a call in a file of the wire."""
    text = (ROOT / "proto" / "crabhook" / "v1" / f"{proto}.proto").read_text(encoding="utf-8")
    before = text.partition(f"  rpc {rpc}(")[0]
    lines = before.splitlines()
    start = next(
        at for at in range(len(lines), 0, -1) if not lines[at - 1].strip().startswith("//")
    )
    return "\n".join(lines[start:])


def statuses_in(text: str) -> set[str]:
    return set(re.findall(r"\b(?:[A-Z]+_)*[A-Z]{5,}\b", text)) & ALL_STATUSES


ALL_STATUSES = {status.name for status in grpc.StatusCode}
OF_ANY_CALL = {"UNAVAILABLE", "UNIMPLEMENTED"}


def test_every_status_that_the_port_sends_is_in_the_comments_and_on_the_page() -> None:
    source = Path(permission.__file__).read_text(encoding="utf-8")
    sent = set(re.findall(r"StatusCode\.([A-Z_]+)", source))
    listed = statuses_in(comment_of("permission", "RequestPermission"))
    assert listed == sent | OF_ANY_CALL
    receipts = statuses_in(comment_of("permission", "ConfirmReply"))
    assert receipts == {"UNAUTHENTICATED", "PERMISSION_DENIED", *OF_ANY_CALL}
    page = (ROOT / "docs" / "reference" / "wire.md").read_text(encoding="utf-8")
    table = page.partition("## Status codes")[2].partition("## A connection")[0]
    assert statuses_in(table) == listed | {"CANCELLED", "INTERNAL"}


def test_the_sizes_on_the_page_and_in_the_comments_are_those_in_force() -> None:
    page = (ROOT / "docs" / "reference" / "wire.md").read_text(encoding="utf-8")
    limits = comment_of("permission", "RequestPermission")
    for size in (MAX_REQUEST, MAX_REPLY, LARGEST_ECHO):
        assert f"{size >> 20} MiB" in page
        assert f"{size >> 20} MiB" in limits


def test_a_strict_hook_gets_the_signatures_and_a_team_file_that_it_does_not_have() -> None:
    message = envelope()
    message.strict.team_id = b"id"
    asked = permission.request_of(message, EVENT, 0.0, 60.0)
    assert asked.strict == SignedOnly(message.payload, ticket_digest(message.secret))
    assert asked.terms == ()
    message.strict.need = 2
    message.strict.of.extend(("@leads", "ann"))
    (terms,) = permission.request_of(message, EVENT, 0.0, 60.0).terms
    assert (terms.need, terms.of) == (2, ("@leads", "ann"))
    message.strict.need = 1 << 31
    message.strict.of.extend("x" * 1000 for _ in range(1000))
    (bounded,) = permission.request_of(message, EVENT, 0.0, 60.0).terms
    assert bounded.need == permission.MOST_NEEDED
    assert (len(bounded.of), max(map(len, bounded.of))) == (20, 64)
    plain = permission.request_of(envelope(), EVENT, 0.0, 60.0)
    assert (plain.strict, plain.terms) == (None, ())
    about = ("r", 3, "o-ann", "p-phone", 5, "allow", 1, b"t")
    made = DecisionSignature(*about, signature=b"s", authenticator_data=b"a", client_data=b"{}")
    reply = replace(Reply(), signed=(made,))
    response = permission.response_of(reply, confirm=True, form=pb.ANSWER_FORM_REPLY)
    (sent,) = response.signatures
    assert sent == pb.DecisionSignature(
        kind=pb.SIGNATURE_KIND_PASSKEY,
        operator_id="o-ann",
        key_id="p-phone",
        signed_at_ms=5,
        verdict="allow",
        card=1,
        terms=b"t",
        signature=b"s",
        authenticator_data=b"a",
        client_data_json=b"{}",
    )
