"""A program of the owner's, run to its end or to the deadline, and nothing of it left behind."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryFile

from crabhook.supervisor.deadline import Deadline
from crabhook.supervisor.errors import ReviewerError

MOST_PRINTED = 1 << 20
LOOK_EVERY = 0.1  # seconds, at how much it has printed


def printed_by(
    command: Sequence[str], given: bytes, environment: Mapping[str, str], deadline: Deadline
) -> bytes:
    """Return what a command prints when it is given `given` on standard input; no shell is used.

    Its standard error is ours.  It runs in a process group of its own, which
    is killed whole when the command has ended, or the time has passed.

    Raises ReviewerError where it cannot be started, fails, or prints more
    than it could honestly have to say; OutOfTimeError from the deadline.
    """
    with TemporaryFile() as stdin, TemporaryFile() as stdout:
        # No pipes: nothing waits for a program that does not read, and nothing
        # for a child of its own that it left behind with the pipe in hand.
        stdin.write(given)
        stdin.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - the owner's own settings name it
                list(command),
                stdin=stdin,
                stdout=stdout,
                env=dict(environment),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ReviewerError(
                f"the reviewer {command[0]!r} cannot be started: {_words(error)}; "
                "see [supervisor] in the settings, and give the program's whole path"
            ) from error
        try:
            _see_to_its_end(process, command[0], stdout.fileno(), deadline)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        stdout.seek(0)
        return stdout.read()


def _see_to_its_end(
    process: "subprocess.Popen[bytes]", name: str, printed: int, deadline: Deadline
) -> None:
    """Wait until the program has ended well, the time is over, or it prints too much."""
    code = None
    while code is None:
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(min(deadline.left(), LOOK_EVERY))
        if os.fstat(printed).st_size > MOST_PRINTED:
            raise ReviewerError(
                f"what the reviewer {name!r} prints is no verdict: "
                f"it is larger than {MOST_PRINTED >> 20} MiB"
            )
    if code:
        how = f"with exit code {code}" if code > 0 else f"by signal {-code}"
        raise ReviewerError(f"the reviewer {name!r} ended {how}; standard error says more")


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
