"""What it costs the server that hooks wait, and how soon it sees that one of them is gone."""

import os
import signal
import subprocess
from contextlib import closing
from dataclasses import dataclass
from time import monotonic_ns, perf_counter

from bench.candidates import gate_installation, installed_command
from bench.errors import BenchError
from bench.events import DECIDED_EVENT, OBSERVED_EVENT, WATCHED, new_call
from bench.figures import percentile
from bench.limits import connections_that_fit
from bench.serving import Server, child, plain_environment, running_server
from bench.sizes import sized
from crabhook.hook import Options, Unanswered
from crabhook.hook.client import Request

_OTHER_CALLS = sized(300, 10)
_KILLS = sized(12, 2)


@dataclass(frozen=True, slots=True)
class Waiting:
    """One server with `number` requests waiting; times in seconds, memory in bytes.

    The other calls are made meanwhile, one after the other, each on a
    connection of its own: an observed event, and one the operator decides.
    """

    number: int
    until_all_wait: float
    memory: int | None
    memory_each: float | None
    observed_p50: float
    observed_p99: float
    decided_p50: float
    decided_p99: float


def let_wait(wanted: int) -> Waiting:
    """Start a server, have `wanted` requests wait at it, or as many as fit, and measure."""
    number = connections_that_fit(wanted)
    with running_server() as server:
        call_often(server.socket, DECIDED_EVENT, times=50)  # so that the server is warm
        before = server.resident()
        path = server.socket.removeprefix("unix:")
        with child("bench.holders", path, str(number), environment=plain_environment()) as crowd:
            until_all_wait = float(crowd.line("waiting")[0])
            memory = server.resident()
            observed = call_often(server.socket, OBSERVED_EVENT, times=_OTHER_CALLS)
            decided = call_often(server.socket, DECIDED_EVENT, times=_OTHER_CALLS)
    return Waiting(
        number=number,
        until_all_wait=until_all_wait,
        memory=memory,
        memory_each=None if memory is None or before is None else (memory - before) / number,
        observed_p50=percentile(observed, 50),
        observed_p99=percentile(observed, 99),
        decided_p50=percentile(decided, 50),
        decided_p99=percentile(decided, 99),
    )


def call_often(address: str, sample: str, times: int, session: str = "") -> list[float]:
    """Ask with the hook's own client in this process; return the seconds each call took.

    Everything but the event that is only observed has to get a decision.
    """
    options = Options()
    options.server = address
    seconds = []
    for _ in range(times):
        payload = new_call(sample, session=session)
        started = perf_counter()
        with closing(Request(options)) as request:
            try:
                reply = request.ask(payload)
            except Unanswered as error:
                raise BenchError(f"the server did not answer {sample}: {error}") from error
        seconds.append(perf_counter() - started)
        if reply.exit_code or bool(reply.stdout) == (sample == OBSERVED_EVENT):
            raise BenchError(f"the server answered {sample} with {reply!r}")
    return seconds


def kill_some() -> list[float]:
    """Return, for each of a dozen hooks killed while they wait, when the server saw it, seconds."""
    command = installed_command("PreToolUse", gate_installation())
    with running_server() as server:
        return [_kill_one(server, command) for _ in range(_KILLS)]


def _kill_one(server: Server, command: tuple[str, ...]) -> float:
    with subprocess.Popen(  # noqa: S603 - the installed command
        command,
        env=server.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as hook:
        try:
            assert hook.stdin is not None  # noqa: S101 - it is a pipe, five lines above
            hook.stdin.write(new_call(DECIDED_EVENT, WATCHED))
            hook.stdin.close()
            server.told.line("waits")
            killed = monotonic_ns()
        finally:
            os.kill(hook.pid, signal.SIGKILL)
    (seen,) = server.told.line("left")
    return (int(seen) - killed) / 1e9
