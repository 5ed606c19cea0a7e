"""Requests from the bridge become requests like any other, under tickets of our own."""

import asyncio
from typing import Any

import pytest

from crabhook.model.card import Origin, Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import PayloadError
from crabhook.model.event import Event
from crabhook.server.core.anonymous_intake import AnonymousIntake
from crabhook.server.core.intake import LONG
from crabhook.server.core.runner import Runner
from crabhook.server.ndjson.bridge import NAMED, Envelope, take
from tests.support.runners import bare_runner
from tests.support.seat import seat

BASH = b'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_use_id":"t1"}'
STOP = b'{"hook_event_name":"Stop","session_id":"s"}'
ANN = Origin("laptop", 7, "ann")


def intake(runner: Runner, wait: float = 60.0) -> AnonymousIntake:
    return AnonymousIntake(runner, wait=wait, named=NAMED)


async def test_a_request_waits_at_the_gate_with_a_ticket_of_ours() -> None:
    runner = bare_runner()
    place = await take(intake(runner), Envelope("theirs", BASH), ANN, 90)
    (card,) = runner.broker.waiting()
    (request,) = card.requests
    assert request == place.request.leg("")
    assert (request.origin, request.stance, request.size) == (ANN, Stance.GATE, 90)
    assert request.wait_until == request.gives_up_at > runner.now() + 50
    assert "theirs" not in request.id
    runner.close()


async def test_one_id_twice_is_two_requests() -> None:
    runner = bare_runner()
    way = intake(runner)
    one, other = [await take(way, Envelope("same", BASH), ANN, 90) for _ in range(2)]
    assert one.request.id != other.request.id
    assert one.request.secret != other.request.secret
    runner.close()


async def test_an_input_nobody_can_read_is_not_taken_in() -> None:
    runner = bare_runner()
    with pytest.raises(PayloadError):
        await take(intake(runner), Envelope("r", b"{}"), ANN, 2)
    assert not runner.broker.feed()


async def test_copies_that_contradict_are_told_and_do_not_count() -> None:
    runner = bare_runner()
    await take(intake(runner), Envelope("r", STOP, "another", "PreToolUse"), ANN, 50)
    told = [entry.text for entry in runner.broker.feed()]
    assert '"PreToolUse"' in told[0]
    assert '"another"' in told[0]
    assert [entry.event.name for entry in runner.broker.feed()] == ["Stop", "Stop"]


@pytest.mark.parametrize(
    ("payload", "size", "judged"),
    [
        (BASH, LONG + 1, [("PreToolUse", True)]),
        (BASH, LONG, [("PreToolUse", False)]),
        (STOP, LONG + 1, []),
    ],
)
async def test_what_is_judged_is_judged_before_it_is_taken_in(
    payload: bytes, size: int, judged: list[tuple[str, bool]]
) -> None:
    seen: list[Any] = []

    async def judge(event: Event, *, long: bool) -> None:
        seen.append((event.name, long, len(runner.broker.feed()) + len(runner.broker.waiting())))

    runner = bare_runner(judge=judge)
    await take(intake(runner), Envelope("r", payload), ANN, size)
    assert seen == [(*one, 0) for one in judged]
    runner.close()


async def test_only_an_operators_answer_is_noted_as_taken() -> None:
    runner = bare_runner()
    way = intake(runner)
    place = await take(way, Envelope("r", BASH), ANN, 90)
    (card,) = runner.broker.waiting()
    seat(runner).answer(card.number, Decision(Verdict.ALLOW))
    await place.wait()
    way.taken(place)
    found = runner.broker.card(card.number)
    assert found is not None
    assert found.delivered
    observed = await take(way, Envelope("r", STOP), ANN, 50)
    await asyncio.wait_for(observed.wait(), 60)
    way.taken(observed)  # which nobody waits to hear


async def test_complaints_stand_in_the_feed() -> None:
    runner = bare_runner()
    intake(runner).complain("it talks nonsense")
    assert runner.broker.feed()[-1].text == "harness bridge: it talks nonsense"
