"""One process from its spawning to its reaping, with no more of our own in between than that."""

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from resource import struct_rusage
from time import perf_counter
from types import FrameType
from typing import NoReturn

from bench.errors import BenchError

_LONGEST = 60  # seconds; a process that takes longer hangs
_PIPE_HOLDS = 4096  # bytes any pipe takes before somebody reads


@dataclass(frozen=True, slots=True)
class Run:
    """What one process cost, and what it printed; times in seconds."""

    wall: float
    cpu: float
    exit_code: int
    stdout: bytes
    stderr: bytes


def run_whole(command: tuple[str, ...], stdin: bytes, environment: Mapping[str, str]) -> Run:
    """Run `command` as an agent runs a hook, its three streams on pipes, and return its cost.

    The input is in the pipe before the clock starts, and the output is read
    after it stops.  Raises BenchError for a process that does not end.
    """
    if len(stdin) > _PIPE_HOLDS:
        raise BenchError(f"an input of {len(stdin)} bytes does not fit into a pipe at once")
    pipes = [os.pipe() for _ in range(3)]
    (in_read, in_write), (out_read, out_write), (err_read, err_write) = pipes
    try:
        os.write(in_write, stdin)
        os.close(in_write)
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
