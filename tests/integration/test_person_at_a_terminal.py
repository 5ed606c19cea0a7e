"""A person at the plain desk in a real terminal, with the real server and real hooks: what is printed."""

from __future__ import annotations

import os
import pty
import queue
import re
import shutil
import subprocess
import tempfile
import termios
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.process

COLUMNS = 100
SESSION = "11111111-2222-3333-4444-555555555555"
_TIME = re.compile(r"(?:\d+:)+\d\d left")


class PersonsTerminal:
    """`crabhook serve --plain` on a terminal whose every line is kept; ended with its block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"unix:{folder}/s"
        self.transcript: list[str] = []
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (50, COLUMNS))
        modes = termios.tcgetattr(slave)
        modes[3] &= ~termios.ECHO  # what is typed is put into the transcript by `type`
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        home = {"HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder)}
        self.process = subprocess.Popen(
            [CRABHOOK, "serve", "--plain", "--listen", self.address],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm", **home},
            start_new_session=True,
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.until("lists the words")
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(60)
        self._reader.join(60)
        os.close(self._master)

    def _read(self) -> None:
        rest = b""
        with suppress(OSError):  # nobody has the terminal open any more
            while chunk := os.read(self._master, 65_536):
                *lines, rest = (rest + chunk).split(b"\r\n")
                for line in lines:
                    self._lines.put(line.decode())

    def until(self, last: str) -> None:
        """Read lines into the transcript until one has these words in it."""
        end = time.monotonic() + 60
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError("\n".join([f"no {last!r} in", *self.transcript])) from None
            self.transcript.append(_TIME.sub("9:59 left", line))
            if last in line:
                return

    def type(self, line: str, last: str) -> None:
        """Type a line, and read until these words have come."""
        self.transcript.append(f"> {line}")
        os.write(self._master, f"{line}\n".encode())
        self.until(last)

    def ask(self, last: str, tool: str, **given: Any) -> Client:
        """Let a hook ask about a call, and read until these words have come."""
        project = str(self.folder / "api-server")
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{time.monotonic()}"}
        payload = sample(
            "PreToolUse-Bash", session_id=SESSION, cwd=project, permission_mode="default", **call
        )
        client = Client(self.address, payload)
        self.until(last)
        return client


@pytest.fixture
def person() -> Iterator[PersonsTerminal]:
    folder = Path(tempfile.mkdtemp(prefix="crabhook-person-", dir="/tmp"))
    (folder / "api-server").mkdir()
    with PersonsTerminal(folder) as terminal:
        yield terminal
    shutil.rmtree(folder)


GOLDEN = """\
· listening on unix:FOLDER/s
· crabhook, plain desk: 0 waiting; ? lists the words
· rules 0 ok · record ok
#1 Claude Code · api-server wants to run: rm -rf /srv/cache && npm ci
  risk: danger: deletes /srv/cache (OUTSIDE the project). caution: network; installs packages, whose
    >  scripts may run
  in its own words: Clean build
  asked because: no rule covers it
  asked by the main agent, mode default; 9:59 left
  #1 can be answered with: allow [note]; deny REASON; hand back; pass; edit TEXT; always allow;
    > always deny; defer; halt REASON; message MESSAGE
> 1 allow once
! #1 wants a second yes, to this: deletes /srv/cache (OUTSIDE the project); nothing was decided.
    > Write: 1 allow! or 1 deletes
> 1 deletes
#1 ALLOWED once
#2 Claude Code · api-server wants to edit: src/auth.ts +1 -1
  risk: no known risk. also: writes src/auth.ts (inside the project)
  asked because: no rule covers it
  asked by the main agent, mode default; 9:59 left
  change:
    -a
    +b
> list
#2 Claude Code · api-server wants to edit: src/auth.ts +1 -1 · 9:59 left
> 2 deny use the other file
#2 DENIED use the other file
> undo
· #2 DENIED was sent at once and cannot be taken back. With take_back_ms in [desk] of the settings
    > every allow is held so long first
