"""Programs run for a look at them: bounded in time, and gone afterwards with all they started.

How long a hook call takes is measured beside the bare start of the interpreter that runs it:
both in turn, so that other work of the machine meets both alike.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter

from crabhook.model.errors import CrabhookError

_TOLD = 300  # characters of what a program said that are repeated

_PAYLOAD = (
    b'{"session_id":"crabhook-doctor","cwd":"/","hook_event_name":"Notification",'
    b'"message":"crabhook doctor measures how long a hook takes"}'
)
_ONE = 10.0  # seconds one run may take
_ALL = 15.0  # seconds for all rounds
_FEWEST = 3


class ProgramError(CrabhookError):
    """A program that could not be run, or did not end in time."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program said, and its exit code."""

    code: int
    stdout: str
    stderr: str

    @property
    def first_words(self) -> str:
        """The first line it said, on standard error if there is one."""
        return self._lines()[0][:_TOLD]

    @property
    def last_words(self) -> str:
        """The last line it said, on standard error if there is one."""
        return self._lines()[-1][:_TOLD]

    def _lines(self) -> Sequence[str]:
        said = self.stderr.strip() or self.stdout.strip() or "it said nothing"
        return said.splitlines()


def run(
    command: Sequence[str],
    *,
    seconds: float,
    environment: Mapping[str, str],
    folder: Path | None = None,
    stdin: bytes = b"",
) -> Ran:
    """Run a program to its end; raises ProgramError, saying why, where it has none in time."""
    try:
        process = subprocess.Popen(  # noqa: S603 - what is looked at is what the agent would run
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
    except OSError as error:
        raise ProgramError(f"{command[0]} cannot be started: {error.strerror}") from error
    except ValueError as error:  # a null byte in a word
        raise ProgramError(f"{command[0]!r} cannot be started: {error}") from error
    with process:
        try:
            stdout, stderr = process.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise ProgramError(f"{command[0]} did not end within {seconds:.0f} s") from None
        finally:
            end(process)
    return Ran(process.returncode, *(text.decode("utf-8", "replace") for text in (stdout, stderr)))


def end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a program and all that it has started, as far as that is still in its session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


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
