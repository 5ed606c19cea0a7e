"""The queue for many: what is seen of it, in which order, and how few keys decide all of it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.decision import Verdict
from tests.support.examples import examples
from tests.support.sitting import Sitting

PROJECTS = ("api-server", "web", "infra", "docs", "mobile")
COMMANDS = ("npm test", "sudo rm -rf /srv", "git status", "rm -rf build", "pytest -q")


def many(count: int = 60, **options: int) -> Sitting:
    """Return a screen before so many cards of five sessions."""
    sitting = Sitting(**options)
    for number in range(count):
        place = number % len(PROJECTS)
        command = {"command": f"{COMMANDS[number * 7 % 5]} # {number}"}
        sitting.ask(tool_input=command, session_id=f"s{place}", cwd=f"/home/ann/{PROJECTS[place]}")
    return sitting


def listed(sitting: Sitting) -> list[int]:
    """Return the cards of the rows in view, from the top."""
    return list(dict.fromkeys(sitting.draw().named.values()))


def test_of_sixty_cards_at_least_twenty_five_are_seen_and_the_card_keeps_twelve_rows() -> None:
    sitting = many(columns=120, rows=40)
    frame = sitting.draw()
    assert len(frame.named) >= 25
    rows = sitting.rows_of_text()
    title = next(place for place, row in enumerate(rows) if row.startswith("├ #1 "))
    last = next(place for place, row in enumerate(rows) if row.startswith("╰"))
    assert last - title + 1 >= 12


@pytest.mark.parametrize(("columns", "rows"), [(140, 40), (200, 60)])
def test_on_a_wide_screen_the_queue_stands_beside_the_card(columns: int, rows: int) -> None:
    sitting = many(columns=columns, rows=rows)
    frame = sitting.draw()
    assert len(frame.named) >= 30
    first = sitting.rows_of_text()[1]
    assert first.startswith("╭ Queue · by arrival ")
    assert "╮╭ #1 · Claude Code · api-server " in first
    assert frame.queue_columns == first.index("╮╭") + 1


def test_a_card_alone_leaves_the_rows_to_itself() -> None:
    sitting = many(1)
    assert listed(sitting) == []  # its title says what its row would
    assert sitting.rows_of_text()[3].startswith("├ ▹ #1 ")


def test_the_filter_narrows_with_each_letter_and_esc_shows_all() -> None:
    sitting = many()
    sitting.press("/")
    seen = [len(sitting.screen.selection.queue.cards())]
    for letter in "rm #":
        sitting.type(letter)
        seen.append(len(sitting.screen.selection.queue.cards()))
    assert seen[0] == 60
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] == 24
    assert "· /rm # 24 of 60" in sitting.rows_of_text()[1]
    assert "60 waiting" in sitting.rows_of_text()[0]
    sitting.press("enter")
    assert len(sitting.screen.selection.queue.cards()) == 24
    sitting.press("escape")
    assert len(sitting.screen.selection.queue.cards()) == 60


def test_esc_while_typing_a_filter_shows_all_and_what_is_typed_is_no_key() -> None:
    sitting = many()
    sitting.wait()
    sitting.press("/")
    sitting.type("adpxy")
    assert "/adpxy 0 of 60" in sitting.text()
    sitting.press("escape")
    assert len(sitting.screen.selection.queue.cards()) == 60
    assert not sitting.decided()
    assert not sitting.screen.answers.waiting


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("risk:danger", {"sudo rm -rf /srv"}),
        ("risk:▲▲", {"sudo rm -rf /srv"}),
        ("risk:!!", {"sudo rm -rf /srv"}),
        ("risk:", set(COMMANDS)),
        ("project:WEB git", {"git status"}),
        ("agent:claude", set(COMMANDS)),
        ("agent:codex", set()),
        ("tool:bash git", {"git status"}),
        ("pytest -q", {"pytest -q"}),
    ],
)
def test_a_filter_looks_at_the_tool_the_project_the_agent_the_text_and_the_risk(
    wanted: str, found: set[str]
) -> None:
    sitting = many()
    sitting.screen.want(wanted)
    shown = {
        str(card.event.tool.input["command"]).partition(" #")[0]
        for card in sitting.screen.selection.queue.cards()
        if card.event.tool and isinstance(card.event.tool.input, dict)
    }
    assert shown == found


def test_a_selected_card_that_a_filter_hides_gives_way_to_the_first_that_is_seen() -> None:
    sitting = many()
    sitting.screen.want("project:web")
    assert sitting.card.number == 2
    sitting.press("down")
    assert sitting.card.number == 7
    sitting.screen.want("nothing is like this")
    assert sitting.card.number == 7  # which is on the screen, and is what keys act on


def test_what_comes_while_a_filter_stands_is_counted_and_seen_where_it_is_wanted() -> None:
    sitting = many()
    sitting.screen.want("project:web")
    for project in ("web", "infra"):
        sitting.ask(cwd=f"/p/{project}", session_id=f"new-{project}")
    assert [card.number for card in sitting.screen.selection.queue.cards()][-1] == 61
    assert "/project:web 13 of 62" in sitting.rows_of_text()[1]
    assert sitting.card.number == 2


def test_sorting_goes_from_arrival_to_risk_to_session_and_the_selection_stays() -> None:
    sitting = many()
    sitting.press("down", "down")
    orders = []
    for said in ("by risk", "by session", "by arrival"):
        sitting.press("s")
        assert f"Queue · {said}" in sitting.text()
        assert sitting.card.number == 3
        orders.append(sitting.screen.selection.queue.cards())
    by_risk, by_session, by_arrival = orders
    levels = [card.risk.level for card in by_risk]
    assert levels == sorted(levels, reverse=True)
    assert len(set(levels)) > 1
    assert [card.event.session for card in by_session] == [f"s{n // 12}" for n in range(60)]
    assert [card.number for card in by_arrival] == list(range(1, 61))


def test_grouping_puts_a_session_together_under_a_line_that_counts_them_all() -> None:
    sitting = many(columns=120, rows=40)
    sitting.press("g")
    rows = sitting.rows_of_text()
    assert "Queue · by arrival · grouped" in rows[1]
    assert "api-server · 12 of one session ─" in rows[2]
    assert "#1 " in rows[3]
    assert "#6 " in rows[4]
    assert listed(sitting)[:13] == [*range(1, 60, 5), 2]
    sitting.press("g")
    assert listed(sitting)[:3] == [1, 2, 3]


@examples(50)
@given(
    keys=st.lists(st.sampled_from(["s", "g", "up", "down", "G", "home", "end it", "aside"])),
    rows=st.integers(7, 40),
)
def test_whatever_the_order_the_selected_card_is_in_view_and_none_is_lost(
    keys: list[str], rows: int
) -> None:
    sitting = many(17, rows=rows)
    for key in keys:
        if key == "end it":
            if not sitting.screen.selection.ended:
                sitting.leave(sitting.card.number)
        elif key == "aside":
            if not sitting.screen.selection.ended:
                sitting.desk.snooze(sitting.card.number, 60)
        else:
            sitting.press(key)
        if sitting.screen.card is None:
            return
        assert sitting.card.number in listed(sitting)
        shown = Counter(card.number for card in sitting.screen.selection.queue.cards())
        assert shown == Counter(card.number for card in sitting.desk.waiting())


def test_sixty_ordinary_calls_are_decided_by_at_most_seventy_five_keys() -> None:
    sitting = Sitting(columns=120, rows=40, take_back_ms=0, advance=True)
    for number in range(60):
        sitting.ask(tool_input={"command": f"ls -l {number}"}, session_id=f"s{number % 5}")
    pressed = 0
    while sitting.desk.waiting():
        sitting.wait()
        sitting.press("a")
        pressed += 1
    assert sitting.verdicts() == [(number, Verdict.ALLOW) for number in range(1, 61)]
    assert pressed <= 75
