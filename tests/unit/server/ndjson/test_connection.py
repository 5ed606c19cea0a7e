"""A connection to the bridge: out of order, in vain, slow, broken, or gone."""

import asyncio
import json
import os
import socket
from typing import Any

import pytest

from crabhook.model.card import State
from crabhook.model.decision import Decision, Verdict
from crabhook.server.core import runner as runner_module
from crabhook.server.ndjson import bridge as module
from tests.support.bridge import envelope, line_to, notes, opened_bridge
from tests.support.port import Opened, path_of
from tests.support.seat import decide

ALLOW, DENY = Decision(Verdict.ALLOW), Decision(Verdict.DENY, reason="no")
STOP = {"hook_event_name": "Stop", "session_id": "s"}
PASSED = {"action": "passthrough"}


def bash(call: str, **fields: Any) -> dict[str, Any]:
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash"}
    return envelope(
        call, {**payload, "tool_input": {"command": call}, "tool_use_id": call, **fields}
    )


def number_of(port: Opened, call: str) -> int:
    return next(
        card.number
        for card in port.runner.broker.waiting()
        if card.event.fields["tool_use_id"] == call
    )


def verdict(answer: Any) -> str:
    said = answer["payload"]["stdout_json"]["hookSpecificOutput"]["permissionDecision"]
    assert isinstance(said, str)
    return said


async def test_answers_come_as_they_are_given_each_under_its_own_id() -> None:
    async with opened_bridge() as port, line_to(port) as line:
        await line.send(bash("a"), bash("b"), bash("c"))
        await port.waiting(3)
        for call, decision in (("c", ALLOW), ("a", DENY), ("b", ALLOW)):
            decide(port.runner, number_of(port, call), decision)
            answer = await line.answer()
            assert (answer["request_id"], verdict(answer)) == (call, decision.verdict)


async def test_requests_are_taken_in_in_the_order_they_came() -> None:
    async with opened_bridge() as port, line_to(port) as line:
        await line.send(*(bash(str(n)) for n in range(50)))
        cards = await port.waiting(50)
        assert [card.event.fields["tool_use_id"] for card in cards] == [str(n) for n in range(50)]


async def test_a_line_may_come_in_pieces_and_several_in_one() -> None:
    async with opened_bridge() as port, line_to(port) as line:
        whole = b'{"request_id":"p","payload":{"hook_event_name":"Stop"}}\n\n  \r\n'
        for byte in whole:
            await line.send(bytes([byte]))
            await asyncio.sleep(0)
        assert (await line.answer())["request_id"] == "p"
        await line.send(whole * 3)
        assert [(await line.answer())["request_id"] for _ in range(3)] == ["p"] * 3
        assert len(port.runner.broker.feed()) == 4


async def test_what_is_taken_is_delivered() -> None:
    async with opened_bridge() as port, line_to(port) as line:
        await line.send(bash("a"))
        (card,) = await port.waiting()
        decide(port.runner, card.number, ALLOW)
        assert verdict(await line.answer()) == "allow"
        await port.until(lambda: port.runner.broker.ended()[-1].delivered is True)


async def test_a_connections_end_withdraws_all_that_waits_on_it_and_nothing_else() -> None:
    async with opened_bridge() as port, line_to(port) as other:
        async with line_to(port) as line:
            await line.send(bash("a"), bash("b"))
            await other.send(bash("c"))
            await port.waiting(3)
        (left,) = await port.waiting(1)
        assert left.event.fields["tool_use_id"] == "c"
        assert {card.state for card in port.runner.broker.ended()} == {State.WITHDRAWN}


async def test_a_half_closed_connection_is_one_that_has_ended() -> None:
    async with opened_bridge() as port, line_to(port) as line:
        await line.send(bash("a"))
        await port.waiting(1)
        line.writer.write_eof()
        await port.waiting(0)
        assert await line.answer() is None


async def test_who_writes_and_leaves_at_once_is_still_heard() -> None:
    async with opened_bridge() as port:
        async with line_to(port) as line:
            await line.send(envelope("r", STOP))
            line.writer.close()
        await port.until(
            lambda: [entry.event.name for entry in port.runner.broker.feed()] == ["Stop"]
        )


