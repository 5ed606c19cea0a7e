"""docs/questions.md: its commands run, in the page's order, in an empty home, a person at the terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import socket
import subprocess
import termios
import time
from pathlib import Path

import pytest

from crabhook.cli import parser_of
from tests.docs.test_links import anchors
from tests.support.isolation import ending_with_us
from tests.support.plain_desk import CRABHOOK
from tests.support.port import short_folder
from tests.support.rows import every_row

PAGE = Path(__file__).parents[2] / "docs" / "questions.md"
TEXT = PAGE.read_text(encoding="utf-8")
COMMANDS = [
    command
    for block in re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    for command in block.splitlines()
]
NOT_HERE = {
    "ssh ": "takes another machine",
    "pipx ": "takes a network: `make packages` installs",
    "crabhook team invite": "waits for another machine: tests/e2e/test_second_desk.py plays it",
    "crabhook team join": "the same",
}
"""How the commands begin that are not run here, and why."""

PASSPHRASE = "seven crabs in a row"
ANSWERS = {
    "[y/N] ": "y\n",
    "Your new passphrase, 8 characters or more: ": f"{PASSPHRASE}\n",
    "The same again: ": f"{PASSPHRASE}\n",
    "Your passphrase for the team": f"{PASSPHRASE}\n",
    "0 waiting · ": "q",
}
"""What a person types where the terminal shows this; the last is the screen of an empty desk."""

FINDINGS = "crabhook doctor"
"""This ends with 1 or 2 where an agent's program is missing, as it is in the empty home."""


class Home:
    """An empty home with a project in it, and a server's port of its own."""

    def __init__(self, folder: Path) -> None:
        self._project = folder / "project"
        (self._project / ".git").mkdir(parents=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._operators = f"127.0.0.1:{free.getsockname()[1]}"
        settings = folder / ".config" / "crabhook" / "settings.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f'[server]\noperators = "{self._operators}"\n', encoding="utf-8")
        self._environment = {
            "PATH": f"{Path(CRABHOOK).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def run(self, command: str) -> tuple[int, str]:
        """Run a line of a shell's at a terminal, and answer; return the exit code and what it shows."""
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (40, 110))
        line = command.replace("0.0.0.0:7444", self._operators)
        process = subprocess.Popen(
            ending_with_us(["setsid", "--ctty", "--wait", "sh", "-ec", line]),
            cwd=self._project,
            env=self._environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        try:
            shown = self._answered(ours, process)
        finally:
            os.close(ours)  # whatever still reads there is hung up on
        try:
            return process.wait(60), shown
        finally:
            process.kill()

    @staticmethod
    def _answered(terminal: int, process: subprocess.Popen[bytes]) -> str:
        """Type the answers as they are asked for, until the command ends."""
        shown, asked, deadline = b"", 0, time.monotonic() + 60
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    shown += os.read(terminal, 1 << 16)
                except OSError:  # nobody has the terminal open any more
                    break
            elif process.poll() is not None:
                break
            new = shown[asked:].decode(errors="replace")
            if answer := next((typed for prompt, typed in ANSWERS.items() if prompt in new), ""):
                asked = len(shown)
                os.write(terminal, answer.encode())
        return shown.decode(errors="replace")


@every_row("command", [line for line in COMMANDS if line.startswith("crabhook ")])
def test_a_command_is_one_that_there_is(command: str) -> None:
    _, name, *words = shlex.split(command)
    parser_of(name)[0].parse_args(words)


@pytest.mark.process
@pytest.mark.thorough
@pytest.mark.timeout(240)
def test_the_commands_run_in_the_pages_order() -> None:
    with short_folder() as folder:
        home, left = Home(folder), []
        try:
            for command in COMMANDS:
                if command.startswith(tuple(NOT_HERE)):
                    left.append(command)
                    continue
                code, shown = home.run(command)
                assert code == 0 or command.startswith(FINDINGS), f"$ {command}\n{shown}"
        finally:
            home.run("crabhook down --yes || true")
    for beginning in NOT_HERE:
        assert any(command.startswith(beginning) for command in left)


def test_every_question_of_the_readme_has_its_answer_on_the_page() -> None:
    readme = (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    asked = re.findall(r"\]\(docs/questions\.md(#[\w-]+)\)", readme)
    assert len(asked) == 12
    assert {f"#{name}" for name in anchors(PAGE)} == {"#questions-people-ask", *asked}
