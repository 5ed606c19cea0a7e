"""An agent's last words and what was decided before stand around a request, found once."""

from __future__ import annotations

from typing import Any

import pytest

from crabhook.model.decision import Decision, Verdict
from crabhook.ui.cards.context import CardContext, CardContexts, words_line
from crabhook.ui.text.safe import safe
from crabhook.ui.text.width import cells
from tests.support.desk import PlayedDesk
from tests.support.ruled import NO_RM, judge_by
from tests.support.sitting import Sitting


def test_the_last_words_stand_in_the_head_and_whole_below_where_they_are_long() -> None:
    sitting = Sitting(rows=40)
    words = "I build it anew, because the lockfile changed, " * 4
    sitting.desk.words[1] = words
    sitting.ask()
    rows = sitting.rows_of_text()
    (head,) = (row for row in rows if row.startswith('     "I build it anew'))
    assert "… (the agent's last words)" in head
    place = rows.index(next(row for row in rows if row.strip() == "the agent's last words"))
    assert rows[place + 1].startswith(" │ I build it anew, because")


def test_words_that_are_being_read_come_by_themselves_once() -> None:
    sitting = Sitting(arming_ms=0)
    sitting.desk.words[1] = None
    sitting.ask()
    assert "last words" not in sitting.text()
    assert sitting.controller.wake_at() is None
    sitting.desk.words[1] = "Because."
    assert '"Because." (the agent\'s last words)' in sitting.text()
    sitting.desk.words[1] = "Something else."
    assert "Because." in sitting.text()


def test_a_stop_tells_its_last_message_itself() -> None:
    sitting = Sitting()
    sitting.desk.words[1] = "not these"
    sitting.desk.ask({"hook_event_name": "PreToolUse", "tool_name": "T", "session_id": "s",
                      "last_assistant_message": "Done."})  # fmt: skip
    assert "not these" not in sitting.text()


def test_what_was_decided_before_is_told_as_it_was_when_the_card_was_first_seen() -> None:
    sitting = Sitting(rows=40, take_back_ms=0)
    first = sitting.ask(tool_input={"command": "npm ci"})
    sitting.desk.answer(first, Decision(Verdict.ALLOW))
    second, third = (sitting.ask(tool_input={"command": f"npm {n}"}) for n in range(2))
    sitting.press("down")
    assert sitting.card.number == second
    said = "1 call like this (Bash npm) not long ago: 1 allowed, none denied"
    assert said in sitting.text()
    sitting.desk.answer(third, Decision(Verdict.DENY, reason="no"))
    assert said in sitting.text()


def test_hostile_words_stay_on_their_line_and_are_safe() -> None:
    for columns in (24, 80):
        line = words_line(CardContext("\x1b[2J\n\u202e" * 200), columns, safe)
        text = "".join(said for _, said in line)
        assert safe(text) == text
        assert columns - 5 <= cells(text) <= columns


def test_a_card_that_is_forgotten_is_found_anew() -> None:
    sitting = Sitting()
    sitting.desk.words[1] = "one"
    sitting.ask()
    around = CardContexts(sitting.desk.replica)
    assert around.of(sitting.card).words == "one"
    sitting.desk.words[1] = "two"
    assert around.of(sitting.card).words == "one"
    around.forget(1)
    assert around.of(sitting.card).words == "two"


def gemini(tool: str, tool_input: Any) -> Any:
    return {
        "hook_event_name": "BeforeTool",
        "session_id": "s",
        "tool_name": tool,
        "tool_input": tool_input,
    }


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("run_shell_command", {"command": "ls"}),
        ("ask_user", {"questions": [{"question": "Which?", "type": "yesno"}]}),
        ("exit_plan_mode", {"plan_filename": "plan.md"}),
    ],
)
def test_what_a_hook_cannot_do_stands_in_the_head_and_whole_below_where_it_is_long(
    tool: str, tool_input: Any, columns: int
) -> None:
    sitting = Sitting(columns=columns, rows=60)
    sitting.desk.ask(gemini(tool, tool_input), platform="gemini")
    (limit,) = sitting.card.limits
    rows = sitting.rows_of_text()
    (head,) = (row for row in rows if row.strip().startswith(limit[:40]) and "│" not in row)
    cut = head.strip() != limit
    assert cut == (cells(limit) > columns - 5 - 2)
    assert any(row.strip() == "what a hook cannot do here" for row in rows) == cut


def test_an_ended_card_says_no_more_what_could_not_be_done() -> None:
    sitting = Sitting(columns=200, take_back_ms=0)
    sitting.desk.ask(gemini("run_shell_command", {"command": "ls"}), platform="gemini")
    (limit,) = sitting.card.limits
    assert sitting.text().count(limit) == 1
    sitting.desk.answer(sitting.card.number, Decision(Verdict.ALLOW))
    assert sitting.text().count(limit) == 0


def test_a_plan_in_a_file_is_shown_as_what_the_file_says() -> None:
    sitting = Sitting(rows=60)
    sitting.desk.words[1] = "# The plan\n\n1. Name the tests"
    sitting.desk.ask(gemini("exit_plan_mode", {"plan_filename": "plan.md"}), platform="gemini")
    rows = sitting.rows_of_text()
    assert any(row.rstrip().endswith("(the plan, as its file says)") for row in rows)
    place = rows.index(next(row for row in rows if row.strip() == "the plan, as its file says"))
    assert rows[place + 1].startswith(" │ # The plan")
    assert not any("last words" in row or "PermissionRequest" in row for row in rows)


@pytest.mark.parametrize("columns", [60, 120])
def test_a_card_says_why_it_is_here_in_its_head_and_whole_below_where_it_is_long(
    columns: int,
) -> None:
    note = "this folder is shared with other teams, so look twice"
    rules = NO_RM.replace("deny", "ask-operator").replace("use trash", note)
    desk = PlayedDesk(judge=judge_by(rules, "/home/ann/api-server"))
    sitting = Sitting(rows=40, columns=columns, desk=desk)
    sitting.ask(tool_input={"command": "rm -rf build"})
    said = f"rules.toml, line 1: ask-operator Bash(rm *) ({note})"
    rows = sitting.rows_of_text()
    (head,) = (row for row in rows if row.strip().startswith(said[:40]) and "│" not in row)
    whole = "".join(row.strip(" │┆") + " " for row in rows[rows.index(head) + 1 :])
    assert (said in head) is (columns == 120)
    assert (said in whole) is (columns == 60)
    sitting.desk.answer(1, Decision(Verdict.ALLOW))
    assert head not in sitting.rows_of_text()
