"""In a team the machine that asks is on every screen; without one nothing is.

A machine is what its own token shows. What a hook says of itself, or how a folder is called, never
looks like it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crabhook.cli.verbs.attached import Teller
from crabhook.cli.verbs.deciding import described
from crabhook.desk.replica import Replica
from crabhook.model.card import Origin
from crabhook.model.decision import Decision, Verdict
from crabhook.present import past
from crabhook.present.summary import place
from crabhook.ui.commands.parse import alike
from crabhook.ui.full.panes.rows import machine_cell
from crabhook.ui.plain.output import PROGRAMS
from crabhook.ui.plain.person import DetailLevel, PersonFormat
from crabhook.ui.text.width import cells
from tests.support.sitting import LONG_ENOUGH, Sitting, call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crabhook.desk.updates import HistoryRead

SIZES = [(80, 24), (120, 40), (200, 60)]
BUILD1 = Origin("vm", 4242, "ann", "build1")
HERE = Origin("laptop", 7, "ann")
DANGEROUS = {"command": "rm -rf build"}


def team(columns: int = 120, rows: int = 40) -> Sitting:
    """A desk before the same call from the server's own machine and from build1."""
    sitting = Sitting(columns=columns, rows=rows)
    for origin, session in ((HERE, "aaaa1111"), (BUILD1, "bbbb2222")):
        sitting.desk.ask(call("Bash", DANGEROUS, session_id=session), origin=origin)
    sitting.desk.pass_time(1)
    sitting.wait(LONG_ENOUGH)
    return sitting


def with_build1(sitting: Sitting) -> Sequence[str]:
    return [row for row in sitting.rows_of_text() if "build1" in row]


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_the_machine_is_on_every_view_of_the_full_screen(columns: int, rows: int) -> None:
    sitting = team(columns, rows)
    (row,) = with_build1(sitting)
    assert "api-server" in row
    assert "@build1" in row
    assert "rm -rf build" in row
    sitting.press("j")
    assert "#2 · Claude Code · api-server @ build1" in sitting.text()
    assert with_build1(sitting)[0] != with_build1(sitting)[1]
    sitting.press("S")
    (row, *_) = with_build1(sitting)
    assert "@build1" in row
    assert "bbbb2222" in row
    sitting.press("j")
    assert "api-server @ build1" in sitting.text()
    sitting.press("Q")
    sitting.desk.answer(2, Decision(Verdict.DENY, reason="not there"))
    sitting.desk.deliver("request-2")
    sitting.desk.pass_time(1)
    (fed,) = (row for row in with_build1(sitting) if "DENIED · delivered" in row and ":" in row)
    assert "api-server     @build1 #2" in fed
    sitting.press("H")
    assert any("@build1" in row and "DENIED" in row for row in with_build1(sitting))
    assert "machine: build1" in sitting.text()


def test_the_page_of_everything_sent_says_what_is_shown_and_what_is_only_said() -> None:
    sitting = team()
    sitting.press("j", "i", "end")
    text = " ".join(sitting.text().split())
    shown, said = text.index("as its own token shows"), text.index("as it says itself")
    assert shown < text.index("machine: build1") < said < text.index("host: vm")


def test_what_a_hook_says_of_its_host_is_shown_only_where_it_differs() -> None:
    for origin in (replace(BUILD1, host="build1"), replace(BUILD1, host="build1", user="", pid=0)):
        sitting = Sitting(columns=120, rows=60)
        sitting.desk.ask(call("Bash", DANGEROUS), origin=origin)
        sitting.wait(LONG_ENOUGH)
        sitting.press("i", "end")
        assert "machine: build1" in sitting.text()
        assert "host:" not in sitting.text()
        assert "@build1" not in "\n".join(PROGRAMS.block(sitting.card, 0.0))


def test_a_filter_keeps_the_cards_of_a_machine() -> None:
    sitting = team()
    sitting.press("/")
    sitting.type("machine:build")
    sitting.press("enter")
    assert [card.number for card in sitting.screen.queue.cards()] == [2]


