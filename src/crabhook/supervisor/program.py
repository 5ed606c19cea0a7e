"""A program of the owner's, run to its end or to the deadline, and nothing of it left behind."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryFile

from crabhook.supervisor.deadline import Deadline
from crabhook.supervisor.errors import OutOfTimeError, ReviewerError
from crabhook.supervisor.reading import TooMuchError, read_all

MOST_PRINTED = 1 << 20


def printed_by(
    command: Sequence[str], given: bytes, environment: Mapping[str, str], deadline: Deadline
) -> bytes:
    """Return what a command prints when it is given `given` on standard input; no shell is used.

    Its standard error is ours.  It runs in a process group of its own, which
    is killed whole when the command has ended, or the time has passed.

    Raises ReviewerError where it cannot be started, fails, or prints more
    than it could honestly have to say; OutOfTimeError.
    """
    try:
        with TemporaryFile() as stdin:  # no pipe: nothing waits for a program that does not read
            stdin.write(given)
            stdin.seek(0)
            process = subprocess.Popen(  # noqa: S603 - the owner's own settings name it
                list(command),
                stdin=stdin,
                stdout=subprocess.PIPE,
                env=dict(environment),
                start_new_session=True,
            )
    except (OSError, ValueError) as error:
        raise ReviewerError(
            f"the reviewer {command[0]!r} cannot be started: {_words(error)}; "
            "see [supervisor] in the settings, and give the program's whole path"
        ) from error
    try:
        return _outcome(process, command[0], deadline)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        _let_go(process)


def _outcome(process: "subprocess.Popen[bytes]", name: str, deadline: Deadline) -> bytes:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    try:
        printed = read_all(process.stdout.fileno(), MOST_PRINTED, deadline)
        code = process.wait(deadline.left())
    except subprocess.TimeoutExpired:
        raise OutOfTimeError from None
    except TooMuchError as error:
        raise ReviewerError(f"what the reviewer {name!r} prints is no verdict: {error}") from error
    if code:
        how = f"with exit code {code}" if code > 0 else f"by signal {-code}"
        raise ReviewerError(f"the reviewer {name!r} ended {how}; standard error says more")
    return printed


def _let_go(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    process.stdout.close()
    process.wait()


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
