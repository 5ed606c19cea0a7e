"""docs/tutorial/first-morning.md, played word by word: each command, each key, and all that the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.plain_desk import CRABHOOK
from tests.support.port import short_folder
from tests.support.terminal import Terminal
from tests.support.turns import Text, ToolUse, bash
from tests.support.tutorial import KEYS, like

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import MakeClaude
    from tests.support.claude import Claude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "first-morning.md"
NOT_TRIED_HERE = [
    "pipx install '.[serve]'",
    "python3 -m venv ~/.local/crabhook",
    "~/.local/crabhook/bin/pip install '.[serve]'",
    "mkdir -p ~/.local/bin && ln -s ~/.local/crabhook/bin/crabhook ~/.local/bin/",
]
"""Need a network and an empty machine: `make packages` tries them."""

COLOURS = {
    "questions": [
        {
            "question": "Which colour do you want?",
            "header": "Colour",
            "multiSelect": False,
            "options": [
                {"label": "Red", "description": "warm"},
                {"label": "Blue", "description": "cool"},
            ],
        }
    ]
}
MODEL = (
    (bash("touch hello.txt"),),
    (Text("The file is there."),),
    (bash("rm hello.txt"),),
    (Text("Then it stays."),),
    (ToolUse("AskUserQuestion", COLOURS),),
    (Text("Blue it is."),),
    (bash("touch again.txt"),),
    (Text("Done."),),
    (bash("touch again.txt"),),
    (Text("Done again."),),
)
"""What a model says to the page's five prompts, in its order."""

_ITEM = re.compile(
    r"^```(?P<kind>console|text desk|text claude)\n(?P<shown>.*?)^```$"
    r"|^- \*\*(?P<place>At the desk|In Claude Code)\*\* (?P<acts>[^.]*(?:`[^`]*`[^.`]*)*)\.$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Step:
    """One thing that the page says to do, or shows: `lines` of it, or (press or type, what)."""

    kind: str
    lines: tuple[str, ...] = ()
    acts: tuple[tuple[str, str], ...] = ()


def steps(text: str) -> Iterator[Step]:
    """Read a page: console blocks, shown screens, and what to press and type, in order."""
    for found in _ITEM.finditer(text):
        if found["kind"]:
            yield Step(found["kind"], tuple(found["shown"].splitlines()))
        else:
            acts = re.findall(r"\b(press|type) `([^`]+)`", found["acts"])
            yield Step(found["place"], acts=tuple(acts))


class Morning:
    """A person with the page in hand: an empty home, three terminals."""

    def __init__(self, agent: Claude, runtime: Path) -> None:
        self.agent, self.runtime = agent, runtime
        self.tried: list[str] = []
        self._environment = {
            "HOME": str(agent.home),
            "XDG_RUNTIME_DIR": str(runtime),
            "PATH": f"{Path(CRABHOOK).parent}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
        }
        self._places: dict[str, Terminal] = {}

    def close(self) -> None:
        if desk := self._places.get("At the desk"):
            desk.close()

    def take(self, step: Step) -> None:
        """Do what the page says, or see what it shows."""
        if step.kind == "console":
            self._console(step.lines)
        elif step.kind.startswith("text "):
            self._see(self._places[_SCREENS[step.kind]], step.lines)
        else:
            self._act(self._places[step.kind], step.acts)

    def _console(self, lines: tuple[str, ...]) -> None:
        blocks = re.split(r"^\$ ", "\n".join(lines), flags=re.MULTILINE)
        assert not blocks[0], "a console block begins with a command"
        for block in blocks[1:]:
            command, _, output = block.partition("\n")
            self.tried.append(command)
            if command == "crabhook":
                desk = Terminal(command.split(), self._environment, columns=110, rows=40)
                self._places["At the desk"] = desk
            elif command == "claude":
                claude = self.agent.terminal()
                claude.wait_for("\u276f")  # the prompt
                self._places["In Claude Code"] = claude
            elif command not in NOT_TRIED_HERE:
                self._run(command, output)

    def _run(self, command: str, output: str) -> None:
        done = subprocess.run(
            ["sh", "-c", command],
            env=self._environment,
            cwd=self.agent.home,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
        wanted = [like(self._here(line)) for line in output.splitlines() if line.strip()]
        pattern = r"\s*\n\s*".join(wanted)
        said = "\n".join(line for line in done.stdout.splitlines() if line.strip())
        assert re.fullmatch(rf"\s*{pattern}\s*", said, re.DOTALL), f"$ {command}\n{said}"

    def _see(self, terminal: Terminal, lines: tuple[str, ...]) -> None:
        """Wait until the screen has the lines, in this order, whatever stands between them."""
        wanted = re.compile(
            r"(?s:.*?)".join(like(self._here(line)) for line in lines if line.strip())
        )
        try:
            terminal.wait_for(lambda screen: wanted.search(screen) is not None)
        except AssertionError as error:
            raise AssertionError("\n".join(["the page shows", *lines, str(error)])) from None

    def _act(self, terminal: Terminal, acts: tuple[tuple[str, str], ...]) -> None:
        assert acts
        for what, text in acts:
            time.sleep(0.6)  # as a person, who looks first: the desk passes over quicker keys
            if what == "type":
                terminal.type(text)
                terminal.wait_for(text[-20:].strip())
            else:
                terminal.key(KEYS.get(text, text))

    def _here(self, shown: str) -> str:
        """Return a shown line with the folders of this home."""
        return shown.replace("/run/user/1000", str(self.runtime)).replace(
            "/home/you", str(self.agent.home)
        )


_SCREENS = {"text desk": "At the desk", "text claude": "In Claude Code"}


def test_the_first_morning_goes_as_its_page_says_word_by_word(claude: MakeClaude) -> None:
    text = PAGE.read_text(encoding="utf-8")
    with short_folder() as runtime:
        morning = Morning(claude(*MODEL), runtime)
        try:
            for step in steps(text):
                morning.take(step)
        finally:
            morning.close()
    assert (morning.agent.project / "hello.txt").exists()
    assert (morning.agent.project / "again.txt").exists()
    # Nothing that the page says to do was overlooked.
    assert morning.tried == re.findall(r"^\$ (.*)$", text, re.MULTILINE)
    assert text.count("\n```") == 2 * sum(not step.acts for step in steps(text))
    told: list[Any] = [step for step in steps(text) if step.acts]
    assert len(told) == len(re.findall(r"^- \*\*(?:At|In) ", text, re.MULTILINE))
    assert sum(len(step.acts) for step in told) == len(re.findall(r"\b(?:press|type) `", text))
