"""Processes under measurement: started, told what to do, timed, weighed, and ended."""

import os
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage
from time import clock_gettime, perf_counter
from types import FrameType
from typing import IO, NoReturn

TOP = Path(__file__).parents[1]
_LONGEST = 60  # seconds; a hook that takes longer hangs
_PATIENCE = 300  # seconds for a line that is due: ten thousand hooks take a while to wait
_CLOCK_OF_A_PROCESS = 2  # Linux: a process's time on a processor, all threads together
_OPEN_BESIDE = 100  # files a process has open beside its connections


class BenchError(Exception):
    """A process under measurement did something else than its work; says what it was."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a process cost, and what it printed; times in seconds.

    `each`: where a process made several calls, what each took; `wall` is then the middle call's.
    """

    wall: float
    cpu: float
    exit_code: int
    stdout: bytes
    stderr: bytes
    each: Sequence[float] = ()


def run_whole(command: tuple[str, ...], stdin: bytes, environment: Mapping[str, str]) -> Run:
    """Run `command` as an agent runs a hook, its streams on pipes, and return its cost.

    The input, which a pipe has to hold, is there before the clock starts, and the output is read
    after it stops. Raises BenchError for a process that does not end.
    """
    (in_read, in_write), (out_read, out_write), (err_read, err_write) = (
        os.pipe() for _ in range(3)
    )
    try:
        with os.fdopen(in_write, "wb") as stream:
            stream.write(stdin)
        wiring = [
            (os.POSIX_SPAWN_DUP2, end, stream)
            for stream, end in enumerate((in_read, out_write, err_write))
        ]
        with _no_longer_than(_LONGEST, command):
            started = perf_counter()
            child = os.posix_spawn(command[0], command, environment, file_actions=wiring)
            status, usage = _reap(child)
            wall = perf_counter() - started
    finally:
        for end in (in_read, out_write, err_write):
            os.close(end)
    return Run(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        exit_code=os.waitstatus_to_exitcode(status),
        stdout=_read_all(out_read),
        stderr=_read_all(err_read),
    )


def _reap(child: int) -> tuple[int, struct_rusage]:
    try:
        _, status, usage = os.wait4(child, 0)
    except BenchError:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    return status, usage


@contextmanager
def _no_longer_than(seconds: int, command: tuple[str, ...]) -> Iterator[None]:
    def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
        raise BenchError(f"{' '.join(command)} had not ended after {seconds} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _read_all(end: int) -> bytes:
    with os.fdopen(end, "rb") as stream:
        return stream.read()


@dataclass(frozen=True, slots=True)
class Child:
    """A process of ours that is told lines and answers lines; it ends when its input does."""

    process: subprocess.Popen[bytes]

    def line(self, first_word: str) -> list[str]:
        """Return the words after `first_word`, which the next line has to begin with."""
        stream = self._stream(self.process.stdout)
        ready, _, _ = select.select([stream], [], [], _PATIENCE)
        words = stream.readline().decode().split() if ready else []
        if words[:1] != [first_word]:
            heard = " ".join(words) or "nothing"
            raise BenchError(f"{self.process.args!r} said {heard!r} where {first_word!r} was due")
        return words[1:]

    def say(self, line: str) -> None:
        """Tell it a line."""
        self._stream(self.process.stdin).write(f"{line}\n".encode())

    def end(self) -> None:
        """Close its standard input: it may still have a last line to say."""
        self._stream(self.process.stdin).close()

    @staticmethod
    def _stream(stream: IO[bytes] | None) -> IO[bytes]:
        assert stream is not None  # noqa: S101 - both are pipes, see `child`
        return stream


@contextmanager
def child(
    module: str, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[Child]:
    """Run one of our modules as a process that does not outlive the context."""
    process = subprocess.Popen(  # noqa: S603 - our own programs
        (sys.executable, "-m", module, *arguments),
        cwd=TOP,
        env=plain_environment() if environment is None else environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,  # so that select knows of everything that was said
    )
    with process:
        try:
            yield Child(process)
        finally:
            process.kill()


def say(*words: object) -> None:
    """Tell the process that started this process."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def plain_environment() -> dict[str, str]:
    """Return the environment without what would make Python or the hook other than usual."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "CRABHOOK_"))
    }


def resident(process: int) -> int:
    """Return the bytes of memory a process takes, from /proc."""
    pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def processor_time(process: int) -> float:
    """Return the seconds of processor time a process took.

    Linux makes a clock of every process's time, exact to the nanosecond, where /proc counts in
    hundredths of a second.
    """
    return clock_gettime(~process << 3 | _CLOCK_OF_A_PROCESS)


def raise_file_limit() -> None:
    """Let this process open as many files as the system lets it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def connections_that_fit(wanted: int) -> int:
    """Return `wanted`, or as many connections as the hard limit leaves one process."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard - _OPEN_BESIDE)
