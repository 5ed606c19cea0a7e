"""One process from its spawning to its reaping, with no more of our own in between than that."""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from resource import struct_rusage
from tempfile import TemporaryFile
from time import perf_counter
from types import FrameType
from typing import NoReturn

from bench.errors import BenchError

_LONGEST = 60  # seconds; a process that takes longer hangs
_PIPE_HOLDS = 4096  # bytes any pipe takes before somebody reads


@dataclass(frozen=True, slots=True)
class Run:
    """What one process cost, and what it printed; times in seconds.

    `each`: where one process made several calls, what each took; `wall` and
    `cpu` are then those of the middle one, and of one on average.
    """

    wall: float
    cpu: float
    exit_code: int
    stdout: bytes
    stderr: bytes
    each: Sequence[float] = ()


def run_whole(command: tuple[str, ...], stdin: bytes, environment: Mapping[str, str]) -> Run:
    """Run `command` as an agent runs a hook, its streams on pipes, and return its cost.

    The input is there before the clock starts, and the output is read after it
    stops.  Raises BenchError for a process that does not end.
    """
    (out_read, out_write), (err_read, err_write) = _taking(len(stdin)), os.pipe()
    in_read = _holding(stdin)
    try:
        wiring = [
            (os.POSIX_SPAWN_DUP2, ours, theirs)
            for theirs, ours in enumerate((in_read, out_write, err_write))
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


def _holding(stdin: bytes) -> int:
    """Return where all of `stdin` can be read: a pipe, or a file where a pipe is too small."""
    if len(stdin) > _PIPE_HOLDS:
        with TemporaryFile() as file:
            file.write(stdin)
            file.seek(0)
            return os.dup(file.fileno())
    read, write = os.pipe()
    os.write(write, stdin)
    os.close(write)
    return read


def _taking(size: int) -> tuple[int, int]:
    """Return the two ends of what takes an output: an allow sends the whole input back."""
    if size <= _PIPE_HOLDS:
        return os.pipe()
    with TemporaryFile() as file:
        write = os.dup(file.fileno())
        return os.open(f"/proc/self/fd/{write}", os.O_RDONLY), write


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
