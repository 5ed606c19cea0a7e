"""A record on the disk for the commands that read it: decisions written as the server writes them."""

from pathlib import Path

from crabhook.model.actor import OWNER, Actor, Operator
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.store import entries
from crabhook.store.change import happened
from crabhook.store.opening import open_writer
from crabhook.store.record import Entry

NOON = 1_767_960_000.0  # 2026-01-09T12:00:00Z


def decided(
    command: str,
    verdict: str = "allow",
    *,
    by: Actor = OWNER,
    cwd: str = "/srv/shop",
    at: float = NOON,
    session: str = "s1",
    edited: str = "",
    tool: str = "Bash",
) -> Entry:
    """The record of what became of a shell command."""
    event = Event("claude", "PreToolUse", session, cwd, tool=ToolCall(tool, {"command": command}))
    updated = {"command": edited} if edited else None
    decided = Decided(Decision(Verdict(verdict), updated_input=updated), by)
    card = 7 if isinstance(by, Operator) else None
    return entries.decided(event, decided, at, legs=["r1"], waited=2.0, card=card)


def write(folder: Path, *kept: Entry) -> None:
    store = open_writer(folder)
    store.write([happened(*kept)])
    store.close()
