"""The desk in a terminal: real keys into a pipe, real escape sequences out, a real broker behind."""

from __future__ import annotations

import asyncio
import io
import re
import shlex
import sys
import time
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.utils import get_cwidth

from crabhook.desk.commands import Command, Decide
from crabhook.desk.updates import Claimed, Update
from crabhook.model.actor import Operator
from crabhook.model.decision import Verdict
from crabhook.server.core.local_desk import LocalDesk
from crabhook.ui.full import app
from crabhook.ui.full.app import run
from crabhook.ui.options import Attention, CardKind, DeskOptions
from crabhook.ui.text.style import Theme
from tests.support.desk import PlayedDesk
from tests.support.sitting import CLIENT, QUESTIONS, call

QUICK = DeskOptions(arming_ms=0, take_back_ms=0)
OWN_SEQUENCES = re.compile(
    r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[=>]|[\r\n\x08]"  # what the terminal is told
)


class Output(Vt100_Output):
    """A terminal: what it was sent, what that left on its glass, and how often it was sent anything."""

    def __init__(self, columns: int, rows: int) -> None:
        self.sent = io.StringIO()
        self.pictures = 0
        self._glass = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0
        super().__init__(
            self.sent, lambda: Size(rows, columns), term="xterm-256color", enable_cpr=False
        )

    def glass(self) -> str:
        return "\n".join("".join(row) for row in self._glass)

    def flush(self) -> None:
        self.pictures += 1
        super().flush()

    def write(self, data: str) -> None:
        super().write(data)
        for letter in data:
            if letter == "\n":
                self._row += 1
            elif letter == "\r":
                self._column = 0
            else:
                self._put(letter)

    def _put(self, letter: str) -> None:
        row = self._glass[self._row]
        wide = get_cwidth(letter)
        if self._column < len(row):
            row[self._column : self._column + wide] = [letter, *[""] * (wide - 1)]
        self._column += wide

    def cursor_up(self, amount: int) -> None:
        super().cursor_up(amount)
        self._row -= amount

    def cursor_forward(self, amount: int) -> None:
        super().cursor_forward(amount)
        self._column += amount

    def cursor_backward(self, amount: int) -> None:
        super().cursor_backward(amount)
        self._column -= amount

    def erase_end_of_line(self) -> None:
        super().erase_end_of_line()
        row = self._glass[self._row]
        row[self._column :] = [" "] * (len(row) - self._column)


class Terminal:
    """An operator's terminal with the desk in it."""

    def __init__(self, pipe: PipeInput, columns: int = 80, rows: int = 24) -> None:
        self.pipe = pipe
        self.output = Output(columns, rows)
        self.desk = PlayedDesk(time.monotonic)

    def press(self, keys: str) -> None:
        self.pipe.send_text(keys)

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(60):
            while not condition():  # noqa: ASYNC110 - what a terminal was sent has no event
                await asyncio.sleep(0.005)

    async def shows(self, text: str) -> None:
        """Wait until a text is on the glass."""
        await self.until(lambda: text in self.output.glass())

    async def armed(self) -> None:
        """Wait until the mark beside the selected card is full: keys may decide it."""
        await self.shows("▸")

    def ask(self, command: str = "ls -l", **fields: Any) -> str:
        return self.desk.ask(call(tool_input={"command": command}, **fields), origin=CLIENT)

    def verdicts(self) -> list[Verdict]:
        return [decision.verdict for _, decision in self.desk.decided]


@asynccontextmanager
async def at_the_desk(
    options: DeskOptions = QUICK, columns: int = 80, rows: int = 24
) -> AsyncIterator[Terminal]:
    with create_pipe_input() as pipe:
        terminal = Terminal(pipe, columns, rows)
        running = asyncio.ensure_future(
            run(terminal.desk, options=options, title="here", input=pipe, output=terminal.output)
        )
        try:
            await terminal.shows("Nothing needs you")
            yield terminal
        finally:
            if not running.done():
                pipe.send_text("\x03\x03")
            async with asyncio.timeout(60):
                await running
        assert not terminal.desk.watched


@contextmanager
def nothing_left() -> Iterator[None]:
    before = asyncio.all_tasks()
    yield
    assert asyncio.all_tasks() == before


