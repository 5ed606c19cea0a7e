"""Programs run for a look at them: bounded in time, and gone afterwards with all they started."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from crabhook.model.errors import CrabhookError

_TOLD = 300  # characters of what a program said that are repeated


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
    """Kill a program and whatever it has started that is still in its session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