def test_the_same_call_of_two_machines_is_not_the_same_call() -> None:
    sitting = team()
    first, second = sitting.desk.waiting()
    assert alike(first, [first, second]) == []
    sitting.press("space", "j", "space", "a")
    sitting.wait(LONG_ENOUGH)
    rows = [row for row in sitting.rows_of_text() if "rm -rf build" in row and "· Bash" in row]
    assert ["@ build1" in row for row in rows] == [False, True]


def test_the_plain_desk_and_the_verbs_tell_the_machine() -> None:
    sitting = team()
    first, second = sitting.desk.waiting()
    replica = Replica(sitting.desk, sitting.desk.now)
    replica.follow()
    person = PersonFormat(replica, DetailLevel.FULL)
    for tell in (person.header, lambda card: PROGRAMS.listed(card, 0.0), described):
        assert "api-server @ build1" in tell(second)
        assert "@" not in tell(first)
    assert "  machine: build1" in PROGRAMS.block(second, 0.0)
    assert not [row for row in PROGRAMS.block(first, 0.0) if "machine" in row]
    assert PROGRAMS.header(second).partition("session")[0] == "#2 PreToolUse Bash "
    sitting.desk.answer(2, Decision(Verdict.DENY, reason="no"))
    sitting.desk.deliver("request-2")
    sitting.desk.pass_time(1)
    pages: list[HistoryRead] = []
    sitting.desk.runner.past.ask(0, pages.append)
    (ended,) = pages[0].entries
    teller = Teller(replica.now, replica.looking)
    told: list[Any] = [
        teller.card(second),
        *map(teller.line, (one for one in replica.feed() if one.number == 2)),
        *(teller.session(view) for view in replica.live() if view.machine),
        teller.past(ended),
    ]
    assert len(told) >= 4
    assert {one["machine"] for one in told} == {"build1"}
    assert "api-server @ build1" in past.line(ended, 0.0)
    ours = [one for one in replica.feed() if one.event.machine]
    assert all("@ build1" in line for line in map(PROGRAMS.went_by, ours) if line)


def test_without_a_machine_no_screen_has_a_word_more() -> None:
    sitting = Sitting(columns=120, rows=40)
    sitting.desk.ask(call("Bash", DANGEROUS), origin=HERE)
    sitting.wait(LONG_ENOUGH)
    for key in ("i", "escape", "S", "H", "Q"):
        sitting.press(key)
        assert "machine" not in sitting.text()
        assert "@" not in sitting.text()


@given(st.text(alphabet="ab @\uff20\ufe6b\u00a0\u2003\t/-", max_size=20))
@example(" @ build1")
@example("web\u2003\uff20 build1")
def test_no_name_of_a_folder_looks_like_a_machine(name: str) -> None:
    sitting = Sitting(columns=120, rows=40)
    sitting.desk.ask(call("Bash", DANGEROUS, cwd=f"/home/ann/web{name}"), origin=HERE)
    told = place(sitting.card.event)
    for at in "@\uff20\ufe6b":
        assert f" {at}" not in told.replace("\u2003", " ").replace("\u00a0", " ")


def test_a_long_folder_hides_no_machine_in_the_title() -> None:
    for columns, rows in SIZES:
        sitting = Sitting(columns=columns, rows=rows)
        sitting.desk.ask(call("Bash", DANGEROUS, cwd=f"/home/{'x' * 300}"), origin=BUILD1)
        sitting.ask(session_id="another")  # with two cards the queue has rows
        sitting.wait(LONG_ENOUGH)
        assert "@ build1" in sitting.text()
        assert "@build1" in sitting.text()


@given(st.integers(4, 30))
def test_names_that_differ_at_their_end_differ_in_a_narrow_column(width: int) -> None:
    shown = [machine_cell(f"build-server-of-the-team-{place}", width) for place in range(10)]
    assert len(set(shown)) == 10
    assert {cells(one) for one in shown} == {width}
