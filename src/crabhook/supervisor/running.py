"""The supervisor's process: standard input to a reviewer, the answer to the agent.

Every way out is one of the contract's, and each is bounded in time. A session's events are counted
on disk, under a lock, in a file that grows by a byte each. So no write is half done. Its name is a
hash, since an agent may send any session's id.
"""

import fcntl
import os
import select
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from time import sleep

from crabhook.config import Settings, load, state_folder
from crabhook.datatypes import frozen
from crabhook.model.errors import CrabhookError
from crabhook.model.jsontext import Value, compact
from crabhook.sdk.event import Event
from crabhook.supervisor.contract import (
    Deadline,
    HookInputError,
    NoSessionError,
    Occasion,
    OutOfTimeError,
    Review,
    ReviewerError,
    ReviewResult,
    SupervisorError,
    answer,
    occasion_of,
    read,
)
from crabhook.supervisor.reviewers import guarded, judged_by, judged_by_operator

SESSIONS_KEPT = 1000  # the sessions not heard of longest go first
_PAUSE = 0.02  # seconds between two tries to have the lock
_SUFFIX = ".count"
_SAFELY = os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW

MOST_INPUT = 32 << 20
SESSIONS = ("CRABHOOK_SUPERVISOR_ID", "CCC_SUPERVISOR_ID")
"""The variables that name the session; the second is an old name."""

DEBUG = "CRABHOOK_DEBUG"
"""The variable that has it say what it does, as `--verbose` does."""

_GUARDED = ReviewResult(allow=True, feedback="A reviewer's own agent is not reviewed.")
_DONE, _FAILED = 0, 1


def count_event(folder: Path, session: str, deadline: Deadline, kept: int = SESSIONS_KEPT) -> int:
    """Count one event of a session in a folder, made when needed; return its number, from 1.

    Raises OutOfTimeError, and ReviewerError if counting fails: uncounted reviews would have no end.
    """
    file = counting_file(folder, session)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(folder, deadline):
            if not file.exists():
                counters = sorted(
                    folder.glob(f"*{_SUFFIX}"), key=lambda path: path.lstat().st_mtime_ns
                )
                for silent in counters[: max(0, len(counters) - kept + 1)]:
                    silent.unlink()
            opened = os.open(file, _SAFELY | os.O_WRONLY | os.O_APPEND, 0o600)
            try:
                os.write(opened, b".")
                return os.fstat(opened).st_size
            finally:
                os.close(opened)
    except OSError as error:
        why = error.strerror or error
        raise ReviewerError(
            f"its events cannot be counted in {folder}: {why}. Make that folder writable"
        ) from error


def counting_file(folder: Path, session: str) -> Path:
    """Return the file that counts a session's events, whether it exists or not."""
    name = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
    return folder / f"{name}{_SUFFIX}"


@contextmanager
def _locked(folder: Path, deadline: Deadline) -> Iterator[None]:
    """Hold the folder's lock; the system frees it at the latest with the process."""
    lock = os.open(folder / "lock", _SAFELY | os.O_RDWR, 0o600)
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                sleep(min(_PAUSE, deadline.left()))
        yield
    finally:
        os.close(lock)


@frozen
class Arguments:
    """The supervisor's arguments.

    `session_id` overrides environment and agent, and makes an unreadable input a stop.
    `desk_options` are options of crabhook's own hook for finding the operator. `verbose`: report
    the finding on standard error too.
    """

    session_id: str = ""
    settings_file: Path | None = None
    desk_options: tuple[str, ...] = ()
    verbose: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def mention(self, line: str) -> None:
        """Print a line that only `verbose` asks for."""
        if self.verbose or self.environment.get(DEBUG):
            _log(f"crabhook supervisor: {line}")


def main(arguments: Arguments) -> int:
    """Be the hook; return the exit code. Standard output has the answer alone."""
    try:
        return _main(arguments)
    except SupervisorError as error:
        _log(str(error))
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - a fault of ours ends as the contract has it
        _log(str(ReviewerError(f"a fault of crabhook's own, {error!r}: report it, with this line")))
        return _FAILED


