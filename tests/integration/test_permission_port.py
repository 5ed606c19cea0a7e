"""The permission port as hooks meet it: a real gRPC server, a real client, an operator between."""

import asyncio
import json
from pathlib import Path
from typing import Any

import grpc
import pytest

from crabhook.model.card import FeedEntry, Stance, State
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.platforms import CLIENTS
from crabhook.platforms.event_table import Held
from crabhook.server.address import Address, TcpAddress
from crabhook.server.core import runner as runner_module
from crabhook.server.core.intake import LONG
from crabhook.server.grpc import permission as permission_module
from crabhook.v1 import permission_pb2 as pb
from tests.support.port import (
    BASH,
    METHOD,
    Opened,
    ask,
    asking,
    confirm,
    connected,
    new_call,
    opened,
    path_of,
    request,
)
from tests.support.seat import decide

SAMPLES = Path(__file__).parents[1] / "samples"
PROMPT = {"hook_event_name": "PermissionRequest", "tool_name": "Bash"}
CHANGED: dict[str, Any] = {"command": "ls -l", "odd": ["é", "\ud800", None]}
TOKEN = (("authorization", "Bearer t0ken"),)

DECISIONS = [
    Decision(Verdict.ALLOW),
    Decision(Verdict.ALLOW, reason="fine", note="mind the gap\ud800", updated_input=CHANGED),
    Decision(Verdict.DENY, reason="no: é\u2028"),
    Decision(Verdict.DENY, reason="lone \ud800"),
    Decision(Verdict.ASK, reason="you say"),
    Decision(Verdict.PASS, reason="lone \udcff"),
]


@pytest.fixture(params=["unix", "tcp"])
def address(request: pytest.FixtureRequest, tmp_path_factory: Any) -> list[Address]:
    return [] if request.param == "unix" else [TcpAddress("127.0.0.1", 0)]


@pytest.mark.parametrize("name", CLIENTS)
async def test_every_recorded_input_goes_through(name: str, address: list[Address]) -> None:
    platform, waited = CLIENTS[name], 0
    async with opened(*address, token="t0ken") as port, connected(port.bound[0]) as channel:
        for sample in sorted((SAMPLES / name).glob("*.json")):
            sent = request(sample.read_bytes(), platform=name)
            asked = asyncio.ensure_future(ask(channel, sent, metadata=TOKEN))
            event = platform.read(sample.read_bytes())
            decision = Decision(Verdict.PASS)
            if platform.held(event, Stance.GATE) in (Held.ALWAYS, Held.AT_THE_GATE):
                (card,) = await port.waiting()
                assert card.event.fields == event.fields
                form = Verdict.DECLINE in card.choices.verdicts
                decision = Decision(Verdict.DECLINE if form else Verdict.DENY, reason="no")
                decide(port.runner, card.number, decision)
                waited += 1
            printed = (await asked).reply
            assert (printed.stdout, printed.exit_code) == (
                platform.write(event, decision).stdout,
                0,
            )
            says_nothing = printed.stdout.strip() in (b"", b"{}")
            assert says_nothing == (decision == Decision(Verdict.PASS))
    assert waited >= 4


@pytest.mark.parametrize("payload", [BASH, PROMPT], ids=["PreToolUse", "PermissionRequest"])
@pytest.mark.parametrize("decision", DECISIONS, ids=repr)
async def test_one_decision_makes_both_views(payload: Any, decision: Decision) -> None:
    if payload is PROMPT and decision.verdict is Verdict.ASK:
        decision = Decision(Verdict.ASK)
    async with opened() as port, connected(port.bound[0]) as channel:
        asked = asyncio.ensure_future(ask(channel, request(payload)))
        (card,) = await port.waiting()
        decide(port.runner, card.number, decision)
        response = await asked
    assert response.confirm
    assert response.reply.exit_code == 0
    expected: dict[str, Any] = {}
    if response.reply.stdout:
        specific = json.loads(response.reply.stdout)["hookSpecificOutput"]
        expected = expected_fields(specific)
        assert json.loads(response.hook_specific_output_json) == specific
    fields = {name.name for name, _ in response.ListFields()} - {"reply", "confirm"}
    assert fields == set(expected) | ({"hook_specific_output_json"} if expected else set())
    for name, value in expected.items():
        found = getattr(response, name)
        assert (json.loads(found) if name.endswith("_json") else found) == value


def expected_fields(specific: dict[str, Any]) -> dict[str, Any]:
    """Read a hook's output as a stranger to our code would."""
    inner = specific.get("decision", {})
    updated = specific.get("updatedInput", inner.get("updatedInput"))
    found = {
        "hook_event_name": specific["hookEventName"],
        "permission_decision": specific.get("permissionDecision"),
        "permission_decision_reason": specific.get("permissionDecisionReason"),
        "additional_context": specific.get("additionalContext"),
        "behavior": inner.get("behavior"),
        "message": inner.get("message"),
    }
    known = {name: spoken(text) for name, text in found.items() if text is not None}
    return known if updated is None else {**known, "updated_input_json": updated}


