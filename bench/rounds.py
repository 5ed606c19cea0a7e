"""Rounds in which every candidate runs once, in an order drawn anew."""

import random
from collections.abc import Mapping, Sequence

from bench.candidates import Candidate
from bench.process import Run, run_whole

Runs = dict[str, list[Run]]


def play(candidates: Sequence[Candidate], rounds: int, environment: Mapping[str, str]) -> Runs:
    """Return each candidate's runs, by name and in the order of the rounds.

    Every run is judged, the clock being stopped; a first round is not
    counted, since it finds caches cold and modules not compiled.
    """
    runs: Runs = {candidate.name: [] for candidate in candidates}
    for number in range(rounds + 1):
        for candidate in random.sample(candidates, len(candidates)):
            run = run_whole(candidate.command, candidate.event(), environment)
            candidate.judge(run)
            if number:
                runs[candidate.name].append(run)
    return runs
