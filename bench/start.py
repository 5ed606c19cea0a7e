"""From the start of `crabhook serve` to its listening, beside the import of what it is made with.

Headless, in a home that a server has run in before. It listens when it says so; that it does is
tried, the clock being stopped.
"""

import random
import socket
import subprocess
import sys
from time import perf_counter

from bench.figures import (
    Goal,
    Measured,
    ms,
    ms_quartiles,
    paired_ratios,
    percentile,
    spread,
    table,
)
from bench.home import LISTENING, Home, end, new_home, serve_command
from bench.inputs import sized
from bench.process import BenchError, run_whole

ROUNDS = sized(25, 2)
_SERVE = "crabhook serve, until it listens"
_LIBRARIES = "python importing grpc.aio, the whole process"
_IMPORT = (sys.executable, "-c", "import grpc.aio, google.protobuf.message, sqlite3")
RATIO = Goal(f"{_SERVE} / {_LIBRARIES}", 2.8)
GOALS = (RATIO,)


def measure() -> Measured:
    """Start a server and import the libraries in every round."""
    acts = {_SERVE: _start, _LIBRARIES: _import}
    took: dict[str, list[float]] = {name: [] for name in acts}
    with new_home() as home:
        for number in range(ROUNDS + 1):
            for name in random.sample(list(acts), len(acts)):
                seconds = acts[name](home)
                if number:  # the first makes the record, and compiles modules
                    took[name].append(seconds)
    ratio = spread(paired_ratios(took[_SERVE], took[_LIBRARIES]))
    rows = []
    for name, seconds_each in took.items():
        middle = spread(seconds_each)
        p90 = ms(percentile(seconds_each, 90))
        rows.append((name, ms(middle.median), ms_quartiles(middle), p90))
    text = table(("start", "median ms", "quartiles", "p90"), rows)
    within = f"{ratio.median:.2f} ({ratio.low:.2f}-{ratio.high:.2f})"
    return Measured(
        f"{text}\nThe first / the second, within each round: {within}.\n", {RATIO: ratio.median}
    )


def _start(home: Home) -> float:
    """Return the seconds until a new server listens; end it again."""
    started = perf_counter()
    with subprocess.Popen(  # noqa: S603 - our own command
        serve_command("--plain"),
        env=home.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
    ) as server:
        try:
            assert server.stdout is not None  # noqa: S101 - a pipe, five lines above
            first_line = server.stdout.readline()
            seconds = perf_counter() - started
            if LISTENING not in first_line:
                raise BenchError(f"crabhook serve began with {first_line!r}")
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
                line.connect(home.path)
        finally:
            end(server)
    return seconds


def _import(home: Home) -> float:
    run = run_whole(_IMPORT, b"", home.environment)
    if run.exit_code:
        raise BenchError(f"the libraries cannot be imported: {run.stderr!r}")
    return run.wall
