"""Rounds in which every contender has its turn, in an order drawn anew."""

import random
from collections.abc import Mapping, Sequence

from bench.candidate import Contender
from bench.process import Run

Runs = dict[str, list[Run]]

WARMING = 2  # rounds


def play(contenders: Sequence[Contender], rounds: int, environment: Mapping[str, str]) -> Runs:
    """Return each contender's runs, by name and in the order of the rounds.

    Every run is judged, the clock being stopped.  The first rounds are not
    counted: they find caches cold and modules not compiled, and what the
    first makes, as an environment of uv's, is not compiled before the second.
    """
    runs: Runs = {contender.name: [] for contender in contenders}
    for number in range(WARMING + rounds):
        for contender in random.sample(contenders, len(contenders)):
            run = contender.run(environment)
            if number >= WARMING:
                runs[contender.name].append(run)
    return runs
