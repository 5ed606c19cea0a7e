"""Cells of events that are only observed: they come, nothing is printed, and the agent goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.conformance.cell import Cell, Drive, Fact, Undriven
from tests.conformance.cells.asking import ASKED
from tests.conformance.cells.session import COMPACTS, GREETS, then
from tests.conformance.facts import NOTHING_SAID, fired, shown, told_as_result, turns
from tests.conformance.steps import POINTER, heard, press, see, submit
from tests.support.claude import command_hook, hook_settings
from tests.support.turns import Text, ToolUse, bash

if TYPE_CHECKING:
    from tests.conformance.scene import Scene

SAID = (Text("All said."),)
NOWHERE = {"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}}
WATCHED = {"hooks": {"FileChanged": [{"matcher": "watched.txt", "hooks": [command_hook("true")]}]}}


def change_watched(scene: Scene) -> None:
    """Change the file that somebody else's hook makes Claude Code watch."""
    (scene.agent.project / "watched.txt").write_text("changed\n", encoding="utf-8")


def _observed(event: str, drive: Drive, *facts: Fact) -> Cell:
    return Cell(event, "observed", None, drive, (fired(event, "it came"), NOTHING_SAID, *facts))


WENT_ON = turns(1, "the session went on")
ADD_FOLDER = then(
    submit("/add-dir /tmp"),
    see("Enter to confirm"),
    press("Down", until=f"{POINTER} Yes"),
    press("Enter", until="Added"),
    heard("DirectoryAdded"),
)


def _tree(command: str) -> Drive:
    """Enter and leave a worktree that this hook is to make."""
    enter = ToolUse("EnterWorktree", {"name": "tree"})
    leave = ToolUse("ExitWorktree", {"action": "remove", "discard_changes": True})
    hook = hook_settings({"WorktreeCreate": [command_hook(command)]})
    return Drive(((enter,), (leave,), SAID), settings=hook)


CELLS: tuple[Cell | Undriven, ...] = (
    _observed(
        "StopFailure",
        replace(
            GREETS,
            settings=NOWHERE,
            environment={"CLAUDE_CODE_MAX_RETRIES": "0"},
            steps=(heard("StopFailure"),),
        ),
        turns(0, "the model could not be reached"),
    ),
    Undriven(
        "MessageDisplay",
        "observed",
        None,
        "crabhook does not register this event: it would start a process for every piece of a "
        "message, to learn nothing.",
    ),
    _observed(
        "Notification",
        replace(ASKED, steps=(*ASKED.steps, heard("Notification", seconds=60))),
        fired(
            "Notification",
            "of a dialog that stood open for some seconds",
            notification_type="permission_prompt",
        ),
    ),
    _observed("SessionEnd", GREETS),
    _observed("PostCompact", then(COMPACTS, heard("PostCompact"))),
    _observed("InstructionsLoaded", replace(GREETS, files={"CLAUDE.md": "Be kind.\n"}), WENT_ON),
    _observed(
        "CwdChanged",
        Drive(((bash("mkdir sub; cd sub"),), SAID)),
        shown("All said.", "the session went on"),
    ),
    _observed(
        "FileChanged",
        replace(
            then(change_watched, heard("FileChanged")),
            files={"watched.txt": "new\n"},
            settings=WATCHED,
        ),
    ),
    _observed("DirectoryAdded", ADD_FOLDER),
    Cell(
        "WorktreeCreate",
        "another hook that prints nothing, since crabhook does not register this event",
        None,
        _tree("true"),
        (
            told_as_result("returned no worktree path", "no worktree could be made"),
            fired("WorktreeCreate", "crabhook was not asked", 0),
        ),
    ),
    _observed(
        "WorktreeRemove",
        _tree("mkdir -p tree; cd tree; pwd"),
        told_as_result("Exited and removed worktree", "the worktree was removed"),
    ),
)