async def test_a_key_in_the_terminal_decides_a_real_request() -> None:
    async with at_the_desk() as terminal:
        terminal.ask("make all")
        await terminal.shows("make all")
        await terminal.armed()
        terminal.press("a")
        await terminal.until(lambda: terminal.desk.decided)
        await terminal.shows("ALLOWED")
    assert terminal.verdicts() == [Verdict.ALLOW]


async def test_keys_before_arming_do_nothing_whatever_their_number() -> None:
    async with at_the_desk(DeskOptions(arming_ms=60_000)) as terminal:
        terminal.ask()
        await terminal.shows("ls -l")
        terminal.press("a")
        await terminal.shows("only just come into view")
        terminal.press("hpahp\x03")
        await terminal.shows("Ctrl-C again")
    assert not terminal.desk.decided


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys",
    [
        "\x1ba",  # Alt-a
        "\x1b[a",  # Shift-Up of some terminals
        "\x1bOa",  # Ctrl-Up of others
        "\x1b[200~a\rp\x1b[201~",  # a paste
        "\x1b[<0;97;10M",  # a report of a mouse
        "\x1b[97;5u",  # Ctrl-a of a terminal that speaks another protocol
        "\x01\x04\x10",  # Ctrl-a, Ctrl-d, Ctrl-p
        "A",
    ],
)
async def test_what_is_no_plain_key_decides_nothing(keys: str) -> None:
    async with at_the_desk() as terminal:
        terminal.ask("make all")
        await terminal.armed()
        terminal.press(keys)
        await asyncio.sleep(0.3)  # longer than letters behind an escape are swallowed
        terminal.press("\x03")
        await terminal.shows("Ctrl-C again")
        assert not terminal.desk.decided


async def test_a_reason_is_typed_and_sent_in_any_script() -> None:
    async with at_the_desk() as terminal:
        terminal.ask()
        await terminal.armed()
        terminal.press("d")
        await terminal.shows("the model reads why")
        terminal.press("nein, 日本\x1b[200~ pasted\nlines\x1b[201~\r")
        await terminal.until(lambda: terminal.desk.decided)
    ((_, decision),) = terminal.desk.decided
    assert decision.reason == "nein, 日本 pasted lines"


async def test_questions_are_answered_in_the_terminal() -> None:
    async with at_the_desk(rows=40) as terminal:
        terminal.desk.ask(call("AskUserQuestion", QUESTIONS))
        await terminal.shows("Which library?")
        await terminal.armed()
        terminal.press("2\r13\r")
        await terminal.shows("these answers will be sent")
        await asyncio.sleep(0.05)  # the review arms as a card does
        terminal.press("\r")
        await terminal.until(lambda: terminal.desk.decided)
    ((_, decision),) = terminal.desk.decided
    assert decision.updated_input is not None
    assert decision.updated_input["answers"] == {
        "Which library?": "pydantic",
        "Which features?": "Retry, Cache",
    }


async def test_a_held_allow_is_sent_by_time_alone() -> None:
    async with at_the_desk(DeskOptions(arming_ms=0, take_back_ms=150)) as terminal:
        terminal.ask()
        await terminal.armed()
        terminal.press("a")
        await terminal.shows("u takes it back")
        await terminal.until(lambda: terminal.desk.decided)
    assert terminal.verdicts() == [Verdict.ALLOW]


async def test_quitting_sends_nothing_that_was_held() -> None:
    async with at_the_desk(DeskOptions(arming_ms=0, take_back_ms=60_000)) as terminal:
        terminal.ask()
        await terminal.armed()
        terminal.press("a")
        await terminal.shows("u takes it back")
        terminal.press("\x03")
        await terminal.shows("Ctrl-C again to quit")
        terminal.press("\x03")
    assert not terminal.desk.decided


async def test_a_request_that_leaves_while_typing_takes_the_line_with_it() -> None:
    async with at_the_desk() as terminal:
        name = terminal.ask()
        await terminal.armed()
        terminal.press("dno")
        await terminal.shows("the model reads why")
        terminal.desk.leave(name)
        await terminal.shows("has ended")
        terminal.press("\r")
        await terminal.shows("nothing was sent")
    assert not terminal.desk.decided


