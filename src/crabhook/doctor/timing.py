"""How long a hook call takes, beside the bare start of the interpreter that runs it.

Both are run in turn, so that whatever else the machine does meets both alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter

from crabhook.doctor.processes import run

_PAYLOAD = (
    b'{"session_id":"crabhook-doctor","cwd":"/","hook_event_name":"Notification",'
    b'"message":"crabhook doctor measures how long a hook takes"}'
)
_ONE = 10.0  # seconds one run may take
_ALL = 15.0  # seconds for all rounds
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Speed:
    """The medians of both in milliseconds, the median of their ratio, and how often they ran."""

    hook: float
    python: float
    ratio: float
    rounds: int


def measure(
    hook: Sequence[str],
    python: str,
    environment: Mapping[str, str],
    folder: Path,
    *,
    rounds: int,
) -> Speed:
    """Run the `hook` and a bare `python` in `folder` so many rounds, or as many as there is time.

    Raises ProgramError where one of them cannot be run.
    """
    bare = (python, "-I", "-S", "-c", "pass")
    took: list[tuple[float, float]] = []
    end = monotonic() + _ALL
    while len(took) < rounds and (len(took) < _FEWEST or monotonic() < end):
        times = []
        for command in (bare, hook):
            began = perf_counter()
            run(command, seconds=_ONE, environment=environment, folder=folder, stdin=_PAYLOAD)
            times.append(1000 * (perf_counter() - began))
        took.append((times[0], times[1]))
    return Speed(
        hook=median(call for _, call in took),
        python=median(start for start, _ in took),
        ratio=median(call / start for start, call in took),
        rounds=len(took),
    )
