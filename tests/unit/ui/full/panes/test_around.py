"""An agent's last words and what was decided before stand around a request, found once."""

from __future__ import annotations

from typing import Any

import pytest

from crabhook.model.actor import OWNER
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.present.around import CardDocuments
from crabhook.present.card import card_document
from crabhook.present.document import CardContext
from crabhook.present.safe import safe
from crabhook.ui.day_counts import DayCounts
from crabhook.ui.full.panes.around import below_rows
from crabhook.ui.text.layout import Sheet
from crabhook.ui.text.width import cells
from tests.support.desk import PlayedDesk
from tests.support.ruled import NO_RM, judge_by
from tests.support.sitting import Sitting, happening


def card_rows(sitting: Sitting) -> list[str]:
    """The rows of the card's panel, wherever it stands, without its sides."""
    rows = [row.rpartition("││")[2].strip() for row in sitting.rows_of_text()]
    return [row.removeprefix("│").removesuffix("│").strip() for row in rows]


def test_the_last_words_and_the_last_prompt_stand_below_in_a_line_and_whole_a_key_away() -> None:
    sitting = Sitting(rows=40)
    words = "I build it anew, because the lockfile changed, " * 4
    sitting.desk.words[1] = words
    for prompt in ("an older one", "Build it anew, please"):
        sitting.desk.ask(happening("UserPromptSubmit", prompt=prompt))
    sitting.ask()
    rows = card_rows(sitting)
    (line,) = (row for row in rows if row.startswith('the agent said: "I build it anew'))
    assert line.endswith("…")
    assert 'the user asked: "Build it anew, please"' in rows
    sitting.press("i")
    rows = card_rows(sitting)
    assert rows[rows.index("the agent said") + 1].startswith("│ I build it anew, because")
    assert rows[rows.index("the user asked") + 1] == "│ Build it anew, please"


def test_words_that_are_being_read_come_by_themselves_once() -> None:
    sitting = Sitting(arming_ms=0)
    sitting.desk.words[1] = None
    sitting.ask()
    assert "the agent said" not in sitting.text()
    assert sitting.controller.wake_at() is None
    sitting.desk.words[1] = "Because."
    assert 'the agent said: "Because."' in sitting.text()
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
    second, third = (sitting.ask(tool_input={"command": f"npm ci {n}"}) for n in range(2))
    sitting.press("down")
    assert sitting.card.number == second
    said = "npm ci: 1 allowed, 0 denied lately"
    assert said in sitting.text()
    sitting.desk.answer(third, Decision(Verdict.DENY, reason="no"))
    assert said in sitting.text()


def test_hostile_words_stay_on_their_line_and_are_safe() -> None:
    sitting = Sitting()
    sitting.ask()
    hostile = "\x1b[2J\n\u202e" * 200
    for columns in (24, 80):
        around = CardContext(hostile, "", prompt=hostile)
        _, (words, prompt) = below_rows(card_document(sitting.card, around), Sheet(columns, safe))
        for line in (words, prompt):
            text = "".join(said for _, said in line)
            assert safe(text) == text
            assert columns - 5 <= cells(text) <= columns


def test_a_card_that_is_forgotten_is_found_anew() -> None:
    sitting = Sitting()
    sitting.desk.words[1] = "one"
    sitting.ask()
    documents = CardDocuments(sitting.desk.replica)
    assert documents.of(sitting.card).context.words == "one"
    sitting.desk.words[1] = "two"
    assert documents.of(sitting.card).context.words == "one"
    documents.forget(1)
    assert documents.of(sitting.card).context.words == "two"


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
def test_what_a_hook_cannot_do_stands_below_and_whole_a_key_away(
    tool: str, tool_input: Any, columns: int
) -> None:
    sitting = Sitting(columns=columns, rows=60)
    sitting.desk.ask(gemini(tool, tool_input), platform="gemini")
    (limit,) = sitting.card.limits
    rows = card_rows(sitting)
    assert any(row == limit or (row.startswith(limit[:40]) and row.endswith("…")) for row in rows)
    sitting.press("i")
    rows = card_rows(sitting)
    whole = "".join(row.strip("│┆ ") + " " for row in rows)
    assert limit in whole