def spoken(text: str) -> str:
    """The text as a protobuf string can hold it."""
    return text.encode("utf-8", "replace").decode()


async def test_time_that_runs_out_is_no_decision_but_a_status() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await ask(channel, request(wait_ms=20))
        assert refused.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert refused.value.details() == "nobody decided in time"
        assert port.runner.broker.card(1).state is State.EXPIRED  # type: ignore[union-attr]


async def test_the_server_says_that_it_has_accepted_before_anybody_decides() -> None:
    async with (
        opened() as port,
        connected(port.bound[0]) as channel,
        asking(channel, request()) as call,
    ):
        await call.initial_metadata()
        (card,) = await port.waiting()
        decide(port.runner, card.number, Decision(Verdict.ALLOW))
        response: Any = await call.read()
        assert response.permission_decision == "allow"


async def test_a_client_that_cancels_withdraws_its_card() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        async with asking(channel, request()):
            (card,) = await port.waiting()
        await port.waiting(0)
        assert port.runner.broker.card(card.number).state is State.WITHDRAWN  # type: ignore[union-attr]


async def test_a_client_that_is_killed_withdraws_its_card() -> None:
    async with opened() as port:
        reader, writer = await asyncio.open_unix_connection(str(path_of(port)))
        writer.write(new_call(request()).take())
        await port.waiting()
        writer.transport.abort()
        await port.waiting(0)
        assert await reader.read() is not None


async def test_closing_the_desk_releases_whoever_waits_and_whoever_comes() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        asked = asyncio.ensure_future(ask(channel, request()))
        await port.waiting()
        port.runner.close()
        for one in (asked, ask(channel, request())):
            with pytest.raises(grpc.aio.AioRpcError, match="closed the desk"):
                await one


# Coming back.


async def test_a_ticket_takes_its_place_again_and_the_old_connection_is_told() -> None:
    async with opened() as port, connected(port.bound[0]) as one, connected(port.bound[0]) as two:
        asked = request()
        old = asyncio.ensure_future(ask(one, asked))
        (card,) = await port.waiting()
        async with asking(two, asked) as new:
            await new.initial_metadata()
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await old
            assert refused.value.code() is grpc.StatusCode.ABORTED
            assert port.runner.broker.waiting() == (card,)
            decide(port.runner, card.number, Decision(Verdict.ALLOW))
            response: Any = await new.read()
            assert response.permission_decision == "allow"


async def test_an_answer_that_did_not_arrive_is_given_again() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        asked = request()
        async with asking(channel, asked):
            (card,) = await port.waiting()
            decide(port.runner, card.number, Decision(Verdict.DENY, reason="no"))
        again = await ask(channel, asked)
        assert (again.permission_decision, again.confirm) == ("deny", True)
        await confirm(channel, asked.request_id)
        assert port.runner.broker.card(card.number).delivered  # type: ignore[union-attr]
        assert not port.runner.broker.waiting()


async def test_a_ticket_is_found_again_only_with_its_secret() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        asked = request()
        async with asking(channel, asked) as call:
            (card,) = await port.waiting()
            stolen = request(request_id=asked.request_id, secret="guess")
            for _ in range(2):
                with pytest.raises(grpc.aio.AioRpcError) as refused:
                    await ask(channel, stolen)
                assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
                if port.runner.broker.waiting():
                    decide(port.runner, card.number, Decision(Verdict.ALLOW))
            response: Any = await call.read()
            assert response.permission_decision == "allow"


# Receipts.


async def answered(port: Opened, channel: grpc.aio.Channel) -> str:
    """Have one request answered; return its id."""
    asked = request()
    coming = asyncio.ensure_future(ask(channel, asked))
    (card,) = await port.waiting()
    decide(port.runner, card.number, Decision(Verdict.ALLOW))
    assert (await coming).confirm
    return asked.request_id


async def test_a_decision_is_delivered_when_the_hook_says_so_and_not_before() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        asked = await answered(port, channel)
        assert port.runner.broker.card(1).delivered is None  # type: ignore[union-attr]
        await confirm(channel, asked)
        assert port.runner.broker.card(1).delivered is True  # type: ignore[union-attr]


async def test_a_receipt_needs_the_secret_and_counts_once() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        asked = await answered(port, channel)
        for ticket in ((asked, "guess"), ("never", "hush")):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await confirm(channel, *ticket)
            assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
        assert port.runner.broker.card(1).delivered is None  # type: ignore[union-attr]
        await confirm(channel, asked)
        with pytest.raises(grpc.aio.AioRpcError):
            await confirm(channel, asked)
        assert port.runner.broker.card(1).delivered is True  # type: ignore[union-attr]


async def test_without_a_receipt_a_decision_is_shown_as_not_delivered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner_module, "RECEIPT_WITHIN", 0.02)
    async with opened() as port, connected(port.bound[0]) as channel:
        await answered(port, channel)
        await port.until(lambda: port.runner.broker.card(1).delivered is False)  # type: ignore[union-attr]
        said = [one.text for one in port.news if isinstance(one, FeedEntry)]
        assert any("NOT DELIVERED" in text for text in said)


