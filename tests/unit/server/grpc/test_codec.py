"""The wire and the model, each into the other."""

import json

import pytest

from crabhook.model.card import Origin, Stance
from crabhook.model.decision import SILENCE, Reply
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact
from crabhook.server.grpc import permission
from crabhook.v1 import permission_pb2 as pb

EVENT = Event("claude", "PreToolUse")
PLATFORMS = {"claude": None, "else": None}


def envelope(**fields: object) -> pb.PermissionRequest:
    known = {"request_id": "r-1_A", "secret": "hush", "platform": "claude"}
    return pb.PermissionRequest(**{**known, **fields})  # type: ignore[arg-type]


def test_a_good_envelope_has_no_fault() -> None:
    assert permission.fault_of(envelope(), PLATFORMS) == ""
    assert permission.fault_of(envelope(request_id="x" * 64, secret="y" * 64), PLATFORMS) == ""


@pytest.mark.parametrize("ticket", ["", "x" * 65, "a b", "a\n", "é", "a/b", "\x00", "a.b"])
@pytest.mark.parametrize("field", ["request_id", "secret"])
def test_a_bad_ticket_is_named_and_not_repeated(field: str, ticket: str) -> None:
    fault = permission.fault_of(envelope(**{field: ticket}), PLATFORMS)
    assert fault == f"{field} must be 1 to 64 characters of [0-9A-Za-z_-]"


@pytest.mark.parametrize("platform", ["", "Claude", "x" * 999])
def test_an_unknown_platform_is_named_in_short_with_those_that_are_known(platform: str) -> None:
    fault = permission.fault_of(envelope(platform=platform), PLATFORMS)
    assert fault.endswith("is not known here; known: claude, else")
    assert len(fault) < 120


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
