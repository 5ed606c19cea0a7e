"""Whole hook processes beside their floors, and beside what one would use instead of crabhook.

Every round runs every contender once, in an order drawn anew. A ratio is taken within its round.
"""

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from shutil import which
from statistics import median
from time import perf_counter, process_time
from venv import EnvBuilder

from bench.allowing import AllowingServer, allowing_server
from bench.figures import (
    Goal,
    Measured,
    Spread,
    ms,
    ms_quartiles,
    paired_ratios,
    percentile,
    spread,
    table,
)
from bench.home import (
    console_script,
    decision_in,
    gate_installation,
    installed_command,
    shell_command,
)
from bench.inputs import DECIDED_EVENT, OBSERVED_EVENT, new_call, sized
from bench.process import BenchError, Run, run_whole
from crabhook.install.program import compile_hook
from crabhook.model.card import Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.platforms import PLATFORMS
from crabhook.platforms.sending import path_of

ROUNDS = sized(40, 2)
WARMING = sized(2, 1)  # rounds that find caches cold and modules not compiled: not counted
POSTS = sized(25, 3)  # calls in a round; a percentile wants more of them than there are rounds
_INSTEAD = Path(__file__).parent / "instead"

NOTHING = "python -c pass"
AGAIN = "python -c pass, again"
NEW_VENV = "python -c pass, new venv"
BARE = "python -I -S -c pass"
HELD = "installed hook, allowed"
OBSERVED = "installed hook, Stop observed"
PASSED = "installed companion, a call passed"
CONSOLE = "console script, allowed"
TLS = "installed hook over TLS, allowed"
GRPCIO = "grpcio stub client, allowed"
NODE = "Node forwarder, Unix socket, allowed"
CURL = "curl to the HTTP door, allowed"
JQ = "sh and jq, a pattern allows"
POST = "HTTP, kept connection"

BARS: Mapping[tuple[str, str], float] = {
    (HELD, NOTHING): 1.05,
    (OBSERVED, NOTHING): 1.05,
    (PASSED, NOTHING): 1.05,
    # What is installed beside crabhook for its development slows the first yardstick, and not
    # the installed hook, which imports no `site`.
    (HELD, NEW_VENV): 1.15,
    (OBSERVED, NEW_VENV): 1.15,
    (HELD, BARE): 1.5,
    (CONSOLE, NOTHING): 1.4,
    (TLS, NOTHING): 4.0,
    (HELD, GRPCIO): 0.15,
    (HELD, NODE): 0.25,
}
RATIOS = {pair: Goal(" / ".join(pair), bar) for pair, bar in BARS.items()}
# Milliseconds, where all else is a ratio: no process is started that could be the yardstick.
POST_P50, POST_P99 = Goal(f"{POST}, p50", 1.0, "ms"), Goal(f"{POST}, p99", 5.0, "ms")
GOALS = (*RATIOS.values(), POST_P50, POST_P99)

Command = tuple[str, ...]
Contender = Callable[[Mapping[str, str]], Run]
"""What takes its turn in a round: it raises BenchError where its work was not done."""

Runs = Mapping[str, Sequence[Run]]


@dataclass(frozen=True, slots=True)
class ShellHook:
    """The hook of an agent that runs hooks by a shell, for a recorded call, which is allowed."""

    platform: str
    event: str

    def __call__(self, environment: Mapping[str, str]) -> Run:
        """Run it; it has to print this agent's allow, which is nothing for some."""
        asked, platform = new_call(self.event, platform=self.platform), PLATFORMS[self.platform]
        command = shell_command(self.platform, self.event.partition("-")[0])
        run = run_whole(command, asked, environment)
        allow = platform.write(platform.read(asked), Decision(Verdict.ALLOW))
        if (run.exit_code, run.stderr, run.stdout) != (0, b"", allow.stdout):
            raise BenchError(f"{command} did not do its work: {run}")
        return run


SHELL_NOTHING = "sh -c, python -c pass"
SHELL_HOOKS = {
    f"{PLATFORMS[hook.platform].title}, allowed": hook
    for hook in (
        ShellHook("codex", "PreToolUse-Bash"),
        ShellHook("gemini", "BeforeTool-run_shell_command"),
        ShellHook("qwen", "PreToolUse-run_shell_command"),
        ShellHook("copilot", "PreToolUse-Bash"),
    )
}


@dataclass(frozen=True, slots=True)
class Process:
    """A command, the event it is given anew at every run, and the decision it has to print."""

    command: Command
    event: str = ""
    decision: str | None = None

    def __call__(self, environment: Mapping[str, str]) -> Run:
        """Run it from its spawning to its reaping; judged when the clock has stopped."""
        run = run_whole(self.command, new_call(self.event) if self.event else b"", environment)
        if run.exit_code or run.stderr or decision_in(run.stdout) != self.decision:
            raise BenchError(f"{self.command} did not do its work: {run}")
        return run


def measure() -> Measured:
    """Compare them all."""
    compile_hook()  # as the installer does
    with allowing_server() as server:
        with _posting(server) as post:
            contenders, missing = {**_ours(server), POST: post}, []
            for name, (program, command) in _instead(server).items():
                if path := _where(program):
                    contenders[name] = Process(command(path), DECIDED_EVENT, "allow")
                else:
                    missing.append(f"{name}: there is no {program} here")
            runs = _play(contenders, server.environment)
        decided, delivered = server.decided()
    if decided != delivered:
        raise BenchError(f"{decided} calls were decided, and {delivered} replies arrived")
    figures = {
        goal: _ratio(runs, *pair).median for pair, goal in RATIOS.items() if set(pair) <= set(runs)
    }
    calls = [seconds for run in runs[POST] for seconds in run.each]
    figures |= {POST_P50: percentile(calls, 50) * 1e3, POST_P99: percentile(calls, 99) * 1e3}
    return Measured(table_of(runs, missing), figures)