> brief
· from now on: of each new request one line, and its risk
#3 Claude Code · api-server wants to run a command, 2 lines
  risk: no known risk. also: runs code of this project
  not all of it is printed: 3 show prints it
> 3 allow
! #3 was not printed whole; nothing was decided. Write: 3 show or 3 allow!
> 3 hand back
#3 HANDED BACK
#4 Claude Code · api-server wants to run: ls
  risk: no known risk
> quit
#4 WITHDRAWN the operator closed the desk
crabhook: 1 allowed · 1 denied · 1 handed back.
1 request still waited. What waits gets no opinion: its agent goes by its own
rules, or asks its own user. A hook that was installed to fail closed denies.
"""


def test_a_person_reads_sentences_and_is_asked_twice_before_a_danger(
    person: PersonsTerminal,
) -> None:
    command = "rm -rf /srv/cache && npm ci"
    last_word = "message MESSAGE"
    risky = person.ask(last_word, "Bash", command=command, description="Clean build")
    person.type("1 allow once", "1 deletes")
    person.type("1 deletes", "#1 ALLOWED")
    assert risky.finish().output["hookSpecificOutput"]["permissionDecision"] == "allow"
    path = str(person.folder / "api-server" / "src" / "auth.ts")
    edit = person.ask("    +b", "Edit", file_path=path, old_string="a", new_string="b")
    person.type("list", "#2 ")
    person.type("2 deny use the other file", "#2 DENIED")
    assert edit.finish().output["hookSpecificOutput"]["permissionDecision"] == "deny"
    person.type("undo", "so long first")
    person.type("brief", "from now on")
    long = person.ask("show prints it", "Bash", command="make\nmake test")
    person.type("3 allow", "3 allow!")
    person.type("3 hand back", "#3 HANDED BACK")
    assert long.finish().output["hookSpecificOutput"]["permissionDecision"] == "ask"
    waiting = person.ask("wants to run: ls", "Bash", command="ls")
    person.until("risk")
    person.type("quit", "fail closed denies")
    assert waiting.finish().silent
    printed = [line.replace(str(person.folder), "FOLDER") for line in person.transcript]
    assert [line.rstrip() for line in printed if line] == GOLDEN.splitlines()


@pytest.mark.parametrize("piped", ["stdin", "stdout"])
def test_one_end_that_is_no_terminal_keeps_the_format_that_programs_read(piped: str) -> None:
    with tempfile.TemporaryDirectory(prefix="crabhook-person-", dir="/tmp") as folder:
        address = f"unix:{folder}/s"
        master, slave = pty.openpty()
        ends: dict[str, int] = {"stdin": slave, "stdout": slave, piped: subprocess.PIPE}
        server = subprocess.Popen(
            [CRABHOOK, "serve", "--plain", "--listen", address],
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": folder},
            **ends,  # type: ignore[call-overload]
        )
        os.close(slave)
        reads = server.stdout.fileno() if piped == "stdout" else master
        types = server.stdin.fileno() if piped == "stdin" else master
        try:
            heard = _heard(reads, "lists the words")
            command = {"command": "rm -rf /srv/cache"}
            hook = Client(address, sample("PreToolUse-Bash", cwd="/p", tool_input=command))
            heard += _heard(reads, "answer with: ")
            os.write(types, b"allow\n")
            heard += _heard(reads, "#1 ALLOWED")
            assert hook.finish().output["hookSpecificOutput"]["permissionDecision"] == "allow"
        finally:
            server.kill()
            server.communicate()
            os.close(master)
        assert "help lists the words" in heard
        assert "#1 PreToolUse Bash session=" in heard
        assert "second yes" not in heard


def _heard(descriptor: int, last: str) -> str:
    """Read until some words have come."""
    told, end = b"", time.monotonic() + 60
    while last not in told.decode(errors="replace") and time.monotonic() < end:
        told += os.read(descriptor, 65_536)
    return told.decode(errors="replace").replace("\r\n    > ", "")
