"""The head says who asks, with what and where, and how an ended card ended."""

from __future__ import annotations

from crabhook.model.decision import Decision, Verdict
from crabhook.present.phrases import Clock
from crabhook.present.safe import safe
from crabhook.ui.full.panes.card import head_lines
from crabhook.ui.full.panes.rows import CardRow, title_of
from crabhook.ui.text.layout import Sheet, line_cells
from tests.support.sitting import Sitting


def head(sitting: Sitting, columns: int = 78) -> list[str]:
    lines = head_lines(CardRow(sitting.card), Sheet(columns, safe), Clock(sitting.desk.now(), 0))
    assert len(lines) == 2
    return ["".join(text for _, text in line) for line in lines]


def title(sitting: Sitting, columns: int) -> tuple[str, str]:
    """Return the words at the two ends of the card's upper edge."""
    clock = Clock(sitting.desk.now(), 0)
    left, right = title_of(CardRow(sitting.card), clock, safe, columns)
    return "".join(text for _, text in left), "".join(text for _, text in right)


def test_a_head_tells_whose_card_it_is_what_it_wants_and_how_long_it_waits() -> None:
    sitting = Sitting()
    sitting.ask(agent_id="a1b2c3d4", agent_type="Explore")
    assert title(sitting, 78) == ("#1 · Claude Code · api-server", "0 s · 10:00 left")
    assert title(sitting, 40) == ("#1 · Claude Code · api-server", "10:00 left")
    first, second = head(sitting)
    assert first.startswith("Run this command? ")
    assert first.endswith(" Explore·a1b2 · mode default")
    assert second == ""


def test_no_id_no_path_no_pid_and_no_events_name_is_on_a_card() -> None:
    sitting = Sitting(rows=60)
    sitting.ask()
    shown = sitting.text()
    hidden = ("3f1c0000", "/home/ann", "4242", "laptop", "PreToolUse", "session_id")
    assert not [one for one in hidden if one in shown]
    sitting.press("i")
    shown = sitting.text()
    assert not [one for one in hidden if one not in shown]


def test_an_ended_card_tells_how_and_why() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.leave(1)
    assert head(sitting)[1].strip().startswith("WITHDRAWN · ")


def test_a_decided_card_tells_what_was_said_and_whether_it_arrived() -> None:
    for whole, fate in ((True, "delivered"), (False, "NOT DELIVERED, the hook did not take it")):
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


def test_a_tool_whose_name_the_sentence_has_no_room_for_is_named_in_full() -> None:
    name = "mcp__plugin_supabase_supabase__run_statement_on_the_production_branch"
    sitting = Sitting(columns=80)
    sitting.ask(name, {"x": 1})
    shown = str.maketrans("", "", "│┆ \n")
    assert f"thetool,infull{name}" in sitting.text().translate(shown)
    sitting.press("i")
    assert f"tool_name:{name}" in sitting.text().translate(shown)


def test_a_tool_that_the_sentence_names_is_named_once() -> None:
    sitting = Sitting(columns=80)
    sitting.ask("mcp__github__create_issue", {"x": 1})
    assert "Use the tool create_issue of github?" in sitting.text()
    assert "in full" not in sitting.text()