def _play(contenders: Mapping[str, Contender], environment: Mapping[str, str]) -> Runs:
    runs: dict[str, list[Run]] = {name: [] for name in contenders}
    for number in range(WARMING + ROUNDS):
        for name in random.sample(list(contenders), len(contenders)):
            run = contenders[name](environment)
            if number >= WARMING:
                runs[name].append(run)
    return runs


def _ours(server: AllowingServer) -> Mapping[str, Contender]:
    """Return the floors, and our own hook in every way in which it is started."""
    gate = gate_installation()
    companion = replace(gate, stance=Stance.COMPANION)
    over_tls = replace(
        gate,
        server=f"127.0.0.1:{server.tls_port}",
        token_file=server.token_file,
        tls_ca=server.authority,
    )
    return {
        NOTHING: Process((sys.executable, "-c", "pass")),
        AGAIN: Process((sys.executable, "-c", "pass")),
        NEW_VENV: Process((_new_python(server.folder), "-c", "pass")),
        BARE: Process((sys.executable, "-I", "-S", "-c", "pass")),
        HELD: Process(installed_command("PreToolUse", gate), DECIDED_EVENT, "allow"),
        OBSERVED: Process(installed_command("Stop", companion), OBSERVED_EVENT),
        PASSED: Process(installed_command("PreToolUse", companion), DECIDED_EVENT),
        CONSOLE: Process((console_script(),), DECIDED_EVENT, "allow"),
        TLS: Process(installed_command("PreToolUse", over_tls), DECIDED_EVENT, "allow"),
        SHELL_NOTHING: Process(("/bin/sh", "-c", f"exec {sys.executable} -c pass")),
        **SHELL_HOOKS,
    }


def _instead(server: AllowingServer) -> Mapping[str, tuple[str, Callable[[str], Command]]]:
    """Return the program that each alternative takes, and its command.

    The forwarder and curl are answered by the same operator as our own hook is, through the harness
    bridge and the HTTP door; the script decides by a pattern of its own. A shell starts curl, as
    from an agent's settings, and nothing of this machine's curl settings or proxies counts.
    """
    headers = server.folder / "headers"
    headers.write_text(
        f"Authorization: {server.authorization}\nContent-Type: application/json\n", encoding="ascii"
    )
    url = f"http://127.0.0.1:{server.http_port}{path_of('claude')}"
    curl = f"curl -q -sf --noproxy '*' --data-binary @- -H @{headers} {url}"
    return {
        GRPCIO: (
            sys.executable,
            lambda path: (path, str(_INSTEAD.with_name("grpcio_client.py")), server.address),
        ),
        NODE: ("node", lambda path: (path, str(_INSTEAD / "forwarder.js"), server.bridge)),
        CURL: ("curl", lambda _: ("/bin/sh", "-c", curl)),
        JQ: ("jq", lambda _: ("/bin/sh", str(_INSTEAD / "pattern.sh"))),
    }


def _where(program: str) -> str | None:
    """Return the program's path: that beside this interpreter, or else the first on the PATH."""
    return which(program, path=str(Path(sys.executable).parent)) or which(program)


def _new_python(folder: Path) -> str:
    """Return the interpreter of an environment made in `folder`, with nothing installed in it."""
    EnvBuilder(symlinks=True).create(folder / "venv")
    return str(folder / "venv" / "bin" / "python")


@contextmanager
def _posting(server: AllowingServer) -> Iterator[Contender]:
    """Yield what posts hook inputs from this process, as an agent does for hooks of type `http`."""
    headers = {"Authorization": server.authorization, "Content-Type": "application/json"}
    with closing(HTTPConnection("127.0.0.1", server.http_port)) as connection:
        yield partial(_post, connection, headers)


def _post(connection: HTTPConnection, headers: Mapping[str, str], _: Mapping[str, str]) -> Run:
    each, cpu, body = [], process_time(), b""
    for _number in range(POSTS):
        event = new_call(DECIDED_EVENT)
        started = perf_counter()
        connection.request("POST", path_of("claude"), event, headers)
        body = connection.getresponse().read()
        each.append(perf_counter() - started)
        if decision_in(body) != "allow":
            raise BenchError(f"the HTTP door answered {body!r}")
    return Run(median(each), (process_time() - cpu) / POSTS, 0, body, b"", each)


def _ratio(runs: Runs, candidate: str, yardstick: str) -> Spread:
    mine, floor = ([run.wall for run in runs[name]] for name in (candidate, yardstick))
    return spread(paired_ratios(mine, floor))


def table_of(runs: Runs, missing: Sequence[str]) -> str:
    """Return a row for each contender, and what is missing on this machine."""
    rows = []
    for name, its_runs in runs.items():
        wall = spread([run.wall for run in its_runs])
        to_nothing = _ratio(runs, name, NOTHING)
        rows.append(
            (
                name,
                ms(wall.median),
                ms_quartiles(wall),
                ms(median(run.cpu for run in its_runs)),
                f"{to_nothing.median:.3f}",
                f"{to_nothing.low:.3f}-{to_nothing.high:.3f}",
                f"{_ratio(runs, HELD, name).median:.3f}",
            )
        )
    costs = ("contender", "median ms", "quartiles", "CPU ms")
    ratios = (f"/ {NOTHING}", "quartiles", f"{HELD} / this")
    left_out = "".join(f"Left out: {line}.\n" for line in missing)
    return table((*costs, *ratios), rows) + left_out
