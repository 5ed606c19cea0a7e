"""crabhook, imported and waiting: forks a copy for each request of `warm_start`.

Run as `python -EP warm_program.py DESCRIPTOR`. It ends when the other end of that socket does.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import resource
import runpy
import socket
import sys
import termios
import threading
from pathlib import Path
from typing import NoReturn

WARM = ("crabhook.app.server", "crabhook.ui.plain.desk", "crabhook.ui.plain.person")
ALTERED = runpy.run_path(str(Path(__file__).with_name("altered_server.py")))
FIRST_FREE = 200  # a number above every descriptor that a program is given


def main() -> None:
    """Serve until nobody asks any more; in a copy, be the program."""
    line = socket.socket(fileno=int(sys.argv[1]))
    _import()
    gc.collect()
    gc.freeze()
    while True:
        asked, streams, *_ = socket.recv_fds(line, 1 << 18, 32)
        if not asked:
            return
        if (made := _forked()) is None:
            break
        for stream in streams:
            os.close(stream)
        line.send(str(made).encode())
    line.close()
    _become(streams, **json.loads(asked.decode(errors="surrogatepass")))


def _import() -> None:
    ALTERED["make_movable"]()
    import crabhook.cli

    for module in pkgutil.walk_packages(crabhook.cli.__path__, "crabhook.cli."):
        importlib.import_module(module.name)
    for name in WARM:
        importlib.import_module(name)


def _forked() -> int | None:
    """Fork twice: the first copy ends at once, so the second is no child of ours; its id, or None."""
    reading, writing = os.pipe()
    if not (first := os.fork()):
        if second := os.fork():
            os.write(writing, str(second).encode())
            os._exit(0)
        os.close(reading)
        os.close(writing)
        return None
    os.waitpid(first, 0)
    made = int(os.read(reading, 64))
    os.close(reading)
    os.close(writing)
    return made


def _become(
    streams: list[int],
    *,
    words: list[str],
    terminal: int | None,
    sockets: int,
    altered: tuple[str, str] | None,
    cwd: str,
    environment: dict[str, str],
    descriptors: list[int],
    new_session: bool,
    limits: dict[str, tuple[int, int]],
) -> None:
    """Be a process that was started with these, until the program has ended."""
    if new_session or terminal is not None:
        os.setsid()
    high = [fcntl.fcntl(stream, fcntl.F_DUPFD, FIRST_FREE) for stream in streams]
    for stream in streams:
        os.close(stream)
    for place, stream in zip(descriptors, high, strict=True):
        os.dup2(stream, place)
        os.close(stream)
    if terminal is not None:
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        os.close(terminal)
    for number, limit in limits.items():
        resource.setrlimit(int(number), tuple(limit))
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    if sockets:
        os.environ.setdefault("LISTEN_PID", str(os.getpid()))
        os.environ["LISTEN_FDS"] = str(sockets)
    how = {"encoding": "utf-8", "closefd": False}
    sys.stdin = sys.__stdin__ = open(0, errors="surrogateescape", **how)  # type: ignore[call-overload,misc]  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", errors="surrogateescape", **how)  # type: ignore[call-overload,misc]  # noqa: SIM115
    sys.stdout.reconfigure(line_buffering=os.isatty(1))
    sys.stderr = sys.__stderr__ = open(2, "w", errors="backslashreplace", **how)  # type: ignore[call-overload,misc]  # noqa: SIM115
    sys.stderr.reconfigure(line_buffering=True)
    if altered:
        ALTERED["alter"](Path(altered[0]), altered[1])
    sys.argv = ["-c", *words]
    from crabhook.__main__ import main as program

    try:
        code = program()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        code = end.code or 0
    _end(code)


def _end(code: int) -> NoReturn:
    """End as Python does, but free no object: to free all takes longer than most commands."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # Python has words and a code of its own for this
    os._exit(code)


if __name__ == "__main__":
    main()
