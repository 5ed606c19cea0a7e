"""Two terminals, as a person has them: Claude Code in one, the operator's full screen in the other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_claude_code import QUESTIONS, everything, install
from tests.e2e.test_steering import ALLOWED, TASK, WAITS
from tests.support.plain_desk import CRABHOOK
from tests.support.terminal import Terminal
from tests.support.turns import Script, Text, ToolUse, bash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import MakeClaude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


class Screen(Terminal):
    """`crabhook serve` on a full screen of its own."""

    def __init__(self, columns: int, rows: int) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="crabhook-screen-", dir="/tmp"))
        self.address = f"unix:{self.home}/s"
        self.environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.home)}
        super().__init__(
            [CRABHOOK, "serve", "--listen", self.address],
            self.environment,
            columns=columns,
            rows=rows,
        )
        self.wait_for("0 waiting")

    def record(self) -> str:
        """What is on record, as people read it."""
        told = [CRABHOOK, "log"]
        done = subprocess.run(
            told, env=self.environment, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout

    def wait_for_record(self, pattern: str, seconds: float = 60) -> None:
        """Wait until `pattern` is on record."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, shown := self.record()):
            assert time.monotonic() < deadline, f"{pattern!r} is not on record:\n{shown}"
            time.sleep(0.5)

    def close(self) -> None:
        super().close()
        shutil.rmtree(self.home, ignore_errors=True)


def as_a_person() -> None:
    """Look before the next key: one right behind others counts as pasted."""
    time.sleep(0.7)


@pytest.fixture(params=[(80, 24), (200, 60)], ids=["80x24", "200x60"])
def screen(request: pytest.FixtureRequest) -> Iterator[Screen]:
    screen = Screen(*request.param)
    try:
        yield screen
    finally:
        screen.close()


def test_a_command_is_allowed_with_one_key(claude: MakeClaude, screen: Screen) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),))
    install(agent, screen.address, gate=True)
    terminal = agent.terminal("make a file")
    screen.wait_for("touch made")
    screen.press("a", until="TAKE BACK")
    screen.wait_for("delivered")
    terminal.wait_for("It is made.")
    assert (agent.project / "made").exists()


def test_an_allow_taken_back_was_never_given(claude: MakeClaude, screen: Screen) -> None:
    agent = claude((bash("touch made"),), (Text("Understood."),))
    install(agent, screen.address, gate=True)
    terminal = agent.terminal("make a file")
    screen.wait_for("touch made")
    screen.press("a", until="TAKE BACK")
    screen.key("u")
    screen.wait_for(lambda shown: "TAKE BACK" not in shown)
    screen.press("d", until="deny #1")
    screen.type("write it with the Write tool")
    screen.wait_for("write it with the Write tool")
    screen.press("Enter", until=lambda shown: "deny #1" not in shown)
    terminal.wait_for("Understood.")
    assert not (agent.project / "made").exists()
    told = [result for request in agent.requests() for result in request.tool_results()]
    assert any("write it with the Write tool" in result for result in told)


def test_questions_are_answered_on_the_screen(claude: MakeClaude, screen: Screen) -> None:
    agent = claude((ToolUse("AskUserQuestion", QUESTIONS),), (Text("Thank you."),))
    install(agent, screen.address, gate=True)
    terminal = agent.terminal("ask me")
    screen.wait_for("Red, green")
    screen.press("1", until="[x] 1")
    screen.key("2")
    screen.wait_for("[x] 2")
    as_a_person()
    screen.key("Enter")
    screen.wait_for("What is it called?")
    screen.press("o", until="in your own words")
    screen.type("Scuttle, the 2nd")
    screen.wait_for("in your own words: Scuttle, the 2nd")
    screen.press("Enter", until="these answers will be sent")
    screen.wait_for("Scuttle, the 2nd")
    screen.press("Enter", until=lambda shown: "TAKE BACK" in shown or "ANSWERED" in shown)
    terminal.wait_for("Thank you.")
    told = "\n".join(agent.requests()[-1].tool_results()).replace("\\", "")
    assert '"Which colours shall it have?"=""Red, green", Blue"' in told
    assert '"What is it called?"="Scuttle, the 2nd"' in told


def test_a_rule_from_a_card_spares_the_next_one(claude: MakeClaude, screen: Screen) -> None:
    agent = claude((bash("touch made"),), (bash("touch made"),), (Text("It is made twice."),))
    install(agent, screen.address, gate=True)
    terminal = agent.terminal("make a file, twice")
    screen.wait_for("touch made")
    screen.press("A", until="exactly `touch made`, in this project")
    screen.press("2", until=lambda shown: "TAKE BACK" in shown or "from now on" in shown)
    terminal.wait_for("It is made twice.")
    assert (agent.project / "made").exists()
    written = (screen.home / ".config" / "crabhook" / "rules.toml").read_text(encoding="utf-8")
    assert written.count("[[rule]]") == 1
    assert 'match = "Bash(touch made)"' in written
    assert "#2" not in screen.screen()  # the second call had no card


