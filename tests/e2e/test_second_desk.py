"""docs/tutorial/second-desk.md, played on three machines with addresses of their own, line by line."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.machines import Machines, insist
from tests.support.plain_desk import CRABHOOK
from tests.support.port import short_folder
from tests.support.terminal import Terminal
from tests.support.turns import Text, bash
from tests.support.tutorial import KEYS, like

if TYPE_CHECKING:
    from tests.e2e.conftest import MakeClaude
    from tests.support.claude import Claude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "second-desk.md"
MODEL = ((bash("touch hello.txt"),), (Text("The file is there."),))
ROOT, ANN, BUILD = "desk.example", "ann", "build1"
PASSPHRASES = {ROOT: "correct horse battery", ANN: "own words of ann"}
AT_MOST = 5
"""Commands on each side, but for those that start the agent and leave its folder alone."""

_ITEM = re.compile(
    r"^```(?P<kind>console|text) (?P<side>server|ann|build1|claude)\n(?P<shown>.*?)^```$"
    r"|^- \*\*(?P<place>At Ann's desk|In Claude Code)\*\* (?P<acts>[^.]*(?:`[^`]*`[^.`]*)*)\.$",
    re.MULTILINE | re.DOTALL,
)
_SIDES = {"server": ROOT, "ann": ANN, "build1": BUILD}
_PLACES = {"At Ann's desk": ANN, "In Claude Code": BUILD, "claude": BUILD}
_PROMPT = re.compile(
    r"(?P<asked>.*(?:Your (?:new )?passphrase.*:|The same again:|\[y/N\])) ?(?P<typed>.*)"
)
_INVITES = re.compile(r"crabhook .*(crab1\w+@desk\.example:7445)")


class Room:
    """Three machines and who sits there, with the page in hand."""

    def __init__(self, machines: Machines, folder: Path, agent: Claude, held: ExitStack) -> None:
        self._machines, self._folder, self._agent, self._held = machines, folder, agent, held
        self.tried: Counter[str] = Counter()
        self.words: dict[str, list[str]] = {}
        self._seats: dict[str, Terminal] = {}
        self._shown: dict[str, list[str]] = {}
        self._invitation = ""

    def take(self, item: re.Match[str]) -> None:
        """Do what the page says, or see what it shows."""
        if item["place"]:
            self._act(self._seats[_PLACES[item["place"]]], item["acts"])
        elif item["kind"] == "text":
            side = _SIDES.get(item["side"]) or _PLACES[item["side"]]
            self._see(self._seats[side], item["shown"].splitlines())
        else:
            for line in item["shown"].splitlines():
                self._line(_SIDES[item["side"]], line)
            self._see(self._seats[_SIDES[item["side"]]], self._shown[_SIDES[item["side"]]])

    def _line(self, side: str, line: str) -> None:
        """Type a command that the page has, or what a prompt of it asks for."""
        if line.startswith("$ "):
            self._command(side, line[2:])
            return
        self._shown[side].append(line)
        if prompt := _PROMPT.fullmatch(line):
            self._shown[side][-1] = prompt["asked"]
            self._see(self._seats[side], self._shown[side], last=prompt["asked"])
            self._seats[side].type(prompt["typed"] or PASSPHRASES[side])
            self._seats[side].key("Enter")

    def _command(self, side: str, command: str) -> None:
        self.tried[side] += command != "claude" and not command.startswith("mkdir")
        self._shown[side] = []
        if command == "claude":
            self._seats[side] = self._agent.terminal()
            self._seats[side].wait_for("\u276f")  # its own prompt
            return
        if side not in self._seats:
            self._seats[side] = self._shell(side)
        seat = self._seats[side]
        if invitation := _INVITES.search(seat_text(self._seats[ROOT])):
            command = re.sub(r"crab1\u2026@desk\.example:7445", invitation[1], command)
        assert "\u2026" not in command
        seat.type("clear")
        seat.key("Enter")
        seat.wait_for(lambda shown: shown.strip() == "$")
        seat.type(command)
        time.sleep(0.3)
        seat.key("Enter")

    def _shell(self, side: str) -> Terminal:
        home = self._agent.home if side == BUILD else self._folder / side
        home.mkdir(exist_ok=True)
        runtime = self._folder / f"run-{side}"
        runtime.mkdir()
        environment = {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "PATH": f"{Path(CRABHOOK).parent}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "PS1": "$ ",
        }
        command = self._machines.at(side, "sh")
        return self._held.enter_context(Terminal(command, environment, columns=160, rows=40))

    def _see(self, seat: Terminal, lines: list[str], last: str = "") -> None:
        """Wait until the screen has the lines, in this order; `last` is its last line."""
        wanted = re.compile(r"(?s:.*?)".join(like(line) for line in lines if line.strip(" …")))
        ends = re.compile(like(last))

        def seen(screen: str) -> bool:
            end = screen.rstrip().rpartition("\n")[2]
            return bool(wanted.search(screen)) and bool(not last or ends.fullmatch(end.rstrip()))

        try:
            screen = seat.wait_for(seen)
        except AssertionError as error:
            raise AssertionError("\n".join(["the page shows", *lines, str(error)])) from None
        for words in re.findall(
            r"Does its screen show: (.*) \?|^  ((?:[a-z]+ ){5}[a-z]+)$", screen, re.MULTILINE
        ):
            self.words.setdefault(next(filter(None, words)), []).append(screen)

    def _act(self, seat: Terminal, acts: str) -> None:
        for what, text in re.findall(r"\b(press|type) `([^`]+)`", acts):
            time.sleep(0.8)  # as a person, who looks first: the desk passes over quicker keys
            if what == "type":
                seat.type(text)
                seat.wait_for(text[-20:])
            else:
                seat.key(KEYS.get(text, text))


def seat_text(seat: Terminal | None) -> str:
    """Return what is on a terminal's screen."""
    return seat.screen() if seat else ""


def test_the_second_desk_goes_as_its_page_says_on_three_machines(claude: MakeClaude) -> None:
    insist()
    text = PAGE.read_text(encoding="utf-8")
    with short_folder() as folder, Machines(folder, ROOT, ANN, BUILD) as machines:
        agent = claude(*MODEL, apart=lambda command: machines.at(BUILD, *command))
        with ExitStack() as held:
            room = Room(machines, folder, agent, held)
            items = list(_ITEM.finditer(text))
            for item in items:
                room.take(item)
            assert (agent.project / "hello.txt").exists()
            assert set(room.tried) == {ROOT, ANN, BUILD}
            assert max(room.tried.values()) <= AT_MOST
            assert len(room.words) == 2  # those of two invitations, each on both ends
            assert sum(item["kind"] is not None for item in items) == text.count("\n```") / 2