async def test_an_id_that_waits_is_not_taken_twice_and_the_first_keeps_its_answer() -> None:
    async with opened_bridge() as port, line_to(port) as line:
        await line.send(bash("a"))
        (card,) = await port.waiting()
        for again in (bash("a"), {"request_id": "a"}):
            refused = await line.ask(again)
            assert refused["request_id"] is None
            assert refused["payload"]["action"] == "passthrough"
        assert list(port.runner.broker.waiting()) == [card]
        decide(port.runner, card.number, DENY)
        assert verdict(await line.answer()) == "deny"
        await line.send(bash("a"))  # the id is free again
        await port.waiting(1)


async def test_an_id_means_nothing_on_another_connection() -> None:
    async with opened_bridge() as port, line_to(port) as one, line_to(port) as other:
        await one.send(bash("a"))
        (card,) = await port.waiting()
        await other.send(bash("a", session_id="t"))
        await port.waiting(2)
        decide(port.runner, card.number, ALLOW)
        assert verdict(await one.answer()) == "allow"
        (left,) = port.runner.broker.waiting()
        decide(port.runner, left.number, DENY)
        assert verdict(await other.answer()) == "deny"


@pytest.mark.parametrize("wrong", [b"\n{\n", b"\xff\xfe\n", b"[]\n", {"payload": STOP}], ids=repr)
async def test_a_line_that_is_nobodys_is_answered_to_nobody_and_the_next_is_followed(
    wrong: Any,
) -> None:
    async with opened_bridge() as port, line_to(port) as line:
        refused = await line.ask(wrong)
        assert refused["request_id"] is None
        assert refused["payload"]["action"] == "passthrough"
        assert "no opinion" in refused["payload"]["stderr"]
        assert "harness bridge" in notes(port)[-1]
        answer = await line.ask(envelope("r", STOP))
        assert (answer["request_id"], answer["payload"]) == ("r", PASSED)


@pytest.mark.parametrize(
    "high",
    [b"\xff", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", bytes(range(0x80, 0x100))],
    ids=bytes.hex,
)
async def test_no_byte_above_ascii_ends_the_bridge_or_gets_a_call_in(high: bytes) -> None:
    line = json.dumps(bash("a")).encode() + b"\n"
    places = [at for at, letter in enumerate(line) if letter in b'":,{}\n']
    async with opened_bridge() as port:
        for at in places:
            async with line_to(port) as other:
                assert (await other.ask(line[:at] + high + line[at:]))["request_id"] is None
        assert not port.runner.broker.waiting()
        async with line_to(port) as after:
            await after.send(line)
            await port.waiting()


@pytest.mark.parametrize("wrong", [{}, {"hook_event_name": 5}, "text", None], ids=repr)
async def test_an_input_nobody_can_read_gets_no_opinion_under_its_id(wrong: Any) -> None:
    async with opened_bridge() as port, line_to(port) as line:
        for _ in range(2 * module.MOST_FAULTS):  # it is the agent's fault, not the forwarder's
            answer = await line.ask(envelope("r") | {"payload": wrong})
            assert (answer["request_id"], answer["payload"]["action"]) == ("r", "passthrough")
        assert not port.runner.broker.waiting()


async def test_who_talks_nonsense_on_and_on_is_not_heard_any_more() -> None:
    async with opened_bridge() as port, line_to(port) as line:
        await line.send(bash("a"))
        await port.waiting()
        for _ in range(module.MOST_FAULTS):
            assert (await line.ask(b"nonsense\n"))["request_id"] is None
        assert await line.answer() is None
        await port.waiting(0)
        assert len(notes(port)) == module.MOST_FAULTS + 1


async def test_a_line_without_an_end_is_not_followed() -> None:
    async with opened_bridge() as port:
        async with line_to(port) as line:
            await line.send(b'{"request_id":"p","payload":{"hook_event_name":"Stop"}}')
            line.writer.write_eof()
            assert await line.answer() is None
        await port.until(lambda: bool(notes(port)))
        assert "has no end" in notes(port)[0]


async def test_a_line_past_the_bound_closes_and_what_waited_is_withdrawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("crabhook.server.ndjson.bridge.MAX_REQUEST", 10_000)
    async with opened_bridge() as port, line_to(port) as line:
        await line.send(bash("a"))
        await port.waiting()
        assert (await line.ask(b"x" * 20_000))["request_id"] is None
        assert await line.answer() is None
        await port.waiting(0)


async def test_a_line_within_the_bound_may_be_long() -> None:
    async with opened_bridge() as port, line_to(port) as line:
        await line.send(bash("a", tool_input={"command": "x" * 2_000_000}))
        (card,) = await port.waiting()
        decide(port.runner, card.number, ALLOW)
        assert verdict(await line.answer()) == "allow"


async def test_who_does_not_read_is_cut_off_and_its_answer_counts_as_not_delivered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "TAKEN_WITHIN", 0.05)
    monkeypatch.setattr(runner_module, "RECEIPT_WITHIN", 0.1)
    more_than_a_socket_holds = "x" * 4_000_000
    async with opened_bridge() as port, line_to(port) as line:
        line.writer.transport.pause_reading()
        await line.send(bash("a"), bash("b"))
        await port.waiting(2)
        changed = Decision(Verdict.ALLOW, updated_input={"command": more_than_a_socket_holds})
        decide(port.runner, number_of(port, "a"), changed)
        await port.waiting(0)  # the other one is withdrawn with the connection
        await port.until(lambda: port.runner.broker.card(1).delivered is False)  # type: ignore[union-attr] - it was asked about a moment ago
        assert any("was not read in time" in note for note in notes(port))


