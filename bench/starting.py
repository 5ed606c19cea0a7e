"""From the start of `crabhook serve` to its listening, and beside it what cannot be had for less.

Headless, in a home that a server has run in before.  It listens when it says
so; that it does is tried, the clock being stopped.  The floor is an
interpreter that imports the two libraries a server is made with.
"""

import random
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from time import perf_counter

from bench.errors import BenchError
from bench.figures import paired_ratios, percentile, spread
from bench.found import Found, Wishes
from bench.process import run_whole
from bench.results import met
from bench.served import LISTENING, Home, end, new_home, serve_command
from bench.sizes import sized
from bench.table import table

ROUNDS = sized(25, 2)
GOAL = 0.4  # seconds
RATIO = 3.2  # times the libraries alone
_FLOOR = (sys.executable, "-c", "import grpc.aio, google.protobuf.message, sqlite3")
_SERVE, _LIBRARIES = (
    "crabhook serve, until it listens",
    "python importing grpc.aio, the whole process",
)


def measure(_: Wishes) -> Found:
    """Start a server and the floor in every round."""
    with new_home() as home:
        starts: dict[str, Callable[[], float]] = {
            _SERVE: lambda: _start(home),
            _LIBRARIES: lambda: _import(home),
        }
        took: dict[str, list[float]] = {name: [] for name in starts}
        for number in range(ROUNDS + 1):
            for name in random.sample(list(starts), len(starts)):
                seconds = starts[name]()
                if number:  # the first makes the record, and compiles modules
                    took[name].append(seconds)
    return Found(_text(took[_SERVE], took[_LIBRARIES]), {"start": took})


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
            said = server.stdout.readline()
            seconds = perf_counter() - started
            if LISTENING not in said:
                raise BenchError(f"crabhook serve began with {said!r}")
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
                line.connect(home.path)
        finally:
            end(server)
    return seconds


def _import(home: Home) -> float:
    run = run_whole(_FLOOR, b"", home.environment)
    if run.exit_code:
        raise BenchError(f"the libraries cannot be imported: {run.stderr!r}")
    return run.wall


def _text(serve: Sequence[float], libraries: Sequence[float]) -> str:
    rows = [_row(_SERVE, serve), _row(_LIBRARIES, libraries)]
    ratio = spread(paired_ratios(serve, libraries))
    soon, near = met(spread(serve).median <= GOAL), met(ratio.median <= RATIO)
    return table(("start", "median ms", "quartiles", "p90"), rows) + (
        f"The first / the second, within each round: {ratio.median:.2f} "
        f"({ratio.low:.2f}-{ratio.high:.2f}); goal: {RATIO:g}: {near}; "
        f"goal for the first: {GOAL * 1e3:g} ms: {soon}.\n"
    )


def _row(name: str, took: Sequence[float]) -> tuple[str, ...]:
    found = spread(took)
    low, high = f"{found.low * 1e3:.0f}", f"{found.high * 1e3:.0f}"
    return name, f"{found.median * 1e3:.0f}", f"{low}-{high}", f"{percentile(took, 90) * 1e3:.0f}"
