"""The server of a soak on a terminal of its own, in one life after the other on the same home."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import queue
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
import tty
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.soak import watched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.soak.schedule import Life

PATIENCE = 12.0  # seconds a new server waits for the hooks of the one before; they try for 8
STARTS_WITHIN = ENDS_WITHIN = 40.0  # seconds; the machine may have other work
DESKS = {
    "plain": ["--plain"],
    "full": [],
    "headless": ["--headless"],
}
SIGNALS = {"term": signal.SIGTERM, "hand over": signal.SIGUSR1, "kill": signal.SIGKILL}
WIDE = struct.pack("HHHH", 45, 4000, 0, 0)  # so that the plain desk folds no line
NARROW = struct.pack("HHHH", 45, 120, 0, 0)


class Server:
    """`crabhook serve`, again and again; `listens` are its addresses, `options` what they need."""

    def __init__(
        self, folder: Path, listens: Sequence[str], options: Sequence[str], inside: Sequence[str]
    ) -> None:
        self.folder, self._inside = folder, inside
        self.state = folder / "state"
        self._listening = [word for one in listens for word in ("--listen", one)]
        self._options = [*self._listening, *options]
        self._counts, self._clock = folder / "counts", folder / "clock"
        self._asked = self._lives = 0
        self._process: subprocess.Popen[bytes] | None = None
        self.set_clock(0)

    @property
    def socket(self) -> str:
        """The path of its Unix socket."""
        return f"{self.folder}/s"

    @property
    def environment(self) -> Mapping[str, str]:
        """What the server, and commands about its home, run in."""
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "HOME": str(self.folder),
            "XDG_STATE_HOME": str(self.state),
            "XDG_CONFIG_HOME": f"{self.folder}/config",
        }

    def set_clock(self, ahead: float) -> None:
        """Move its wall clock to that many seconds ahead of the true one."""
        beside = self._clock.with_suffix(".new")
        beside.write_text(f"{ahead}", encoding="ascii")
        beside.replace(self._clock)

    def begin(self, life: Life) -> None:
        """Begin a life, and wait until hooks are heard."""
        settings = self.folder / "config" / "crabhook" / "settings.toml"
        settings.write_text(life.settings, encoding="utf-8")
        self._counts.unlink(missing_ok=True)
        self._asked = 0
        terminal, inner = pty.openpty()
        tty.setraw(inner)
        plain = life.desk != "full"
        # a pipe to read from: what the plain desk prints then is what programs read
        typed, self._keys = os.pipe() if plain else (os.dup(inner), os.dup(terminal))
        fcntl.ioctl(inner, termios.TIOCSWINSZ, WIDE if plain else NARROW)
        options = [*DESKS[life.desk], *self._options]
        options += ["--otherwise", life.otherwise] * (life.desk == "headless")
        options += ["--take-back-ms", str(life.take_back)] * (life.desk == "plain")
        self._process = subprocess.Popen(
            [
                *self._inside,
                *(sys.executable, "-m", watched.__name__),
                *(str(self._counts), str(self._clock), str(PATIENCE)),
                watched.SMALL_ONE if life.measured else watched.WHOLE,
                *("serve", *options),
            ],
            stdin=typed,
            stdout=inner,
            stderr=inner,
            env=self.environment,
            start_new_session=True,
        )
        os.close(inner)
        os.close(typed)
        self._terminal = terminal
        self.heard: list[str] = []
        self.lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(terminal, self.lines, self.heard))
        self._reader.start()
        self._await_listening()

    def type(self, text: str) -> bool:
        """Type on its terminal; return whether anybody is there."""
        try:
            rest = text.encode()
            while rest:
                rest = rest[os.write(self._keys, rest) :]
        except OSError:
            return False
        return True

    def hears(self, words: str, seconds: float, *, since: int = 0) -> bool:
        """Wait until it has printed these words, after so many lines; return whether it has."""
        end = time.monotonic() + seconds
        while not any(words in line for line in self.heard[since:]):
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def end(self, how: str) -> int:
        """End its life; return the exit code."""
        process = self._process
        assert process is not None
        if how == "quit":
            self.type("quit\n")
        else:
            process.send_signal(SIGNALS[how])
        try:
            code = process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the server did not end by {how}") from None
        self._bury()
        return code

    def keep_what_was_heard(self) -> None:
        """Write what this life's desk printed, and what was typed there, beside the state."""
        self._lives += 1
        text = "\n".join(self.heard)
        (self.folder / f"heard-{self._lives}").write_text(text, encoding="utf-8")

    def close(self) -> None:
        """Leave no process of it, whatever happened."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            self._process.wait(10)
            self._bury()

    def counts(self) -> dict[str, int]:
        """Ask what it holds now."""
        self._asked += 1
        self.signal(signal.SIGUSR2)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with suppress(FileNotFoundError):
                found: dict[str, int] = json.loads(self._counts.read_text(encoding="utf-8"))
                if found.pop("asked") == self._asked:
                    return found
            time.sleep(0.01)
        raise AssertionError("the server did not tell what it holds")

    def _await_listening(self) -> None:
        end = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < end:
            with socket.socket(socket.AF_UNIX) as probe, suppress(OSError):
                probe.connect(self.socket)
                return
            assert self._process is not None
            if self._process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"no server listens; it said {self.heard[-30:]}")

    def _bury(self) -> None:
        self._process = None
        self._reader.join(10)
        os.close(self._terminal)
        os.close(self._keys)
        self.keep_what_was_heard()

    @staticmethod
    def _read(terminal: int, lines: queue.SimpleQueue[str | None], heard: list[str]) -> None:
        """Take in what it prints, until nobody has the terminal open any more."""
        rest = b""
        with suppress(OSError):
            while chunk := os.read(terminal, 1 << 16):
                *ended, rest = (rest + chunk).split(b"\n")
                for line in ended:
                    text = line.decode("utf-8", "replace").rstrip("\r")
                    heard.append(text)
                    lines.put(text)
        lines.put(None)
