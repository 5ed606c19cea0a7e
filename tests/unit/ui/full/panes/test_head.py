"""The head says who asks, with what and where, and how an ended card ended."""

from __future__ import annotations

from crabhook.model.decision import Decision, Verdict
from crabhook.ui.full.panes.card import head_lines
from crabhook.ui.full.panes.rows import CardRow
from crabhook.ui.text.clock import Clock
from crabhook.ui.text.layout import Sheet, line_cells
from crabhook.ui.text.safe import safe
from tests.support.sitting import Sitting, call


def head(sitting: Sitting, columns: int = 78) -> list[str]:
    lines = head_lines(CardRow(sitting.card), Sheet(columns, safe), Clock(sitting.desk.now(), 0))
    assert len(lines) == 2
    return ["".join(text for _, text in line) for line in lines]


def test_a_head_tells_number_tool_event_session_and_mode_folder_agent_and_client() -> None:
    sitting = Sitting()
    sitting.ask()
    first, second = head(sitting)
    assert first.startswith("#1  Bash · PreToolUse")
    assert first.endswith("3f1c0000 · default")
    assert second.startswith("    /home/ann/api-server")
    assert second.endswith("main · ann@laptop pid 4242")


def test_every_leg_is_named() -> None:
    sitting = Sitting()
    sitting.ask(tool_use_id="t1")
    sitting.desk.ask(call(hook_event_name="PermissionRequest", tool_use_id="t1"))
    assert "PreToolUse → PermissionRequest" in head(sitting)[0]


def test_an_ended_card_tells_how_and_why() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.leave(1)
    assert head(sitting)[1].strip().startswith("WITHDRAWN · ")


def test_a_decided_card_tells_what_was_said_and_whether_it_arrived() -> None:
    for whole, fate in ((True, "delivered"), (False, "NOT DELIVERED, the hook had gone")):
        sitting = Sitting()
        sitting.ask()
        name = sitting.card.requests[0].id
        sitting.desk.answer(1, Decision(Verdict.DENY, reason="not here"))
        assert head(sitting)[1].strip() == "DENIED · not here"
        sitting.desk.deliver(name, whole=whole)
        assert head(sitting)[1].strip() == f"DENIED · not here · {fate}"


def test_a_head_never_shifts_what_stands_below_it() -> None:
    sitting = Sitting()
    sitting.ask(cwd="/very" * 100, permission_mode="x" * 100, agent_id="a", agent_type="y" * 200)
    for columns in (20, 40, 200):
        lines = head_lines(CardRow(sitting.card), Sheet(columns, safe), Clock(0, 0))
        assert len(lines) == 2
        assert all(line_cells(line) <= columns for line in lines)
