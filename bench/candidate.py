"""One command under measurement: what it is given, and the verdict it has to print."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from bench.errors import BenchError
from bench.process import Run, run_whole

Command = tuple[str, ...]


class Contender(Protocol):
    """Whatever takes its turn in a round."""

    @property
    def name(self) -> str:
        """What it is called, in bench.goals and in what is printed."""

    def run(self, environment: Mapping[str, str]) -> Run:
        """Do the work once; raise BenchError where it was not done."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A contender that this machine cannot run, and why: that is said, never passed over."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A command, what it is given anew at every run, and the verdict it has to print."""

    name: str
    command: Command
    event: Callable[[], bytes] = bytes
    verdict: str | None = None

    def run(self, environment: Mapping[str, str]) -> Run:
        """Run it from its spawning to its reaping; judged when the clock has stopped."""
        run = run_whole(self.command, self.event(), environment)
        self.judge(run)
        return run

    def judge(self, run: Run) -> None:
        """Raise BenchError unless the process did its work."""
        if run.exit_code == 0 and not run.stderr and verdict_in(run.stdout) == self.verdict:
            return
        raise BenchError(
            f"{self.name}: exit code {run.exit_code}, output {run.stdout!r}, errors {run.stderr!r}"
        )


def verdict_in(stdout: bytes) -> str | None:
    """Return the decision a hook printed; None when it printed nothing."""
    if not stdout:
        return None
    try:
        verdict = json.loads(stdout)["hookSpecificOutput"]["permissionDecision"]
    except (ValueError, LookupError, TypeError):
        return "unreadable"
    return str(verdict)
