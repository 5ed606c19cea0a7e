"""Whether a server is fit to serve, and the word for it."""

from pathlib import Path

import pytest

from crabhook.server.core.pending_call import RefusedError
from crabhook.server.grpc.listener import Fitness, Health
from crabhook.store.interface import StoreError
from crabhook.store.opening import open_writer
from crabhook.store.recorder import OnTrouble, Recorder
from tests.support.playbook import bash
from tests.support.runners import bare_runner


async def test_a_server_serves_until_it_closes() -> None:
    runner = bare_runner()
    health = Health(runner)
    assert (health.serving, health.reason) == (True, Fitness.SERVING)
    runner.close()
    assert (health.serving, health.reason) == (False, Fitness.CLOSING)
    assert repr(health) == "<Health closing>"


async def test_one_that_makes_room_for_the_next_says_so() -> None:
    runner = bare_runner()
    runner.hand_over()
    assert Health(runner).reason is Fitness.HANDED_OVER
    runner.close()
    assert Health(runner).reason is Fitness.HANDED_OVER


@pytest.mark.parametrize(
    ("what", "fitness"),
    [(OnTrouble.REFUSE, Fitness.UNRECORDED), (OnTrouble.DECIDE, Fitness.SERVING)],
)
async def test_a_record_in_trouble_counts_where_it_has_requests_turned_away(
    what: OnTrouble, fitness: Fitness, tmp_path: Path
) -> None:
    recorder = Recorder(lambda: open_writer(tmp_path), on_trouble=what)
    runner = bare_runner(recorder)
    health = Health(runner)
    assert health.serving
    recorder.error = StoreError("the disk is full")
    assert health.reason is fitness
    if not health.serving:  # it is no other than what a hook would find
        with pytest.raises(RefusedError):
            runner.enter(bash("a", "ls", wait=1e9), None)
    recorder.error = None
    assert health.serving
    runner.close()
    recorder.close()