async def test_an_answer_too_long_to_send_is_a_status_and_comes_in_one_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(permission_module, "MAX_REPLY", 5_000)
    long = {**BASH, "tool_input": {"command": "x" * 3_000}}
    async with opened() as port, connected(port.bound[0]) as channel:
        asked = request(long)
        coming = asyncio.ensure_future(ask(channel, asked))
        (card,) = await port.waiting()
        decide(port.runner, card.number, Decision(Verdict.ALLOW))
        with pytest.raises(grpc.aio.AioRpcError, match="comes once") as refused:
            await coming
        assert refused.value.code() is grpc.StatusCode.OUT_OF_RANGE
        asked.answer_form = pb.ANSWER_FORM_REPLY
        response = await ask(channel, asked)
        assert b"x" * 3_000 in response.reply.stdout
        await confirm(channel, asked.request_id)
        assert port.runner.broker.card(1).delivered is True  # type: ignore[union-attr]


# Rubbish.

RUBBISH = {
    "empty": b"",
    "garbage": b"\x00\xff\x13garbage" * 9,
    "truncated": json.dumps(BASH).encode()[:-3],
    "deep": b'{"hook_event_name":"PreToolUse","tool_input":' + b"[" * 99999,
    "nested": b'{"a":' * 300 + b"1" + b"}" * 300,
    "not UTF-8": b'{"hook_event_name":"PreToolUse\xff"}',
    "nameless": b'{"tool_name":"Bash"}',
    "a list": b"[]",
    "huge number": b'{"hook_event_name":"PreToolUse","a":1e999}',
    "long number": b'{"hook_event_name":"PreToolUse","a":' + b"9" * 9999 + b"}",
    "huge": b'{"hook_event_name":"PreToolUse","a":"' + b"x" * (20 << 20),
}


async def test_what_cannot_be_read_is_no_opinion_with_a_reason_and_the_server_stays() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        for name, payload in RUBBISH.items():
            response = await ask(channel, request(payload))
            assert response == pb.PermissionResponse(
                reply=pb.Reply(stderr=response.reply.stderr)
            ), name
            note = response.reply.stderr.decode()
            assert note.startswith("crabhook: no opinion: the hook's input could not be read: it ")
            shown = port.news[-1]
            assert isinstance(shown, FeedEntry)
            assert f"unreadable input of {len(payload)} bytes" in shown.text
        await answered(port, channel)


async def test_a_payload_as_large_as_clients_send_goes_through() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        big = {**BASH, "tool_input": {"content": "x" * (31 << 20)}}
        asked = asyncio.ensure_future(ask(channel, request(big)))
        (card,) = await port.waiting()
        assert card.event.fields == big
        decide(port.runner, card.number, Decision(Verdict.ALLOW))
        assert (await asked).permission_decision == "allow"


async def test_what_takes_long_to_judge_keeps_no_other_call_waiting() -> None:
    begun, enough = asyncio.Event(), asyncio.Event()

    async def judge(_: Event, *, long: bool) -> None:
        if long:
            begun.set()
            await enough.wait()

    long = {**BASH, "tool_input": {"command": "ls " * LONG}}
    async with opened(judge=judge) as port, connected(port.bound[0]) as channel:
        slow = asyncio.ensure_future(ask(channel, request(long)))
        await begun.wait()
        await answered(port, channel)
        enough.set()
        (card,) = await port.waiting()
        decide(port.runner, card.number, Decision(Verdict.ALLOW))
        assert (await slow).permission_decision == "allow"


async def test_whoever_leaves_while_its_input_is_judged_never_waits() -> None:
    begun = asyncio.Event()

    async def judge(_: Event, *, long: bool) -> None:
        if long:
            begun.set()
            await asyncio.sleep(60)

    long = {**BASH, "tool_input": {"command": "ls " * LONG}}
    async with opened(judge=judge) as port, connected(port.bound[0]) as channel:
        slow = asyncio.ensure_future(ask(channel, request(long)))
        await begun.wait()
        slow.cancel()
        await answered(port, channel)
        assert not port.runner.broker.waiting()
        assert port.runner.broker.sessions() == 1


async def test_a_payload_past_the_bound_is_refused_and_the_server_stays() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await ask(channel, request(b"x" * (34 << 20)))
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        await answered(port, channel)


GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 99,
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        GREETING + b"\xff" * 99,
        GREETING + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00" + b"\x00\x00\x05\x01\x05\x00\x00\x00\x01?????",
    ],
)  # fmt: skip
async def test_rubbish_on_the_socket_harms_nobody(data: bytes) -> None:
    async with opened() as port:
        for _ in range(20):
            _, writer = await asyncio.open_unix_connection(str(path_of(port)))
            writer.write(data)
            writer.transport.abort() if len(data) % 2 else writer.close()
        async with connected(port.bound[0]) as channel:
            await answered(port, channel)


async def test_a_message_that_is_no_message_is_refused() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        method: Any = channel.unary_unary(METHOD, None, None)
        with pytest.raises(grpc.aio.AioRpcError):
            await method(b"\xff" * 50, timeout=60)
        await answered(port, channel)
