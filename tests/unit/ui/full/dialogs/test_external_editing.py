"""What is done outside of the screen is done once, and only when the screen asks for it."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest
from prompt_toolkit.application import Application, create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from crabhook.ui.full.dialogs.external_editor import ExternalEditing
from tests.support.sitting import Sitting


def editing() -> Sitting:
    sitting = Sitting()
    sitting.ask()
    sitting.wait()
    sitting.press("e")
    return sitting


async def run(sitting: Sitting) -> None:
    """Do what the screen asks for within an application, to its end."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        application: Application[None] = Application()
        editing = ExternalEditing(sitting.screen.say)

        def look() -> None:
            if (errand := sitting.controller.take_errand()) is not None:
                editing.begin(errand, application)
            application.create_background_task(leave())

        async def leave() -> None:
            for task in [
                one for one in application._background_tasks if one.get_coro().__name__ == "_edit"
            ]:  # type: ignore[union-attr]
                await task
            application.exit()

        await application.run_async(pre_run=look)


@pytest.mark.process
async def test_what_the_editor_leaves_is_in_the_screens_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "editor.py"
    program.write_text("import sys\nopen(sys.argv[1], 'a').write(' /tmp')\n")
    monkeypatch.setitem(os.environ, "VISUAL", shlex.join([sys.executable, str(program)]))
    sitting = editing()
    sitting.press("c-o")
    await run(sitting)
    assert sitting.edit is not None
    assert sitting.edit.editor.text == "ls -l /tmp"
    assert sitting.controller.take_errand() is None


async def test_an_editor_that_cannot_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "VISUAL", "'vi")
    sitting = editing()
    sitting.press("c-o")
    await run(sitting)
    assert "$VISUAL cannot be read" in sitting.screen.notice.text


async def test_where_nothing_is_asked_nothing_is_begun() -> None:
    sitting = editing()
    await run(sitting)
    assert sitting.screen.notice.text == ""
    ExternalEditing(sitting.screen.say).stop()  # with nothing open it does no harm


@pytest.mark.process
async def test_what_comes_back_into_view_arms_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "VISUAL", f"{shlex.quote(sys.executable)} -c pass")
    sitting = Sitting(take_back_ms=0)
    sitting.ask()
    sitting.wait()
    sitting.press("d", "c-o")
    await run(sitting)
    sitting.press("escape")
    sitting.desk.pass_time(0.2)
    sitting.press("a")
    assert not sitting.decided()