def _main(arguments: Arguments) -> int:
    if guarded(arguments.environment):
        return _print(answer(_occasion_of_a_reviewer(), _GUARDED))
    try:
        settings = load(arguments.settings_file)
    except CrabhookError as error:
        raise ReviewerError(str(error)) from error
    deadline = Deadline(settings.review_timeout)
    asked = _asked(arguments, deadline)
    occasion = occasion_of(asked)
    if occasion is None:
        arguments.mention("neither a stop nor a question: no opinion")
        return _print({})
    session = _session(arguments, asked)
    iteration = count_event(state_folder() / "supervisor", session, deadline)
    limit = settings.review_limit
    review = Review(asked, occasion, session, iteration, limit)
    if iteration > limit:
        past = f"Event {iteration} of this session: only {limit} are reviewed."
        return _conclude(arguments, review, ReviewResult(allow=True, feedback=past))
    if command := settings.reviewer:
        return _conclude(arguments, review, judged_by(command, review, deadline, os.environ))
    finding, reply = judged_by_operator(arguments.desk_options, review, deadline)
    return _conclude(arguments, review, finding, reply.confirm)


def _asked(arguments: Arguments, deadline: Deadline) -> Event:
    """Return the hook's input; without usable input, a named session's stop."""
    try:
        return read(_standard_input(deadline))
    except HookInputError:
        if not arguments.session_id:
            raise
        arguments.mention("no hook input that can be read: taken for a stop of --session-id")
        return read(compact({"session_id": arguments.session_id}).encode())


def _conclude(
    arguments: Arguments,
    review: Review,
    finding: ReviewResult,
    deliver: Callable[[], None] = lambda: None,
) -> int:
    what = {True: "allowed", False: "not allowed", None: "no opinion"}[finding.allow]
    which = f"event {review.iteration}, limit {review.limit}, {review.occasion.value}"
    arguments.mention(f"{which}: {what}")
    code = _print(answer(review.occasion, finding))
    if code == _DONE:
        deliver()
    return code


def _occasion_of_a_reviewer() -> Occasion:
    """Return what a reviewer's own agent, which always may, is about to do; a stop if unread."""
    try:
        asked = read(_standard_input(Deadline(Settings().review_timeout)))
        return occasion_of(asked) or Occasion.STOP
    except (HookInputError, OutOfTimeError):
        return Occasion.STOP


def _standard_input(deadline: Deadline) -> bytes:
    if os.isatty(0):
        raise HookInputError(
            "it is a terminal: an agent gives it JSON, see docs/how-to/supervisor.md"
        )
    try:
        return read_all(0, MOST_INPUT, deadline)
    except OSError as error:
        raise HookInputError(error.strerror or str(error)) from error


def read_all(file: int, most: int, deadline: Deadline) -> bytes:
    """Return what comes from `file` to its end; raises HookInputError past `most` bytes."""
    read = bytearray()
    while True:
        ready, _, _ = select.select([file], [], [], deadline.left())
        if not ready:
            continue  # the deadline itself reports this
        chunk = os.read(file, 1 << 16)
        if not chunk:
            return bytes(read)
        read += chunk
        if len(read) > most:
            raise HookInputError(f"it is larger than {most >> 20} MiB")


def _session(arguments: Arguments, asked: Event) -> str:
    """Return the event's session: as given, else by environment, else by agent."""
    candidates = (arguments.session_id, *map(arguments.environment.get, SESSIONS), asked.session_id)
    session = next(filter(None, candidates), None)
    if session is None:
        raise NoSessionError(
            "no session: the hook's input has no session_id, so its events cannot be counted: "
            f"give --session-id, or set {SESSIONS[0]}"
        )
    return session


def _print(output: Mapping[str, Value]) -> int:
    """Print the answer; return 1 if the agent does not take all of it."""
    rest = memoryview(f"{compact(output)}\n".encode())
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except OSError as error:
        _log(str(ReviewerError(f"the answer cannot be written: {error.strerror}")))
        return _FAILED
    return _DONE


def _log(line: str) -> None:
    with suppress(OSError):  # a log without a reader is no reason to fail
        os.write(2, f"{line}\n".encode("utf-8", "backslashreplace"))
