"""The history on the screen: every end in a row, one of them whole, a filter, and a rule of it.

Run as a module, it draws the golden pictures anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from crabhook.desk.commands import KeepRule
from crabhook.desk.updates import Offering
from crabhook.model.decision import Decision, Verdict
from crabhook.server.core import history
from crabhook.ui.full.dialogs.card import QueueView
from crabhook.ui.full.dialogs.lists import EntryPage, HistoryView
from tests.support.offering import NARROW
from tests.support.sitting import QUESTIONS, Sitting

SIZES = [(80, 24), (120, 40), (200, 60)]
_FOLDER = Path(__file__).parent.parent / "golden"
HOSTILE = "echo \x1b[2J╭ #1 ALLOWED ╮ \u202e\n\nrm -rf ~"
EDITED = Decision(Verdict.ALLOW, updated_input={"command": "git push"}, note="without force")


def lived(columns: int = 80, rows: int = 24, *, ascii_only: bool = False) -> Sitting:
    """Return a screen of somebody who looks at the history: nine calls have ended."""
    sitting = Sitting(columns=columns, rows=rows, ascii=ascii_only)
    number = sitting.ask(tool_input={"command": "npm ci"})
    sitting.desk.pass_time(12)
    sitting.desk.answer(number, Decision(Verdict.ALLOW))
    sitting.desk.deliver("request-1")
    number = sitting.ask(tool_input={"command": "rm -rf ../cache"}, cwd="/home/ann/infra")
    sitting.desk.answer(number, Decision(Verdict.DENY, reason="not the cache"))
    sitting.desk.deliver("request-2", whole=False)
    number = sitting.ask(tool_input={"command": "git push --force"})
    sitting.desk.seat.objections(number, EDITED)
    sitting.desk.answer(number, EDITED)
    sitting.leave(sitting.ask(tool_input={"command": "make"}))
    number = sitting.ask("ExitPlanMode", {"plan": "# Do it"})
    sitting.desk.answer(number, Decision(Verdict.DENY, reason="in small steps"))
    sitting.desk.answer(sitting.ask(), Decision(Verdict.ASK))
    sitting.desk.answer(sitting.ask(tool_input={"command": HOSTILE}), Decision(Verdict.ALLOW))
    number = sitting.ask("AskUserQuestion", QUESTIONS)
    answers = {"Which library?": "msgspec", "Which features?": "Retry"}
    sitting.desk.answer(
        number, Decision(Verdict.ALLOW, updated_input={**QUESTIONS, "answers": answers})
    )
    sitting.ask(tool_input={"command": "make install"}, wait=5.0)
    sitting.desk.pass_time(6)
    sitting.ask(tool_input={"command": "terraform apply"})
    sitting.press("H")
    sitting.wait()
    return sitting


def fates(sitting: Sitting) -> list[str]:
    return [one.card.outcome for one in sitting.screen.history.rows()]


def test_of_a_text_of_which_it_has_the_start_the_history_counts_no_lines() -> None:
    sitting = Sitting(rows=40)
    number = sitting.ask("Write", {"file_path": "/a.txt", "content": "line\n" * 1000})
    assert "│ /a.txt  +1000" in sitting.text()
    sitting.desk.answer(number, Decision(Verdict.ALLOW))
    sitting.press("H")
    sitting.wait()
    assert "│ /a.txt " in sitting.text()
    assert "/a.txt  +" not in sitting.text()


def drawn(columns: int, rows: int) -> str:
    sitting = lived(columns, rows)
    listed = sitting.rows_of_text()
    sitting.press(*["down"] * 6, "enter")
    shown = [*listed, "", *sitting.rows_of_text()]
    return "\n".join(row.rstrip() for row in shown) + "\n"


def path_of(columns: int, rows: int) -> Path:
    return _FOLDER / f"history-{columns}x{rows}.txt"


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_the_history_is_drawn_as_it_was_agreed(columns: int, rows: int) -> None:
    assert drawn(columns, rows) == path_of(columns, rows).read_text(encoding="utf-8")


@pytest.mark.parametrize(("columns", "rows"), [(24, 7), (40, 10), (60, 14), (80, 24), (200, 60)])
def test_it_fits_every_screen_in_ascii_and_nothing_hostile_leaves_its_row(
    columns: int, rows: int
) -> None:
    sitting = lived(columns, rows, ascii_only=True)
    for keys in ((), ("enter",), ("escape", "down", "down", "enter"), ("G",)):
        sitting.press(*keys)
        shown = sitting.rows_of_text()
        assert len(shown) == rows
        assert "".join(shown).isascii()
        assert "\x1b" not in "".join(shown)


def test_a_filter_keeps_what_tells_its_words_and_says_how_many() -> None:
    sitting = lived()
    sitting.press("/")
    sitting.type("denied")
    assert "/denied 1 of 9" in sitting.text()
    sitting.press("enter")
    assert sitting.screen.history.wanted == "denied"
    sitting.press("escape")
    assert len(sitting.screen.history.rows()) == 9
    for wanted, found in (("risk:danger", 2), ("tool:exitplan", 1), ("operator infra", 1)):
        sitting.screen.history.want(wanted)
        assert len(sitting.screen.history.rows()) == found, wanted


def test_it_is_read_as_deep_as_it_goes_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE", 2)
    sitting = Sitting()
    for number in range(100):
        sitting.desk.answer(sitting.ask(tool_input={"command": f"ls {number}"}), EDITED_NOT)
    sitting.press("H")
    assert 40 > len(sitting.screen.history.rows()) >= 18
    for _ in range(10):
        sitting.press("G")
    assert len(sitting.screen.history.rows()) == 100
    assert "ls 0" in sitting.text()


EDITED_NOT = Decision(Verdict.ALLOW)


def test_what_ends_meanwhile_comes_above_and_moves_nothing() -> None:
    sitting = lived()
    sitting.press("down")
    before = sitting.screen.history.chosen
    sitting.desk.answer(10, Decision(Verdict.DENY, reason="no"))
    sitting.wait(2)
    assert len(sitting.screen.history.rows()) == 10
    assert fates(sitting)[0] == "DENIED"
    assert sitting.screen.history.chosen == before


def test_one_entry_is_opened_whole_with_what_was_asked_and_what_was_allowed() -> None:
    sitting = lived(rows=40)
    sitting.press(*["down"] * 6, "enter")
    shown = sitting.text()
    for told in ("ALLOWED edited · by operator", "without force", "git push --force", "record"):
        assert (told in shown) is (told != "record"), told  # no record is kept here
    assert isinstance(sitting.top, EntryPage)
    sitting.press("escape")
    assert isinstance(sitting.top, HistoryView)


def test_a_rule_is_made_of_an_entry() -> None:
    sitting, kept = lived(), list[object]()
    entry = sitting.screen.history.chosen
    assert entry is not None
    sitting.desk.offered[entry.id] = Offering((NARROW,))
    submit = sitting.desk.submit

    def noted(command: object) -> None:
        kept.append(command)
        submit(command)  # type: ignore[arg-type]

    sitting.desk.submit = noted  # type: ignore[method-assign, assignment]
    sitting.press("A")
    sitting.wait()
    assert "always allow what entry" in sitting.text()
    sitting.press("enter")
    assert [one.entry for one in kept if isinstance(one, KeepRule)] == [entry.id]
    assert sitting.desk.rules[0][0] == entry.id
    assert isinstance(sitting.top, HistoryView)


def test_nothing_that_has_ended_is_said() -> None:
    sitting = Sitting()
    sitting.press("H")
    assert "nothing has ended yet" in sitting.text()
    sitting.press("enter", "A", "Q")
    assert isinstance(sitting.top, QueueView)


def test_a_view_with_no_row_shows_nothing_of_what_was_looked_at_before() -> None:
    sitting = Sitting()
    sitting.ask(tool_input={"command": "npm ci"})
    sitting.press("S")
    sitting.wait()
    assert "main agent: Bash npm ci" in sitting.text()
    sitting.press("H")
    sitting.wait()
    assert "nothing has ended yet" in sitting.text()
    assert "main agent: Bash npm ci" not in sitting.text()


if __name__ == "__main__":
    for _columns, _rows in SIZES:
        path_of(_columns, _rows).write_text(drawn(_columns, _rows), encoding="utf-8")
