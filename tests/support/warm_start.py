"""Start `crabhook …` in tests as a copy of a process that has imported it already.

A server's start reads 460 modules, half a second of a processor, and most tests that start a server
or give a command are not about that. So `subprocess.Popen` of the installed program goes to a
process beside the tests (`warm_program`), which forks. The copy is a child of the test's process and
has the arguments, streams, folder, environment and limits that it would have had. Programs start in
earnest where the hook is called, where something else starts crabhook (a shell, an agent,
`crabhook up`), where a variable of Python's is set, off Linux, and with `--cold`.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import altered_server, warm_program
from tests.support.service import HAND_DOWN
from tests.support.typist import AT_TERMINAL

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = str(Path(sys.executable).with_name("crabhook"))
LARGEST = 1 << 17  # bytes of a request; more starts in earnest
SUBREAPER = 36  # prctl(2): who has it is given the orphans below it
_LOCALES = (None, "C.UTF-8")

_in_earnest = subprocess.Popen._execute_child  # type: ignore[attr-defined]
_lock = threading.Lock()
_warm: list[tuple[socket.socket, subprocess.Popen[bytes]]] = []
"""The warm process of this one, and the line to it."""


@dataclass(frozen=True, slots=True)
class Command:
    """A person's command: its words, and what a `Typist`, a manager and a test do to it.

    They give it a terminal, hand down so many sockets, and alter its clock and patience.
    """

    words: list[str]
    terminal: int | None
    sockets: int
    altered: tuple[str, str] | None


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "start Python anew for each program that a test starts"
    parser.addoption("--cold", action="store_true", help=about)


def pytest_configure(config: pytest.Config) -> None:
    if sys.platform == "linux" and not config.getoption("--cold"):
        subprocess.Popen._execute_child = _execute_child  # type: ignore[attr-defined]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Start in earnest what a test that is marked `cold` starts."""
    now = subprocess.Popen._execute_child  # type: ignore[attr-defined]
    if item.get_closest_marker("cold"):
        subprocess.Popen._execute_child = _in_earnest  # type: ignore[attr-defined]
    try:
        return (yield)
    finally:
        subprocess.Popen._execute_child = now  # type: ignore[attr-defined]


def pytest_unconfigure() -> None:
    subprocess.Popen._execute_child = _in_earnest  # type: ignore[attr-defined]


@pytest.fixture(scope="session", autouse=True)
def warm_process() -> Iterator[None]:
    """End the warm process of this one, if a test has needed it."""
    yield
    while _warm:
        line, process = _warm.pop()
        line.close()
        process.wait(60)


def _execute_child(self: subprocess.Popen[Any], *all_: Any) -> None:
    """What Popen calls once its pipes are made; it has these parameters in this order."""
    args, executable, preexec_fn, _, pass_fds, cwd, env, _, _, shell, *more = all_
    pipes, (_, *other, new_session, process_group) = more[:6], more[6:]
    plain = not shell and not preexec_fn and not executable and process_group == -1
    command = _command(args)
    handed_down = command and command.sockets
    places = range(3, 3 + len(pass_fds)) if handed_down else pass_fds
    environment = dict(os.environ if env is None else env)
    asked = json.dumps(
        {
            **(asdict(command) if command else {}),
            "cwd": os.path.abspath(cwd or "."),  # noqa: PTH100 - of bytes too
            "environment": environment,
            "descriptors": [0, 1, 2, *places],
            "new_session": new_session,
            "limits": {
                number: resource.getrlimit(number)
                for number in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)
            },
        },
        default=str,
    ).encode(errors="surrogatepass")
    if not (
        plain
        and all(value in (None, -1) for value in other)
        and command
        and len(asked) < LARGEST
        and not any(name.startswith(("PYTHON", "LC_")) for name in environment)
        and environment.get("LANG") in _LOCALES
        and os.path.isdir(cwd or ".")  # noqa: PTH112 - of bytes too
    ):
        return _in_earnest(self, *all_)
    sys.audit("subprocess.Popen", args[0], args, cwd, env)
    given = pipes[0], pipes[3], pipes[5]
    streams = [own if handle == -1 else handle for own, handle in enumerate(given)]
    self.pid = _copied(asked, [*streams, *pass_fds])
    self._child_created = True  # type: ignore[attr-defined]
    self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]
    return None


def _command(args: Any) -> Command | None:
    """What a copy can be of these arguments; nothing of others."""
    if not isinstance(args, list) or not all(isinstance(word, str) for word in args):
        return None
    terminal, sockets, altered = None, 0, None
    if args[1:3] == ["-c", AT_TERMINAL]:
        terminal, args = int(args[3]), args[4:]
    if args[3:5] == ["-c", HAND_DOWN]:
        sockets = int(args[5])
        args = args[6 + sockets :]
    if args[:2] == [sys.executable, altered_server.__file__]:
        altered, args = (args[2], args[3]), [PROGRAM, *args[4:]]
    if args[:3] == [sys.executable, "-m", "crabhook"]:
        args = [PROGRAM, *args[3:]]
    # A hook's words begin with an option, or there are none.
    if args[:1] == [PROGRAM] and len(args) > 1 and not args[1].startswith("-"):
        return Command(args[1:], terminal, sockets, altered)
    return None


def _copied(asked: bytes, streams: list[int]) -> int:
    """Have a copy made; its process id. It comes to us as an orphan, so we wait for it."""
    with _lock:
        if not _warm:
            _warm.append(_started())
        line, _ = _warm[0]
        _be_given_orphans(True)
        try:
            socket.send_fds(line, [asked], streams)
            made = line.recv(64)
        finally:
            _be_given_orphans(False)
    return int(made)


def _started() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-EP", warm_program.__file__, str(theirs.fileno())]
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env=environment
    )
    theirs.close()
    return ours, process


def _be_given_orphans(on: bool) -> None:
    if ctypes.CDLL(None).prctl(SUBREAPER, int(on), 0, 0, 0):
        raise OSError("prctl")