async def test_other_desks_are_told_of_the_card_where_the_cursor_rests_not_of_those_it_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[tuple[int, bool]] = []
    monkeypatch.setattr(app, "CLAIM_AFTER", 60.0)  # however slow the machine is, it passes these
    async with at_the_desk() as terminal:
        bob = LocalDesk(terminal.desk.runner, Operator("bob", "Bob", "laptop"))

        def on_update(update: Update) -> None:
            if isinstance(update.news, Claimed):
                told.append((update.news.card, bool(update.news.by)))

        bob.subscribe(on_update)
        for command in ("one", "two", "three"):
            terminal.ask(command)
        await terminal.shows("├ #1 ")
        terminal.press("j")
        await terminal.shows("├ #2 ")
        monkeypatch.setattr(app, "CLAIM_AFTER", 0.1)
        terminal.press("j")
        await terminal.until(lambda: told)
    assert told[0] == (3, True)


async def test_hostile_text_reaches_the_terminal_only_as_marks() -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07\x9b31m\x08\r\u202e\u2066\u200b\ufeff\x7f\x00"
    async with at_the_desk(columns=240, rows=60) as terminal:
        terminal.desk.ask(
            call(
                f"T{hostile}",
                {"command": hostile, hostile: [hostile, {hostile: hostile}]},
                cwd=f"/{hostile}",
                session_id=hostile,
                permission_mode=hostile,
                agent_id=hostile,
                agent_type=hostile,
            )
        )
        terminal.desk.ask({"hook_event_name": f"E{hostile}", "session_id": hostile, "cwd": hostile})
        await terminal.shows("⟨U+202E⟩")
        await terminal.armed()
        terminal.press("\r")
        await terminal.shows("esc queue")
    left = OWN_SEQUENCES.sub("", terminal.output.sent.getvalue())
    bad = {letter for letter in left if unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Co"}}
    assert not bad
    assert "owned" not in "".join(
        re.findall(r"\x1b\][^\x07]*\x07", terminal.output.sent.getvalue())
    )


async def test_a_burst_of_requests_costs_few_pictures() -> None:
    async with at_the_desk() as terminal:
        before = terminal.output.pictures
        for number in range(1000):
            terminal.ask(session_id=f"s{number}")
        await terminal.shows("991 more below")
        assert terminal.output.pictures - before < 100


@pytest.mark.parametrize(("columns", "rows"), [(40, 10), (10, 3), (200, 60)])
async def test_the_desk_runs_at_any_size(columns: int, rows: int) -> None:
    with create_pipe_input() as pipe:
        terminal = Terminal(pipe, columns, rows)
        terminal.ask()
        running = asyncio.ensure_future(
            run(terminal.desk, options=QUICK, input=pipe, output=terminal.output)
        )
        await terminal.until(lambda: terminal.output.pictures > 1)
        pipe.send_text("\x03\x03")
        async with asyncio.timeout(60):
            await running


async def test_without_colour_no_colour_is_written() -> None:
    async with at_the_desk(DeskOptions(arming_ms=0, take_back_ms=0, theme=Theme.MONO)) as terminal:
        terminal.ask("for f in *; do echo 'x'; done")
        await terminal.shows("done")
        await terminal.armed()
    looks = re.findall(r"\x1b\[([0-9;]*)m", terminal.output.sent.getvalue())
    codes = {int(code) for look in looks for code in look.split(";") if code}
    assert codes <= {0, 1, 3, 4, 7, 9}


async def test_a_desk_that_is_cancelled_leaves_nothing_behind() -> None:
    with nothing_left(), create_pipe_input() as pipe:
        terminal = Terminal(pipe)
        running = asyncio.ensure_future(
            run(terminal.desk, options=QUICK, input=pipe, output=terminal.output)
        )
        await terminal.shows("Nothing needs you")
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert not terminal.desk.watched
        assert "\x1b[?1049l" in terminal.output.sent.getvalue()  # the terminal is as it was


@pytest.mark.process
async def test_a_command_is_edited_in_the_operators_own_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "editor.py"
    program.write_text("import sys\nopen(sys.argv[1], 'a').write(' && echo from outside')\n")
    monkeypatch.setenv("EDITOR", shlex.join([sys.executable, str(program)]))
    monkeypatch.delenv("VISUAL", raising=False)
    async with at_the_desk() as terminal:
        terminal.ask("make all")
        await terminal.armed()
        terminal.press("e")
        await terminal.shows("see the change")
        terminal.press("\x18\x05")  # Ctrl-X Ctrl-E
        await terminal.shows("from outside")
        terminal.press("\x13")  # Ctrl-S
        await terminal.shows("+ make all && echo from outside")
        await asyncio.sleep(0.05)  # the difference arms as a card does
        terminal.press("\r")
        await terminal.until(lambda: terminal.desk.decided)
    ((_, decision),) = terminal.desk.decided
    assert decision.updated_input == {"command": "make all && echo from outside"}


@pytest.mark.process
async def test_an_editor_that_fails_is_said_and_the_desk_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VISUAL", "/no-such-editor")
    async with at_the_desk() as terminal:
        terminal.ask("make all")
        await terminal.armed()
        terminal.press("d")
        await terminal.shows("the model reads why")
        terminal.press("no\x0f")  # Ctrl-O
        await terminal.shows("cannot be started")
        terminal.press(" way\r")
        await terminal.until(lambda: terminal.desk.decided)
    ((_, decision),) = terminal.desk.decided
    assert decision.reason == "no way"


@pytest.mark.process
async def test_agents_are_served_while_the_operators_editor_is_open_and_it_ends_with_the_desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", f"{shlex.quote(sys.executable)} -c 'import time; time.sleep(60)'")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with create_pipe_input() as pipe:
        terminal = Terminal(pipe)
        terminal.ask("make all")
        running = asyncio.ensure_future(
            run(terminal.desk, options=QUICK, input=pipe, output=terminal.output)
        )
        await terminal.armed()
        terminal.press("e")
        await terminal.shows("see the change")
        terminal.press("\x0f")
        await terminal.until(lambda: list(tmp_path.iterdir()))
        terminal.ask("another", session_id="b")
        assert len(terminal.desk.waiting()) == 2
        running.cancel()
        async with asyncio.timeout(60):
            await asyncio.gather(running, return_exceptions=True)
        await terminal.until(lambda: not list(tmp_path.iterdir()))


async def test_pasted_lines_are_lines_in_the_editor_alone() -> None:
    async with at_the_desk() as terminal:
        terminal.ask("make all")
        await terminal.armed()
        terminal.press("e")
        await terminal.shows("see the change")
        terminal.press("\x1b[200~one\ntwo \x1b[201~\x13")
        await terminal.shows("+ two ")
    assert not terminal.desk.decided


async def test_a_bell_rings_for_a_request_and_the_title_counts_it() -> None:
    every = frozenset(CardKind)
    attention = Attention(bell=every, title=every)
    options = DeskOptions(arming_ms=0, take_back_ms=0, attention=attention)
    async with at_the_desk(options) as terminal:
        terminal.ask()
        await terminal.armed()
        await terminal.until(
            lambda: (
                "crabhook (1)\x07\x07" in terminal.output.sent.getvalue()
                or "\x07\x1b]2;crabhook (1)\x07" in terminal.output.sent.getvalue()
            )
        )
    assert terminal.output.sent.getvalue().count("\x1b[23;2t") == 1


class BrokenDesk(PlayedDesk):
    """A desk that has a fault of its own when something is decided."""

    def submit(self, command: Command) -> None:
        if isinstance(command, Decide):
            raise OSError("the disk is full")
        super().submit(command)


async def test_a_desk_that_fails_behind_a_held_answer_ends_with_its_error() -> None:
    with create_pipe_input() as pipe:
        terminal = Terminal(pipe)
        terminal.desk = BrokenDesk(time.monotonic)
        terminal.ask()
        options = DeskOptions(arming_ms=0, take_back_ms=1)
        running = asyncio.ensure_future(
            run(terminal.desk, options=options, input=pipe, output=terminal.output)
        )
        await terminal.armed()
        terminal.press("a")
        with pytest.raises(OSError, match="disk is full"):
            await running
        assert not terminal.desk.watched


async def test_a_click_selects_a_card_the_wheel_scrolls_and_y_copies_by_osc_52() -> None:
    async with at_the_desk(QUICK) as terminal:
        terminal.ask("make one", session_id="a")
        terminal.ask("make two", session_id="b")
        await terminal.shows("make two")
        terminal.press("\x1b[<0;9;4M\x1b[<0;9;4m")  # pressed and let go on the second card's row
        await terminal.shows("├ #2 ")
        terminal.press("\x1b[<65;9;4M\x1b[<64;9;12M")  # the wheel, down and up
        terminal.press("y")
        await terminal.shows("copied as it was sent: 8 letters")
        assert "\x1b]52;c;bWFrZSB0d28=\x07" in terminal.output.sent.getvalue()
        assert not terminal.verdicts()
