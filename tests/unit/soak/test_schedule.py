"""A soak's schedule is its seed's, and leaves nothing out."""

from __future__ import annotations

import pytest

from tests.soak.chaos import DO
from tests.soak.desk import TYPED
from tests.soak.jobs import CASES
from tests.soak.judge import WISHED
from tests.soak.schedule import ACTS, NETWORK, NOT_AT, drawn

pytestmark = pytest.mark.thorough


def test_one_seed_is_one_schedule_and_another_is_another() -> None:
    assert drawn(7, 2) == drawn(7, 2)
    assert drawn(7, 2) != drawn(8, 2)


@pytest.mark.parametrize("seed", range(20))
def test_the_run_of_continuous_integration_has_every_act_and_desk_and_end(seed: int) -> None:
    lives = drawn(seed, 2).lives
    assert {act.kind for life in lives for act in life.acts} == set(ACTS)
    assert {life.desk for life in lives} == {"plain", "full", "headless"}
    assert {life.end for life in lives} >= {"kill", "term", "hand over", "quit"}


@pytest.mark.parametrize("seed", range(20))
def test_it_asks_of_every_platform_and_stance_and_way_in_hundreds_of_sessions(seed: int) -> None:
    jobs = list(drawn(seed, 2).jobs)
    assert len({job.session for job in jobs}) > 150
    for kind in ("agent", "remote", "real", "companion", "fail_closed"):
        assert len({getattr(job, kind) for job in jobs}) > 1
    assert {job.agent for job in jobs} == {"claude", "gemini", "codex"}
    assert len({job.number for job in jobs}) == len(jobs)
    assert len({job.payload for job in jobs}) == len(jobs)


def test_a_longer_run_has_more_lives_in_trouble() -> None:
    assert len(drawn(1, 10).troubled) > 3 * len(drawn(1, 2).troubled)


def test_what_cannot_be_had_is_left_out() -> None:
    left_out = frozenset(NETWORK)
    kinds = {act.kind for life in drawn(1, 10, without=left_out).lives for act in life.acts}
    assert kinds == set(ACTS) - left_out


@pytest.mark.parametrize("seed", range(20))
def test_nothing_happens_at_a_desk_where_it_cannot(seed: int) -> None:
    for life in drawn(seed, 3).troubled:
        assert not {act.kind for act in life.acts} & set(NOT_AT[life.desk])


def test_every_act_and_every_wish_is_known_to_who_carries_it_out() -> None:
    assert DO.keys() == ACTS.keys()
    wishes = {wish for case in CASES for wish in case.wishes}
    assert wishes == WISHED.keys()
    assert wishes | {""} == TYPED.keys()