async def test_who_does_not_read_is_not_listened_to_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "TAKEN_WITHIN", 60.0)
    async with opened_bridge() as port, line_to(port) as line:
        line.writer.transport.pause_reading()
        await line.send(bash("a"))
        (card,) = await port.waiting(1)
        changed = Decision(Verdict.ALLOW, updated_input={"command": "x" * 4_000_000})
        decide(port.runner, card.number, changed)
        await asyncio.sleep(0.01)
        await line.send(bash("b"), bash("c"))
        await asyncio.sleep(0.05)
        assert len(port.runner.broker.waiting()) <= 1  # the line that was read already, perhaps
        line.writer.transport.resume_reading()
        assert verdict(await line.answer()) == "allow"
        await port.waiting(2)


async def test_time_that_runs_out_is_passed_through() -> None:
    async with opened_bridge(wait=0.05) as port, line_to(port) as line:
        answer = await line.ask(bash("a"))
        assert (answer["request_id"], answer["payload"]["action"]) == ("a", "passthrough")
        assert "nobody decided in time" in answer["payload"]["stderr"]
        assert port.runner.broker.ended()[-1].state is State.EXPIRED


@pytest.mark.parametrize("end", ["close", "hand_over"])
async def test_the_operators_leaving_passes_through_all_that_waits(end: str) -> None:
    async with opened_bridge() as port, line_to(port) as line:
        await line.send(bash("a"), bash("b"))
        await port.waiting(2)
        getattr(port.runner, end)()
        answers = [await line.answer() for _ in range(2)]
        assert {answer["request_id"] for answer in answers} == {"a", "b"}
        assert {answer["payload"]["action"] for answer in answers} == {"passthrough"}
        after = await line.ask(bash("c"))
        assert after["payload"]["action"] == "passthrough"


async def test_a_fault_of_our_own_costs_the_connection_not_the_desk(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> bytes:
        raise RuntimeError("out of ink")

    async with opened_bridge() as port:
        async with line_to(port) as line:
            await line.send(bash("a"))
            (card,) = await port.waiting()
            with monkeypatch.context() as patch:
                patch.setattr(module, "written", broken)
                decide(port.runner, card.number, ALLOW)
                assert await line.answer() is None
        assert "out of ink" in caplog.text
        async with line_to(port) as line:
            assert (await line.ask(envelope("r", STOP)))["payload"] == PASSED


async def test_a_connection_reset_is_an_end_like_any_other() -> None:
    async with opened_bridge() as port:
        path = path_of(port)
        with socket.socket(socket.AF_UNIX) as line:
            line.setblocking(False)
            line.connect(os.fspath(path))
            line.sendall(json.dumps(bash("a")).encode() + b"\n")
            (card,) = await port.waiting()
            line.sendall(json.dumps(bash("b")).encode() + b"\n")
            await port.waiting(2)
            decide(port.runner, card.number, DENY)
            await port.until(lambda: port.runner.broker.ended()[-1].delivered is True)
        await port.waiting(0)  # closed with an answer unread, for which the kernel sends a reset


async def test_the_operator_sees_which_process_asks() -> None:
    async with opened_bridge() as port, line_to(port) as line:
        await line.send(bash("a"))
        (card,) = await port.waiting()
        assert card.requests[0].origin.pid == os.getpid()
