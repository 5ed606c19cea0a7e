"""The quick run: every committed input once more, and some new ones, at every boundary."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.fuzz import corpus
from tests.fuzz.longrun import MOST_BYTES, MOST_INPUTS
from tests.fuzz.target import load, names
from tests.support.examples import examples, share

NAMES = names()
NEW, BY_DAY = 60, 12
"""Inputs that are made up for each target at each run, and the share of them by day."""


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_input_that_is_kept_is_taken(name: str) -> None:
    target = load(name)
    inputs = [*target.seeds(), *corpus.inputs_of(name)]
    for data in share(inputs, len(name)):
        try:
            target.take(data)
        except Exception as error:
            error.add_note(f"the input is {corpus.name_of(data)} of {name}: {data[:200]!r}")
            raise


@pytest.mark.parametrize("name", NAMES)
def test_inputs_like_those_that_are_kept_are_taken(name: str) -> None:
    target = load(name)
    known = st.sampled_from([*target.seeds(), *corpus.inputs_of(name)])
    varied = st.builds(
        lambda data, seed, times: _varied(name, data, seed, times),
        known,
        st.integers(0, 2**32 - 1),
        st.integers(1, 8),
    )

    @examples(NEW, BY_DAY, suppress_health_check=list(HealthCheck), database=None)
    @given(st.one_of(varied, varied, varied, st.binary(max_size=300)))
    def taken(data: bytes) -> None:
        target.take(data)

    taken()


def _varied(name: str, data: bytes, seed: int, times: int) -> bytes:
    target, chance = load(name), Random(seed)
    for _ in range(times):
        data = target.mutation(data, chance)[: target.longest]
    return data


@pytest.mark.parametrize("name", NAMES)
def test_a_corpus_is_small(name: str) -> None:
    inputs = corpus.read(corpus.CORPUS / name)
    assert 0 < len(inputs) <= MOST_INPUTS
    assert sum(map(len, inputs)) <= MOST_BYTES


def test_every_input_has_a_target_and_is_named_by_what_it_holds() -> None:
    for home in (corpus.CORPUS, corpus.BROKEN):
        assert {path.name for path in home.iterdir()} <= set(NAMES)
        for path in home.glob("*/*"):
            assert path.name == corpus.name_of(path.read_bytes()), path
