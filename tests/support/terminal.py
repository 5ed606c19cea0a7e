"""A real terminal for an interactive agent: one tmux server of our own, ended with the test."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.support.isolation import ending_with_us

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Sight = str | Callable[[str], bool]
    """What to look for on the screen: a text, or a predicate of the whole screen."""

LOOK_EVERY = 0.05
"""Seconds between two looks at the screen."""


class Terminal:
    """A program in a terminal of `columns` x `rows`, on a tmux server that nothing else uses.

    The server stays our child (`-D`), so that ending it is certain and leaves no zombie behind.
    """

    def __init__(
        self,
        command: list[str],
        environment: Mapping[str, str],
        *,
        columns: int = 120,
        rows: int = 45,
    ) -> None:
        # Under /tmp and not under the test's folder: a socket's path has to be short.
        self.folder = Path(tempfile.mkdtemp(prefix="crabhook-tmux-", dir="/tmp"))
        self._socket = self.folder / "socket"
        self._environment = dict(environment)
        tmux = ["tmux", "-S", str(self._socket), "-f", os.devnull]
        self._server = subprocess.Popen(
            ending_with_us([*tmux, "-D"]), env=self._environment, stdin=subprocess.DEVNULL
        )
        self._tmux = [*tmux, "-N"]
        self._program: int | None = None
        try:
            self._program = self._start(command, columns, rows)
        except BaseException:
            self.close()
            raise

    def _start(self, command: list[str], columns: int, rows: int) -> int:
        """Start the program in the server's only pane; a descriptor for its process."""
        # Its socket is there a moment before it listens.
        _wait_until(self._listens, 60, lambda: "tmux does not listen at its socket")
        # The last screen stays readable after the program's end; Esc is passed on at once.
        self._run("set-option", "-wg", "remain-on-exit", "on")
        self._run("set-option", "-sg", "escape-time", "0")
        size = ["-x", str(columns), "-y", str(rows)]
        pane = ["-d", "-P", "-F", "#{pane_pid}"]
        return os.pidfd_open(int(self._run("new-session", *pane, *size, "--", *command)))

    def _listens(self) -> bool:
        """Whether our tmux server takes commands; it has no session yet."""
        asked = [*self._tmux, "show-options", "-s"]
        done = subprocess.run(
            asked, capture_output=True, timeout=60, check=False, env=self._environment
        )
        return done.returncode == 0

    def _run(self, *arguments: str) -> str:
        """One command to our tmux server; its output without the last line end."""
        done = subprocess.run(
            [*self._tmux, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env=self._environment,
        )
        return done.stdout.rstrip("\n")

    def screen(self) -> str:
        """The text that a person would see now."""
        return self._run("capture-pane", "-p")

    def type(self, text: str) -> None:
        """Type text as it stands, without an Enter at its end."""
        self._run("send-keys", "-l", "--", text)

    def key(self, *names: str) -> None:
        """Press keys by their tmux names: Escape, Enter, Up, C-c."""
        self._run("send-keys", "--", *names)

    def press(self, name: str, until: Sight, seconds: float = 60) -> str:
        """Press a key, again every second, until the screen shows what it is pressed for.

        Claude Code's dialogs pass over keys that come right after they appear, so that nobody
        answers by typing on; a single `key` can be lost there.
        """
        pressed = 0.0

        def press_and_look() -> bool:
            nonlocal pressed
            if _sees(until, self.screen()):
                return True
            if time.monotonic() - pressed > 1:
                self.key(name)
                pressed = time.monotonic()
            return False

        _wait_until(press_and_look, seconds, lambda: f"{name} led nowhere:\n{self.screen()}")
        return self.screen()

    def submit(self, text: str) -> None:
        """Type one line, see it arrive, and press Enter: keys sent at once count as a paste."""
        self.type(text)
        self.wait_for(text[-20:].strip())
        self.key("Enter")

    def wait_for(self, sight: Sight, seconds: float = 60) -> str:
        """Wait until the screen shows a text or pleases a predicate; returns that screen.

        Raises AssertionError with the last screen when it does not come about in time.
        """
        screen = ""

        def look() -> bool:
            nonlocal screen
            screen = self.screen()
            return _sees(sight, screen)

        _wait_until(look, seconds, lambda: f"{sight!r} did not come up; the screen:\n{screen}")
        return screen

    def ended(self, seconds: float = 0) -> bool:
        """Whether the program has ended, after waiting for it at most so long."""
        return self._program is None or _gone(self._program, seconds)

    def signal(self, number: int) -> None:
        """Send the program a signal."""
        assert self._program is not None
        signal.pidfd_send_signal(self._program, number)

    def close(self) -> None:
        """End the program and the tmux server, and see that both are gone.

        The program first, while the server still lives to reap it.
        """
        try:
            if self._program is not None:
                _end(self._program)
                self._program = None
        finally:
            self._server.terminate()
            try:
                self._server.wait(60)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait(60)
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _sees(sight: Sight, screen: str) -> bool:
    return sight in screen if isinstance(sight, str) else sight(screen)


def _wait_until(done: Callable[[], bool], seconds: float, complaint: Callable[[], str]) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds} s: {complaint()}")
        time.sleep(LOOK_EVERY)


def _gone(process: int, seconds: float) -> bool:
    """Whether the process behind a descriptor has ended, after waiting at most so long."""
    return bool(select.select([process], [], [], seconds)[0])


def _end(process: int) -> None:
    """End a process by ending its children, wait until all are gone, and close the descriptor.

    The children first, so that the parent buries them; itself only when that does not end it.
    A namespace's first process is gone only when the kernel has ended all the others in it.
    """
    children: list[int] = []
    try:
        with suppress(ProcessLookupError):
            children += map(os.pidfd_open, _children(process))
        _kill(children)
        if not children or not _gone(process, 5):
            _kill([process])
        assert all(_gone(one, 60) for one in [process, *children]), "the program could not be ended"
    finally:
        for one in [process, *children]:
            os.close(one)


def _kill(processes: list[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(process, signal.SIGKILL)


def _children(process: int) -> list[int]:
    """The process ids of the children of the process behind a descriptor."""
    facts = dict(
        line.split(":", 1)
        for line in Path(f"/proc/self/fdinfo/{process}").read_text(encoding="ascii").splitlines()
    )
    number = int(facts["Pid"])
    with suppress(FileNotFoundError, ProcessLookupError):
        children = Path(f"/proc/{number}/task/{number}/children").read_text(encoding="ascii")
        return [int(child) for child in children.split()]
    return []