def test_a_danger_is_allowed_by_a_second_yes_alone(claude: MakeClaude, screen: Screen) -> None:
    pushes = "git push --force nowhere; touch made"
    agent = claude((bash(pushes),), (Text("It is pushed."),))
    install(agent, screen.address, gate=True)
    terminal = agent.terminal("push it")
    screen.wait_for("▲▲")
    screen.press("a", until="enter allows it · esc goes back")
    assert "FORCE" in screen.screen().partition("enter allows it")[0].rpartition("\n")[2]
    screen.key("a", "y", "Space", "Down")
    as_a_person()
    assert "enter allows it" in screen.screen()
    screen.press("Escape", until=lambda shown: "enter allows it" not in shown)
    assert "TAKE BACK" not in screen.screen()
    assert not (agent.project / "made").exists()
    screen.press("a", until="enter allows it · esc goes back")
    screen.press("Enter", until="TAKE BACK")
    screen.wait_for(re.compile("ALLOW in [3-5] s").search)  # a danger is held for longer
    assert not (agent.project / "made").exists()
    screen.wait_for("delivered")
    terminal.wait_for("It is pushed.")
    assert (agent.project / "made").exists()


def test_a_call_that_is_edited_is_shown_run_and_on_record_as_edited(
    claude: MakeClaude, screen: Screen
) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),))
    install(agent, screen.address, gate=True)
    terminal = agent.terminal("make a file")
    screen.wait_for("touch made")
    screen.press("e", until="see the change")
    screen.key("End", "C-u")
    screen.wait_for(lambda shown: "│ touch made" not in shown.partition("this command?")[2])
    screen.type("touch other")
    screen.wait_for("│ touch other")
    screen.press("C-s", until="+ touch other")
    as_a_person()
    held = screen.press("Enter", until="TAKE BACK").partition("this command?")[2]
    assert "edited: to be allowed as it is here" in held
    assert held.index("│ touch other") < held.index("│ - touch made")
    screen.wait_for("delivered")
    shown = screen.screen()
    card = shown.partition("this command?")[2]
    assert re.search(r"#1 .*touch other .*ALLOWED edited", shown)  # in the queue
    assert "│ touch other" in card
    assert "ALLOWED edited: touch other" in card  # in the feed
    assert card.count("touch made") == 1
    assert "│ - touch made" in card[card.index("what was changed") :]
    terminal.wait_for("It is made.")
    assert [path.name for path in agent.project.iterdir()] == ["other"]
    (line,) = (line for line in screen.record().splitlines() if "#1" in line)
    assert "touch other" in line
    screen.press("i", until="touch made")  # what was asked is a key away


@pytest.mark.thorough
def test_a_file_is_edited_in_real_lines_before_it_is_written(
    claude: MakeClaude, screen: Screen, tmp_path: Path
) -> None:
    file = tmp_path / "made.py"
    write = ToolUse("Write", {"file_path": str(file), "content": "one\n\ttwo\n"})
    agent = claude((write,), (Text("It is written."),))
    install(agent, screen.address, gate=True)
    terminal = agent.terminal("write a file")
    screen.wait_for("made.py")
    screen.press("e", until="only the new text is edited here")
    screen.key("C-Home")  # it begins behind the last letter
    screen.type("zero")
    screen.wait_for("│ zeroone")
    screen.key("Enter")
    screen.wait_for(lambda shown: "│ zeroone" not in shown)
    as_a_person()
    screen.press("C-s", until="the new text as it will be sent")
    as_a_person()
    shown = screen.press("Enter", until=lambda seen: "TAKE BACK" in seen or "goes back" in seen)
    if "TAKE BACK" not in shown:  # outside of the agent's folder
        as_a_person()
        shown = screen.press("Enter", until="TAKE BACK")
    assert "│ + zero" in shown
    terminal.wait_for("It is written.")
    assert file.read_text(encoding="utf-8") == "zero\none\n\ttwo\n"


def test_a_session_is_told_a_note_and_a_subagent_stopped_without_a_card(
    claude: MakeClaude, screen: Screen
) -> None:
    looks = ((bash(WAITS),), (bash("touch made"),), (Text("I looked."),))
    mine = bash(f"{WAITS.replace('go', 'on')}; touch mine")
    turns = ((ToolUse("Agent", TASK),), (mine,), (Text("All told."),))
    agent = claude(script=Script(turns, subagents={"SUB": looks}))
    install(agent, screen.address, gate=False)
    terminal = agent.terminal("Send somebody.", extra_args=ALLOWED)
    screen.press("S", until="1 live")
    screen.wait_for("general-purpose")
    for row, words, answer in (
        ("note to its main agent", "use the blue one", "waits for the agent's next call"),
        ("stop this subagent", "no more looking", "this subagent stops at its next call"),
    ):
        screen.key("Enter")  # once: another would choose the first row of a list that came late
        shown = screen.wait_for(row)
        (digit,) = re.findall(rf"(\d) {row}", shown)
        as_a_person()
        screen.key(digit)
        screen.wait_for(lambda seen, row=row: row not in seen)
        screen.type(words)
        screen.wait_for(words)
        as_a_person()
        screen.key("Enter")  # once: another would open the session's list again
        screen.wait_for(answer)
    for go in ("go", "on"):
        (agent.project / go).touch()
    terminal.wait_for("All told.")
    screen.wait_for("use the blue one · delivered with PostToolUse Bash")
    # The main agent does not wait for the subagent, whose next call may be yet to come.
    screen.wait_for_record(r"deny +Bash +touch made")
    assert not (agent.project / "made").exists()
    assert (agent.project / "mine").exists()
    texts = "\n".join(text for one in agent.requests() for text in everything(one.body))
    assert "Note from the operator: use the blue one" in texts
