"""One row a card and one row a piece of news, whatever the width."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crabhook.model.card import FeedEntry
from crabhook.model.event import Event
from crabhook.present.around import CALLS_SHOWN
from crabhook.present.phrases import Clock
from crabhook.present.safe import safe
from crabhook.ui.full.panes.foot import feed_rows
from crabhook.ui.full.panes.rows import (
    WORDS_KEPT,
    CardRow,
    WordsOfCards,
    queue_rows,
    time_look,
)
from crabhook.ui.text.layout import line_cells
from tests.support.observed import OBSERVED
from tests.support.sitting import Sitting, call


def row(sitting: Sitting, columns: int) -> str:
    clock = Clock(sitting.desk.now(), 0)
    standing = CardRow(sitting.card, selected=True, armed=True)
    ((line, _),) = queue_rows([standing], WordsOfCards(safe), {}, clock, columns)
    assert line_cells(line) == columns
    return "".join(text for _, text in line)


@pytest.mark.parametrize("columns", [24, 40, 60, 76, 80, 110, 150, 200])
def test_a_row_has_exactly_its_width(columns: int) -> None:
    sitting = Sitting()
    sitting.ask("日本語ツール", {"command": "echo 日本語 " * 20}, cwd="/פרויקט/深い")
    assert row(sitting, columns).startswith("▸   #1")


def test_a_wide_row_tells_tool_project_agent_and_call() -> None:
    sitting = Sitting()
    edit = {"file_path": "/x/a.py", "old_string": "a", "new_string": "b"}
    sitting.ask("Edit", edit, agent_id="a7f2b3", agent_type="Explore")
    shown = row(sitting, 120)
    for word in ("#1", "Edit", "api-server", "Explore·a7f2", "/x/a.py"):
        assert word in shown


def test_of_a_command_the_command_is_told_and_no_tool_and_the_risk_stands_before_it() -> None:
    sitting = Sitting()
    sitting.ask(tool_input={"command": "sudo rm -rf /"})
    assert row(sitting, 80).startswith("▸▲▲ #1 api-server sudo rm -rf /")


def test_the_columns_are_as_wide_as_what_stands_in_them() -> None:
    sitting = Sitting()
    for folder in ("/p/web", "/p/api-server"):
        sitting.ask(cwd=folder, session_id=folder)
    standings = [CardRow(card) for card in sitting.desk.waiting()]
    told = queue_rows(standings, WordsOfCards(safe), {}, Clock(sitting.desk.now(), 0), 80)
    rows = ["".join(text for _, text in line) for line, _ in told]
    assert rows[0].index("ls -l") == rows[1].index("ls -l") == len("    #1 api-server ")
    assert [number for _, number in told] == [1, 2]


def test_a_row_tells_age_and_time_left() -> None:
    sitting = Sitting()
    sitting.ask(wait=600)
    sitting.desk.pass_time(12)
    assert row(sitting, 80).endswith(" 12 s ·  9:48 ")
    assert row(sitting, 60).endswith("  9:48 ")
    assert "9:48" not in row(sitting, 40)
    sitting.desk.pass_time(580)
    assert row(sitting, 40).endswith(" 0:08!")


@pytest.mark.parametrize(
    ("left", "look"), [(121, "dim"), (119, "soon"), (31, "soon"), (29, "urgent"), (0, "urgent")]
)
def test_a_clock_is_dim_then_yellow_under_two_minutes_and_red_under_thirty_seconds(
    left: float, look: str
) -> None:
    assert time_look(left) == look


def test_the_asking_tools_have_short_names() -> None:
    sitting = Sitting()
    sitting.ask("ExitPlanMode", {"plan": "# Build it"})
    assert "plan: " in row(sitting, 80)


def test_words_are_read_out_of_a_card_once() -> None:
    sitting = Sitting()
    sitting.ask()
    spelt: list[str] = []

    def spell(text: str) -> str:
        spelt.append(text)
        return safe(text)

    words = WordsOfCards(spell)
    words.of(CardRow(sitting.card))
    count = len(spelt)
    words.of(CardRow(sitting.card))
    assert len(spelt) == count
    assert WORDS_KEPT >= 100


def test_the_feed_shows_the_last_lines_the_newest_last() -> None:
    entries = [
        FeedEntry(0.0, Event("claude", "PreToolUse", cwd=f"/p{number}"), "denied: a rule")
        for number in range(5)
    ]
    rows = [
        "".join(text for _, text in line) for line in feed_rows(entries, Clock(0.0, 0), 80, 2, safe)
    ]
    assert ["p3" in rows[0], "p4" in rows[1]] == [True, True]
    assert "PreToolUse" not in rows[1]  # no name of a protocol
    assert feed_rows(entries, Clock(0.0, 0), 80, 0, safe) == []


@pytest.mark.parametrize(("alarm", "look"), [(True, "warning"), (False, "dim")])
def test_an_alarm_is_red_in_the_feed(alarm: bool, look: str) -> None:
    entry = FeedEntry(0.0, Event("", "Desk"), "THE SOCKET WAS REPLACED", alarm=alarm)
    (line,) = feed_rows([entry], Clock(0.0, 0), 80, 1, safe)
    assert (look, "THE SOCKET WAS REPLACED") in line


def test_a_cards_news_is_told_by_its_number() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.leave(1)
    clock = Clock(sitting.desk.now(), 0)
    (line,) = feed_rows(sitting.desk.feed(), clock, 200, 3, safe)
    assert "#1 Bash WITHDRAWN" in "".join(text for _, text in line)


@pytest.mark.parametrize(("name", "told"), OBSERVED)
def test_what_an_agent_does_unasked_is_no_news(name: str, told: tuple[str, ...]) -> None:
    sitting = Sitting(columns=120)
    agent, _, sent = name.partition("/")
    sitting.desk.ask(json.loads(Path(f"tests/samples/{name}.json").read_text()), platform=agent)
    foot = "\n".join(sitting.rows_of_text()[-5:])
    assert sent.partition("-")[0] not in foot
    assert not any(word in foot for word in told)


def happened(sitting: Sitting, command: str, **fields: str) -> None:
    sitting.desk.ask(call(hook_event_name="PostToolUse", tool_input={"command": command}, **fields))


def test_beside_the_only_card_stand_the_last_calls_of_its_session() -> None:
    sitting = Sitting(columns=120)
    for number in range(CALLS_SHOWN + 2):
        happened(sitting, f"make step{number}")
    happened(sitting, "make elsewhere", session_id="another")
    sitting.ask(tool_input={"command": "make now"})
    shown = [row for row in sitting.rows_of_text() if "make " in row]
    steps = [f"make step{number}" for number in range(2, CALLS_SHOWN + 2)]
    assert [step for row, step in zip(shown, [*steps, "make now"], strict=True) if step in row] == [
        *steps,
        "make now",
    ]
    assert all("it ran" in row for row in shown[:-1])
    sitting.ask(tool_input={"command": "make more"})
    assert "make step" not in sitting.text()  # two cards are a queue again
    assert "╭ Queue" in sitting.text()


def test_a_secret_in_what_went_by_is_covered() -> None:
    sitting = Sitting(columns=120)
    happened(sitting, f"curl -H 'Authorization: Bearer {'s3cr3t' * 6}' x")
    sitting.ask()
    assert "it ran" in sitting.text()
    assert "s3cr3t" not in sitting.text()


@pytest.mark.parametrize(
    ("text", "look"),
    [("ALLOWED by Bob", "allowed"), ("DENIED: no", "refused"), ("SENT BACK", "refused")],
)
def test_a_decision_has_its_colour_in_the_feed(text: str, look: str) -> None:
    entry = FeedEntry(0.0, Event("claude", "PreToolUse"), text, 7)
    (row,) = feed_rows([entry], Clock(0.0, 0.0), 100, 1, safe)
    assert [said for style, said in row if style == look] == [
        text.partition(" by")[0].split(":")[0]
    ]
