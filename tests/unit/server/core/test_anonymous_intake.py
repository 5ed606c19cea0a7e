"""Who brings no ticket is given one that nobody else knows, and a place like any other."""

import pytest

from crabhook.model.card import Origin, Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import PayloadError
from crabhook.platforms import PLATFORMS
from crabhook.server.core.anonymous_intake import PLATFORM, AnonymousIntake
from crabhook.server.core.pending_call import RefusedError
from crabhook.server.core.runner import Runner
from crabhook.server.metrics.tally import Tally
from tests.support.runners import bare_runner
from tests.support.seat import seat

CALL = PLATFORMS[PLATFORM].read(b'{"hook_event_name":"PreToolUse","tool_name":"Bash"}')
STOP = PLATFORMS[PLATFORM].read(b'{"hook_event_name":"Stop"}')
ANN = Origin("laptop", 7, "ann")


def intake(runner: Runner) -> AnonymousIntake:
    return AnonymousIntake(runner, wait=60.0, named="side door")


async def test_the_same_event_twice_has_two_tickets() -> None:
    runner = bare_runner()
    one, other = [(await intake(runner).enter(CALL, ANN, 9)).request for _ in range(2)]
    assert len({one.id, other.id, one.secret, other.secret}) == 4
    assert min(map(len, (one.id, one.secret))) == 32
    runner.close()


async def test_what_its_hook_said_of_itself_goes_with_it() -> None:
    runner = bare_runner()
    place = await intake(runner).enter(CALL, ANN, 9, stance=Stance.SUPERVISOR, theirs=10.0)
    asked = place.request
    assert (asked.origin, asked.size, asked.stance) == (ANN, 9, Stance.SUPERVISOR)
    assert asked.wait_until == asked.gives_up_at == pytest.approx(runner.now() + 9, abs=1)
    runner.close()


async def test_what_was_taken_is_delivered() -> None:
    runner = bare_runner()
    side = intake(runner)
    place = await side.enter(CALL, ANN, 9)
    (card,) = runner.broker.waiting()
    seat(runner).answer(card.number, Decision(Verdict.ALLOW))
    await place.wait()
    side.taken(place)
    (card,) = runner.broker.ended()
    assert card.delivered is True
    runner.close()


async def test_who_is_refused_is_told_so() -> None:
    runner = bare_runner()
    runner.hand_over()
    with pytest.raises(RefusedError):
        await intake(runner).enter(CALL, ANN, 9)


async def test_the_operator_reads_by_which_way_something_went_wrong() -> None:
    runner = bare_runner()
    intake(runner).complain("it knocked twice")
    intake(runner).observe(STOP, "it stopped")
    assert [(entry.event.name, entry.text) for entry in runner.broker.feed()] == [
        ("?", "side door: it knocked twice"),
        ("Stop", "it stopped"),
    ]


async def test_an_input_that_cannot_be_read_is_counted_and_a_complaint_is_not() -> None:
    tally = Tally()
    runner = bare_runner(witness=tally)
    side = intake(runner)
    assert side.read(b'{"hook_event_name":"Stop"}') == STOP
    with pytest.raises(PayloadError):
        side.read(b"{")
    side.complain("somebody without the token")
    assert tally.unreadable == {PLATFORM: 1}
    runner.close()
