"""`crabhook serve` as a service: no terminal, its log on standard error, perhaps a manager above it."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

CRABHOOK = str(Path(sys.executable).with_name("crabhook"))
HAND_DOWN = """
import os, sys
count, rest = int(sys.argv[1]), sys.argv[2:]
handed, command = [int(n) for n in rest[:count]], rest[count:]
kept = [os.dup(one) for one in handed]
high = [os.dup2(one, 100 + n) for n, one in enumerate(kept)]
for n, one in enumerate(high):
    os.dup2(one, 3 + n)
    os.close(one)
os.environ.setdefault("LISTEN_PID", str(os.getpid()))
os.environ["LISTEN_FDS"] = str(count)
os.execv(command[0], command)
"""
"""Does what a service manager does between fork and exec: sockets from descriptor 3 on."""


class Service:
    """A server without a terminal; ended with the `with` block.

    `sockets` are handed down as a service manager does; without them it
    listens on a socket of its own. `folder` is its home, and short enough
    for a socket's path. With `waits` the block begins when it listens.
    `program` takes the arguments of `crabhook`.
    """

    def __init__(
        self,
        *options: str,
        rules: str = "",
        sockets: Sequence[socket.socket] = (),
        folder: Path | None = None,
        waits: bool = True,
        program: Sequence[str] = (CRABHOOK,),
        **environment: str,
    ) -> None:
        self._own_folder = folder is None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="crabhook-service-", dir="/tmp"))
        self.address = f"unix:{self.folder}/s"
        self.said: list[str] = []
        self._waits = waits
        place = () if sockets else ("--listen", self.address)
        self._command = [*program, "serve", *place, *options]
        self._sockets, self._environment = sockets, environment
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        if rules:
            self.write_rules(rules)

    def __enter__(self) -> Self:
        try:
            self.start()
            if self._waits:
                self.listens()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_again(self) -> None:
        """Start the server that was ended; what it logged before cannot be waited for any more."""
        self._gone()
        self._lines = queue.SimpleQueue()
        self.start()

    def _gone(self) -> None:
        """Wait until the process is gone and all that it logged is read."""
        self.process.wait(60)
        self._reader.join(60)
        assert self.process.stderr is not None
        self.process.stderr.close()

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self._gone()
        if self._own_folder:
            shutil.rmtree(self.folder)

    def write_rules(self, text: str) -> None:
        """Write the owner's rule file."""
        folder = self.folder / ".config" / "crabhook"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "rules.toml").write_text(text, encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        """What the server, and commands about its home, run in."""
        home = {"HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder)}
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **home, **self._environment}

    def start(self) -> None:
        """Start the server; what it logs can be waited for."""
        command, numbers = self._command, [str(one.fileno()) for one in self._sockets]
        if numbers:
            hand_down = [sys.executable, "-I", "-S", "-c", HAND_DOWN, str(len(numbers)), *numbers]
            command = [*hand_down, *command]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=self.environment,
            pass_fds=[one.fileno() for one in self._sockets],
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal; return the exit code, once all that it logged is read."""
        self.process.send_signal(number)
        code = self.process.wait(60)
        self._reader.join(60)
        return code

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line.rstrip("\n"))
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def wait_for(self, true: Callable[[str], object], seconds: float = 60) -> str:
        """Return the next line of the log for which something is true."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError("it was not logged:\n" + "\n".join(self.said))
            if true(line):
                return line

    def listens(self) -> None:
        """Wait until it takes requests."""
        self.wait_for(lambda line: "listening" in line)

    def logged(self, what: str) -> Mapping[str, Any]:
        """Wait for a JSON line that says `what`; return it."""
        line = self.wait_for(lambda line: json.loads(line)["what"] == what)
        parsed: Mapping[str, Any] = json.loads(line)
        return parsed

    def audit(self, *words: str) -> str:
        """Return what `crabhook log` says of the server's record."""
        return subprocess.run(
            [CRABHOOK, "log", *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env=self.environment,
        ).stdout


class Manager:
    """The socket on which a service manager is told how a service is."""

    def __init__(self, name: str) -> None:
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._line.bind(f"\0{name[1:]}" if name.startswith("@") else name)
        self._line.settimeout(60)
        self.name = name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()

    def hears(self) -> dict[str, str]:
        """Return the assignments in the next datagram."""
        text = self._line.recv(4096).decode()
        return dict(line.split("=", 1) for line in text.split("\n"))

    def hears_until(self, name: str) -> dict[str, str]:
        """Return the next datagram that assigns `name`."""
        while name not in (heard := self.hears()):
            pass
        return heard


def listening(place: Path | str) -> socket.socket:
    """Open a listening socket as a socket unit does: a path, or a host for some port of TCP."""
    if isinstance(place, Path):
        line = socket.socket(socket.AF_UNIX)
        line.bind(str(place))
    else:
        line = socket.socket()
        line.bind((place, 0))
    line.listen(64)
    return line
