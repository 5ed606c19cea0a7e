"""No request is lost: the server, the hooks, or both are killed while decisions are made.

Two hundred hooks, an operator who decides, and SIGKILL at moments that a seed decides. What has to
hold in the end is in `tests.support.ledger`.
"""

from __future__ import annotations

import time

import pytest

from crabhook.store.record import RecordKind
from tests.support.ledger import told
from tests.support.lives import Trial

HOOKS = 200
DEATHS = 10
WAVE = 40  # hooks that a life begins with, until there are enough: most wait through several
SIZES = [(30, 2), pytest.param(HOOKS, DEATHS, marks=pytest.mark.thorough)]
"""Of the three kinds of death the third has both others in it, so it alone is tried every day."""

pytestmark = pytest.mark.timeout(300)


@pytest.mark.thorough
@pytest.mark.parametrize(("hooks", "deaths"), SIZES)
def test_a_server_killed_at_any_moment_loses_nothing(hooks: int, deaths: int) -> None:
    with Trial(hooks=hooks) as trial:
        for number in range(deaths):  # every other kill of many waits until it meets somebody
            trial.one_life(WAVE, met=4 if hooks == HOOKS and number % 2 else 0)
        trial.server.start()
        trial.last_life()
        ledger = trial.aftermath()
        assert len(trial.fleet.ends.answered) == hooks
        assert ledger.broken_laws(trial.fleet.ends) == []
        if hooks == HOOKS:  # the kills did find some that waited
            assert len(ledger.of(RecordKind.TAKEN_UP)) >= deaths


@pytest.mark.thorough
@pytest.mark.parametrize("hooks", [60, HOOKS])
def test_hooks_killed_at_any_moment_leave_a_record_that_says_so(hooks: int) -> None:
    with Trial(hooks=hooks) as trial:
        trial.server.start()
        operator, wave = trial.operator(), hooks // 5
        deciding = operator.in_the_background(60)
        for _ in range(5):
            trial.fleet.launch(wave)
            for _ in range(wave // 4):
                time.sleep(trial.chance.uniform(0, 0.1))
                trial.fleet.shoot(1)
        operator.stop()
        deciding.join()
        trial.last_life()
        ledger = trial.aftermath()
        killed = trial.fleet.ends.killed
        assert len(killed) > (hooks / 10 if hooks == HOOKS else 0)  # chance may spare many of a few
        withdrawn = {one.tool_use_id for one in ledger.of(RecordKind.WITHDRAWN)}
        asked = {one.tool_use_id for one in ledger.of(RecordKind.ASKED)}
        undelivered = {
            one.tool_use_id for one in ledger.of(RecordKind.DELIVERED) if not told(one)["whole"]
        }
        assert killed & asked <= withdrawn | undelivered
        assert ledger.broken_laws(trial.fleet.ends) == []


def test_a_decision_whose_hook_was_killed_before_it_came_is_not_called_delivered() -> None:
    with Trial(hooks=20) as trial:
        trial.server.start()
        trial.fleet.launch(20)
        trial.server.hears(" PreToolUse ", times=20)
        frozen = trial.fleet.freeze(8)
        trial.operator(0.01).decide(2)
        trial.fleet.shoot_the_frozen()
        time.sleep(0.5)
        trial.last_life()
        ledger = trial.aftermath()
        assert trial.fleet.ends.killed == frozen
        undelivered = {
            one.tool_use_id for one in ledger.of(RecordKind.DELIVERED) if not told(one)["whole"]
        }
        # Of a hook that lived, a busy machine may lose the receipt: that waits a second.
        assert frozen <= undelivered
        assert len(undelivered) < trial.hooks
        assert ledger.broken_laws(trial.fleet.ends) == []


@pytest.mark.parametrize(("hooks", "deaths"), SIZES)
def test_server_and_hooks_killed_at_any_moment_leave_nothing_open(hooks: int, deaths: int) -> None:
    with Trial(hooks=hooks) as trial:
        for _ in range(deaths):
            trial.one_life(WAVE, wounded=6)
        trial.server.start()
        trial.last_life()
        ledger = trial.aftermath()
        assert trial.fleet.ends.killed or hooks < HOOKS  # chance may spare a few
        assert ledger.broken_laws(trial.fleet.ends) == []
