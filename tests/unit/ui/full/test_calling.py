"""Calling a person: what reaches the terminal and which program runs, and that it ends with us."""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output

from crabhook.ui.full.notify import Notifier
from crabhook.ui.options import APART, Attention, CardKind
from tests.support.sitting import Sitting

EVERY = frozenset(CardKind)


class Called:
    """A screen, and what its terminal was sent to call a person."""

    def __init__(self, **attention: Any) -> None:
        self.sitting = Sitting(attention=Attention(**attention))
        self.written = io.StringIO()
        output = Vt100_Output(self.written, lambda: Size(24, 80), term="xterm", enable_cpr=False)
        self.caller = Notifier(self.sitting.screen, output)

    def sent(self) -> str:
        self.caller.call()
        text = self.written.getvalue()
        self.written.seek(0)
        self.written.truncate()
        return text


async def test_a_bell_rings_for_a_new_card_and_not_again() -> None:
    called = Called(bell=EVERY)
    assert called.sent() == ""
    called.sitting.ask()
    assert called.sent() == "\x07"
    assert called.sent() == ""


async def test_who_types_hears_nothing() -> None:
    called = Called(bell=EVERY, notify=EVERY)
    called.sitting.press("j")
    called.sitting.ask()
    assert called.sent() == ""
    called.sitting.desk.pass_time(60)
    assert "\x07" in called.sent()


async def test_a_notification_is_sent_in_the_sequence_that_was_set() -> None:
    called = Called(notify=EVERY, sequence="osc777")
    called.sitting.ask()
    assert "\x1b]777;notify;crabhook;" in called.sent()


async def test_the_title_is_kept_true_and_given_back() -> None:
    called = Called(title=EVERY)
    assert "\x1b]2;crabhook\x07" in called.sent()
    called.sitting.ask()
    assert called.sent() == "\x1b]2;crabhook (1)\x07"
    assert called.sent() == ""
    called.sitting.leave(1)
    assert "\x1b]2;crabhook\x07" in called.sent()
    await called.caller.close()
    assert called.written.getvalue().endswith("\x1b[23;2t")


async def test_without_a_wish_to_be_called_the_terminal_is_left_alone() -> None:
    called = Called()
    called.sitting.ask()
    assert called.sent() == ""
    await called.caller.close()
    assert called.written.getvalue() == ""


@pytest.mark.process
async def test_a_program_is_run_with_what_it_may_know(tmp_path: Path) -> None:
    found = tmp_path / "found"
    code = f"import os; open({str(found)!r}, 'w').write(os.environ['CRABHOOK_KIND'])"
    called = Called(command=EVERY, program=(sys.executable, "-c", code))
    called.sitting.ask()
    called.sent()
    async with asyncio.timeout(60):
        while not (found.exists() and found.read_text()):  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0.01)
    assert found.read_text() == "call"
    await called.caller.close()


@pytest.mark.process
async def test_a_program_that_goes_on_is_ended_with_the_desk() -> None:
    called = Called(command=EVERY, program=(sys.executable, "-c", "import time; time.sleep(60)"))
    called.sitting.ask()
    called.sent()
    await asyncio.sleep(0.05)
    async with asyncio.timeout(60):
        await called.caller.close()
    assert len(called.caller._programs) == 0


async def test_only_so_many_programs_run_at_once() -> None:
    called = Called(command=EVERY, program=(sys.executable, "-c", "import time; time.sleep(60)"))
    for number in range(8):
        called.sitting.ask(session_id=f"s{number}")
        called.sitting.desk.pass_time(APART)
        called.sent()
    assert len(called.caller._programs) == 4
    async with asyncio.timeout(60):
        await called.caller.close()


@pytest.mark.process
async def test_a_program_that_is_not_there_is_said() -> None:
    called = Called(command=EVERY, program=("/no-such-program",))
    called.sitting.ask()
    called.sent()
    async with asyncio.timeout(60):
        while "cannot be started" not in called.sitting.screen.notice.text:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await called.caller.close()
