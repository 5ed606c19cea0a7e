"""A server that is killed and started again on the same socket and the same state, many times."""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.support import altered_server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STARTS_WITHIN = 60.0  # seconds: the machine may have other work


class MortalServer:
    """`crabhook serve --plain`, with a folder of its own that outlives it; ended with its block.

    `inside` is a command that runs another in the place where the state lies, such as nsenter;
    `state` is where the server makes its state folder, as it sees it. `options` are `serve`'s.
    """

    def __init__(
        self,
        *,
        inside: Sequence[str] = (),
        state: Path | None = None,
        options: Sequence[str] = (),
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="crabhook-m-", dir="/tmp"))
        self.address = f"unix:{self.folder}/s"
        self.state = state or self.folder / "state"
        self.heard: list[str] = []
        self.speaks = False  # until the end of what it prints was read
        self._inside, self._options = list(inside), list(options)
        self._clock = self.folder / "clock"
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.set_clock(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self.folder)

    def set_clock(self, ahead: float) -> None:
        """Move the server's wall clock to that many seconds ahead of the true one."""
        beside = self._clock.with_suffix(".new")
        beside.write_text(f"{ahead}", encoding="ascii")
        beside.replace(self._clock)

    def start(self, *, patience: float | None = None) -> None:
        """Start a server and wait until it listens; `patience`: see `altered_server`."""
        self._process = self._server(patience)
        self._lines = queue.SimpleQueue()
        self.speaks = True
        self._reader = threading.Thread(target=self._read, args=(self._process, self._lines))
        self._reader.start()
        began = time.monotonic()
        for line in self.lines(STARTS_WITHIN):
            if line.startswith("· listening on"):
                return
        raise AssertionError(
            f"no server after {time.monotonic() - began:.0f} s: {self.heard[-20:]}"
        )

    def another(self) -> subprocess.Popen[str]:
        """Start one server more on the same socket and state, for the caller to end."""
        return self._server(None, stderr=subprocess.PIPE)

    def kill(self) -> None:
        """End the server as a crash does; one that is dead stays so."""
        if self._process is not None:
            self.shoot()
            self._bury()

    def shoot(self) -> None:
        """Send the signal alone, from any thread; `kill` clears away what is left."""
        if self._process is not None:
            self._process.kill()

    def quit(self) -> None:
        """Leave as an operator does."""
        assert self._process is not None
        self.say("quit")
        try:
            self._process.wait(STARTS_WITHIN)
        finally:
            self.kill()

    def say(self, line: str) -> bool:
        """Type one line; return whether anybody was there to read it."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        return True

    def lines(self, seconds: float) -> Iterator[str]:
        """Yield what the desk prints, as it does, until the server's end or for that many seconds."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                return
            if line is None:
                self._lines.put(None)  # the end stays the end
                self.speaks = False
                return
            yield line

    def hears(self, words: str, seconds: float = STARTS_WITHIN, *, times: int = 1) -> None:
        """Wait until so many lines had these words, whoever else reads them."""
        end = time.monotonic() + seconds
        while self.said(words) < times:
            if time.monotonic() > end:
                raise AssertionError(f"{words!r} was not said: {self.heard[-20:]}")
            time.sleep(0.02)

    def said(self, words: str) -> int:
        """Return how many lines had these words until now."""
        return sum(words in line for line in tuple(self.heard))

    def _server(self, patience: float | None, stderr: int | None = None) -> subprocess.Popen[str]:
        altered = [sys.executable, altered_server.__file__, str(self._clock), str(patience or "")]
        home = {"HOME": str(self.folder), "XDG_STATE_HOME": str(self.state)}
        return subprocess.Popen(
            [*self._inside, *altered, "serve", "--plain", "--listen", self.address, *self._options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            encoding="utf-8",
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **home},
        )

    def _read(self, process: subprocess.Popen[str], lines: queue.SimpleQueue[str | None]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self.heard.append(line.rstrip("\n"))
            lines.put(line.rstrip("\n"))
        lines.put(None)

    def _bury(self) -> None:
        process, self._process = self._process, None
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        assert self._reader is not None
        process.wait(STARTS_WITHIN)
        self._reader.join(STARTS_WITHIN)
        process.stdout.close()
        with suppress(BrokenPipeError):
            process.stdin.close()