def test_an_ended_card_says_no_more_what_could_not_be_done() -> None:
    sitting = Sitting(columns=260, take_back_ms=0)
    sitting.desk.ask(gemini("run_shell_command", {"command": "ls"}), platform="gemini")
    (limit,) = sitting.card.limits
    assert limit in card_rows(sitting)
    sitting.desk.answer(sitting.card.number, Decision(Verdict.ALLOW))
    assert sitting.text().count(limit) == 0


def test_a_plan_in_a_file_is_shown_as_what_the_file_says() -> None:
    sitting = Sitting(rows=60)
    sitting.desk.words[1] = "# The plan\n\n1. Name the tests"
    sitting.desk.ask(gemini("exit_plan_mode", {"plan_filename": "plan.md"}), platform="gemini")
    assert 'the plan\'s file: "# The plan 1. Name the tests"' in sitting.text()
    sitting.press("i")
    rows = card_rows(sitting)
    assert rows[rows.index("the plan's file") + 1].startswith("│ # The plan")
    assert not any("the agent said" in row or "PermissionRequest" in row for row in rows)


@pytest.mark.parametrize("columns", [60, 120])
def test_a_card_says_why_it_is_here_and_whole_a_key_away(columns: int) -> None:
    note = "this folder is shared with other teams, so look twice, ask them, and only then allow it"
    rules = NO_RM.replace("deny", "ask-operator").replace("use trash", note)
    desk = PlayedDesk(judge=judge_by(rules, "/home/ann/api-server"))
    sitting = Sitting(rows=40, columns=columns, desk=desk, take_back_ms=0)
    sitting.ask(tool_input={"command": "rm -rf build"})
    said = f'rule "Bash(rm *)" — {note}'
    whole = f"rules.toml, line 1: ask-operator Bash(rm *) ({note})"
    rows = card_rows(sitting)
    line = next(row for row in rows if row.startswith("asked because: "))
    assert (said in f"{line} {rows[rows.index(line) + 1]}") is (columns == 120)
    sitting.press("i")
    rows = card_rows(sitting)
    start = rows.index("why it is here") + 1
    assert whole in "".join(row.strip("│┆ ") + " " for row in rows[start:])
    sitting.press("i")
    sitting.desk.answer(1, Decision(Verdict.ALLOW))
    assert line not in card_rows(sitting)


def test_what_was_decided_of_its_like_today_is_counted_though_no_card_of_it_is_known() -> None:
    tally = DayCounts()
    sitting = Sitting(rows=40, desk=PlayedDesk(counts=tally))
    event = sitting.desk.card(sitting.ask(tool_input={"command": "npm run a"}))
    assert event is not None
    for verdict in (Verdict.ALLOW, Verdict.ALLOW, Verdict.DENY, Verdict.PASS):
        tally.count(event.event, Decided(Decision(verdict), OWNER), earlier=True)
    sitting.ask(tool_input={"command": "cd web && npm run a"})
    sitting.press("down")
    assert "npm run a: 2 allowed, 1 denied today" in card_rows(sitting)


def test_the_prompt_of_the_transcript_stands_on_the_card_and_safe_though_no_hook_told_it() -> None:
    sitting = Sitting(rows=40)
    sitting.desk.read.prompts[1] = "Build\n#2 ALLOWED \x1b[2J\u202eit " + "anew " * 400
    sitting.ask()
    (row,) = (one for one in card_rows(sitting) if one.startswith("the user asked: "))
    assert row.startswith('the user asked: "Build #2 ALLOWED ␛[2J⟨U+202E⟩it anew')
    assert row.endswith("…")
