"""The operator's server as its own process with a plain desk: lines in, lines out."""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

CRABHOOK = str(Path(sys.executable).with_name("crabhook"))
"""The console script of the environment the tests run in."""


class PlainDesk:
    """`crabhook serve --plain` on a Unix socket of its own; ended with the `with` block.

    `folder` is short enough for a socket's path. `listen` replaces the socket;
    `environment` is added to the server's. `program` is what is started.
    """

    def __init__(
        self,
        *options: str,
        listen: str | None = None,
        program: str = CRABHOOK,
        **environment: str,
    ) -> None:
        self.program = program
        self.folder = Path(tempfile.mkdtemp(prefix="crabhook-desk-", dir="/tmp"))
        self.address = listen or f"unix:{self.folder}/s"
        self.said: list[str] = []
        self._options, self.environment = options, environment
        self._helpers: list[threading.Thread] = []
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def write_rules(self, text: str) -> None:
        """Write the owner's rule file of the server, before it starts."""
        folder = self.folder / ".config" / "crabhook"
        folder.mkdir(parents=True)
        (folder / "rules.toml").write_text(text, encoding="utf-8")

    def start(self) -> None:
        """Start the server, or start it again, and wait until it listens."""
        self._lines = queue.SimpleQueue()
        home = {"HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder)}
        self.process = subprocess.Popen(
            [self.program, "serve", "--plain", "--listen", self.address, *self._options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **home, **self.environment},
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.wait_for(r"· listening on")

    def stop(self) -> None:
        """Leave as an operator does, by the end of the lines; kill what does not end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.close()
            self.process.wait(60)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self.process.kill()
            self.process.wait(60)
        for thread in (*self._helpers, self._reader):
            thread.join(60)
        self.process.stdout.close()

    def kill(self) -> None:
        """End the server as a crash does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)
        self._reader.join(60)  # so that its end is none of the next server's
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()

    def say(self, line: str) -> None:
        """Type one line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait_for(self, pattern: str, seconds: float = 60, *, again: bool = False) -> re.Match[str]:
        """Return the match of the next line in which `pattern` is found.

        With `again` a line that was waited for before counts too.
        """
        if again and (
            found := next(filter(None, (re.search(pattern, s) for s in self.said)), None)
        ):
            return found
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                told = "\n".join(self.said)
                raise AssertionError(f"{pattern!r} was not said:\n{told}")
            if found := re.search(pattern, line):
                return found

    def anew(self) -> Self:
        """Begin another test at a server that several share: pass over all that was said until now.

        Each of them asks for a session of its own: an answer is kept for its session and call.
        """
        mark = f"anew-{uuid.uuid4().hex}"
        self.say(mark)
        self.wait_for(f'^! "{mark}" is none of the words')
        self.said.clear()
        return self

    def ask(self, line: str, pattern: str) -> re.Match[str]:
        """Type a question, again every second, until a line of an answer has the pattern."""
        deadline = time.monotonic() + 60
        while True:
            self.say(line)
            try:
                return self.wait_for(pattern, 1)
            except AssertionError:
                if time.monotonic() > deadline:
                    raise

    def card(self, tool: str) -> int:
        """Wait for a new card of this tool; return its number."""
        return int(self.wait_for(rf"^#(\d+) [\w.]+ {tool} session=").group(1))

    def say_when(self, tool: str, *words: str) -> None:
        """Say these words about the next cards of this tool, in turn, while the test goes on."""

        def wait_and_say() -> None:
            for one in words:
                self.say(f"{self.card(tool)} {one}")

        self._helpers.append(threading.Thread(target=wait_and_say))
        self._helpers[-1].start()

    def run(self, *words: str) -> str:
        """Run another of crabhook's commands in this desk's home; return what it prints."""
        return subprocess.run(
            [CRABHOOK, *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8"},
        ).stdout

    def record(self) -> list[dict[str, Any]]:
        """Return everything on record."""
        lines = self.run("log", "--json", "--all-kinds", "--last", "0").splitlines()
        return [json.loads(line) for line in lines]

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.rstrip("\n"))
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)


def hooks(address: str, *, gate: bool, options: Sequence[str] = ()) -> list[str]:
    """The command that installs our hooks for the server at this address."""
    stance = "--gate" if gate else "--companion"
    return [CRABHOOK, "install", "claude", stance, "--server", address, *options]
