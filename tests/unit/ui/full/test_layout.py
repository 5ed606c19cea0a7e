"""The whole screen at every size: always exactly as large, never moving, never unsafe."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.desk.updates import AttachedDesk, HouseChanged
from crabhook.model.actor import OWNER, OrderKind
from crabhook.model.order import Order
from crabhook.ui.full.arming import Sight
from crabhook.ui.full.layout import LEAST_ROWS, divide
from crabhook.ui.text.layout import line_cells
from tests.support.examples import examples, share
from tests.support.rows import every_row
from tests.support.sitting import QUESTIONS, Sitting

SIZES = [(40, 10), (80, 24), (200, 60), (24, 7), (80, 8), (120, 16)]
HOSTILE = (
    "\x1b[2J\x07\r\n\t\x00\x7f\x9b31m\u202e\u2066\u200b\u200d\ufeff\u061c\ufe0f\U000e0041"
    "\ud800e\u0301\u0301\u0301\u0301日👍🏽ש\u3164"
)
NEVER = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

hostile_text = st.text(alphabet=st.sampled_from(HOSTILE + "ab "), max_size=30) | st.just(HOSTILE)


@every_row("rows", range(LEAST_ROWS, 120))
def test_the_parts_fill_the_screen_and_each_has_room(rows: int) -> None:
    for needed in (0, 1, 5, 60, 5000):
        parts = divide(120, rows, needed)
        # the status, the queue's upper edge, the two edges of the card, the keys
        assert parts.queue + parts.detail + parts.feed + 4 + parts.ruled == rows
        assert 1 <= parts.queue <= max(needed, 1)
        assert parts.detail >= 2
        assert rows < 20 or parts.detail + 2 >= 12
        beside = divide(140, rows, needed)
        assert not beside.ruled or beside.queue == beside.detail
        assert not beside.ruled or beside.detail + beside.feed + 4 == rows


def everything(sitting: Sitting) -> list[str]:
    """Go through every mode of the screen and return each picture's rows."""
    pictures: list[str] = []

    def look() -> None:
        frame = sitting.draw()
        assert len(frame.lines) == sitting.rows
        assert all(line_cells(line) <= sitting.columns for line in frame.lines)
        pictures.extend("".join(text for _, text in line) for line in frame.lines)

    steps: list[list[str]] = [
        [], ["?"], ["pagedown"], ["escape"], ["G"], ["a"], ["u"], ["d"], ["x"], ["enter"],
        ["up"], ["enter"], ["2"], ["o"], ["y"], ["enter"], ["t"], ["z"], ["enter"], ["r"],
        ["escape"], ["pagedown"], ["pagedown"], ["escape"], ["g"], ["enter"], ["G"], ["escape"],
        ["g"], ["e"], ["end"], ["x"], ["c-s"], ["escape"], ["escape"], ["O"], ["G"], ["escape"],
        ["space"], ["*"], ["*"], ["a"], ["G"], ["escape"], ["escape"], ["m"], ["y"], ["enter"],
        ["z"], ["O"], ["1"], ["enter"], ["escape"], ["G"], ["1"], ["escape"], ["M"], ["escape"],
    ]  # fmt: skip
    for keys in steps:
        sitting.wait()
        sitting.press(*keys)
        look()
    for card in list(sitting.desk.waiting()):
        sitting.leave(card.number)
        look()
    return pictures


def filled(columns: int, rows: int, text: str = "text", **options: Any) -> Sitting:
    """Return a screen whose cards have `text` wherever an agent can put any."""
    sitting = Sitting(columns=columns, rows=rows, **options)
    fields: dict[str, Any] = dict.fromkeys(
        ("cwd", "session_id", "permission_mode", "agent_id", "agent_type", text or "k"), text
    )
    sitting.ask(
        text or "T", {"command": text, "description": text, text: {text: [text, 1]}}, **fields
    )
    option = {"label": text, "description": text, "preview": text}
    question = {"question": f"q{text}", "header": text, "options": [option, option]}
    sitting.ask(
        "AskUserQuestion",
        {"questions": [question, {"question": text or "?"}], "answers": {text: text}},
        **{**fields, "session_id": "q" + text},
    )
    edit = {"file_path": text, "old_string": text, "new_string": text + "b", text: text}
    sitting.ask("Edit", edit, **{**fields, "session_id": "e" + text})
    update = {"type": "addRules", "rules": [{"toolName": text}], "behavior": text, text: text}
    asked = {"hook_event_name": "PermissionRequest", "permission_suggestions": [update, {text: 1}]}
    sitting.ask(text or "T", {"command": text}, **{**fields, "session_id": "p" + text, **asked})
    sitting.desk.ask({**fields, "hook_event_name": text or "E", "tool_name": text})
    sitting.desk.order(Order(OrderKind.ALLOW_ALL, session="o" + text, until=5000.0))
    return sitting


@pytest.mark.slow
@every_row("columns, rows", share(SIZES, 1, of=2))
@every_row("ascii_only", share([False, True], 0))
def test_every_mode_fits_every_size(columns: int, rows: int, ascii_only: bool) -> None:
    sitting = filled(columns, rows, "日本語 text ש " * 20, ascii=ascii_only)
    shown = "".join(everything(sitting))
    assert shown.isascii() == ascii_only


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (0, 0), (10, 3), (23, 40), (300, 6)])
def test_a_screen_too_small_says_so_and_shows_no_card(columns: int, rows: int) -> None:
    sitting = filled(columns, rows)
    frame = sitting.draw()
    assert len(frame.lines) == rows
    assert frame.sight == Sight()


@examples(25)
@given(hostile_text, st.booleans())
def test_no_letter_that_acts_hides_or_reorders_reaches_the_screen(
    text: str,
    ascii_only: bool,
) -> None:
    printable = text.encode("utf-8", "replace").decode()  # a payload is UTF-8
    for row in everything(filled(80, 30, printable, ascii=ascii_only)):
        bad = [letter for letter in row if unicodedata.category(letter) in NEVER]
        assert not bad
        assert not ascii_only or row.isascii()


def test_the_status_line_counts() -> None:
    sitting = Sitting(columns=120)
    assert " 0 waiting · 0 sessions · unix:/run/crabhook.sock" in sitting.rows_of_text()[0]
    sitting.ask()
    sitting.desk.pass_time(185)
    assert " 1 waiting · 1 session · oldest 3:05 · " in sitting.rows_of_text()[0]
    sitting.ask(tool_input={"command": "sudo rm -rf /"}, session_id="other")
    assert " 2 waiting · 2 sessions · 1 ▲▲ · oldest 3:05 · " in sitting.rows_of_text()[0]


@pytest.mark.parametrize("columns", [80, 120])
def test_the_status_line_says_how_many_desks_there_are_where_there_are_several(
    columns: int,
) -> None:
    sitting = Sitting(columns=columns)
    attendance, desk = sitting.desk.runner.attendance, AttachedDesk(OWNER)
    with attendance.attending(desk), attendance.attending(desk, decides=False):
        sitting.wait()
        assert "desk" not in sitting.rows_of_text()[0]
        with attendance.attending(desk):
            sitting.wait()
            assert " 0 sessions · 2 desks" in sitting.rows_of_text()[0]


def test_the_panel_that_keys_go_to_is_told_by_its_title_in_reverse_and_not_by_colour_alone() -> (
    None
):
    for columns in (80, 160):
        sitting = Sitting(columns=columns)
        sitting.ask()
        sitting.ask(session_id="another")
        for mode, said in ((["escape"], "Queue"), (["enter"], "#1 · Claude Code")):
            sitting.press(*mode)
            fronts = [
                text for line in sitting.draw().lines for look, text in line if look == "front"
            ]
            assert len(fronts) == 1
            assert said in fronts[0]


def test_beside_the_only_card_the_front_is_the_card_until_a_list_takes_the_keys() -> None:
    sitting = Sitting()
    sitting.ask()
    for keys, title in (([], "#1 · Claude Code"), ([":"], "Commands")):
        sitting.press(*keys)
        spans = [span for line in sitting.draw().lines for span in line]
        (front,) = [text for look, text in spans if look == "front"]
        assert title in front


def test_nobody_waiting_is_said() -> None:
    assert "Nothing needs you" in Sitting().text()


def test_what_is_out_of_view_is_counted() -> None:
    sitting = Sitting()
    for number in range(20):
        sitting.ask(session_id=f"s{number}")
    assert "11 more below" in sitting.text()
    sitting.press("G")
    assert "11 more above" in sitting.text()


def test_every_row_of_a_long_request_can_be_scrolled_to() -> None:
    sitting = Sitting()
    sitting.ask(tool_input={"command": "\n".join(f"line-{number}-" for number in range(200))})
    seen = sitting.text()
    for _ in range(60):
        sitting.press("pagedown")
        seen += sitting.text()
    assert all(f"line-{number}-" in seen for number in range(200))
    assert "more below" not in sitting.text()


@pytest.mark.slow
def test_what_is_drawn_costs_the_same_among_many_cards_as_among_few() -> None:
    sitting = Sitting()
    for number in range(1000):
        sitting.ask(session_id=f"s{number}")
    spelt: list[str] = []
    spell = sitting.painter._spell

    def counted(text: str) -> str:
        spelt.append(text)
        return spell(text)

    sitting.painter._words._spell = counted
    sitting.press("G", "g", "down")
    assert len(spelt) < 200


def test_ten_thousand_options_are_drawn_as_few() -> None:
    options = [{"label": f"option {number}"} for number in range(10_000)]
    sitting = Sitting()
    sitting.ask("AskUserQuestion", {"questions": [{"question": "q", "options": options}]})
    sitting.wait()
    sitting.press("G", "up", "up", "space")
    assert "(x) 10000 option 9999" in sitting.text()


def test_a_form_shows_the_row_its_keys_act_on() -> None:
    sitting = Sitting(rows=16)
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    for _ in range(5):
        assert [
            row
            for row in sitting.rows_of_text()[4:]
            if row.lstrip("│ ").startswith("▸(") or "▸ " in row
        ]
        sitting.press("down")


@pytest.mark.parametrize("columns", [40, 80, 160])
def test_what_is_wrong_with_the_rules_stays_on_the_status_line_until_it_is_mended(
    columns: int,
) -> None:
    sitting = Sitting(columns=columns)
    sitting.desk.wrong.append(
        "NO RULES ARE in force: rules.toml, line 2\x1b[2J: nonsense" + "x" * 99
    )
    for _ in range(2):
        status = sitting.draw().lines[0]
        ((style, said),) = [one for one in status if "NO RULES" in one[1]]
        assert style == "warning"
        assert "\x1b" not in said
        assert " waiting" in "".join(text for _, text in status)
        sitting.ask()
        sitting.wait()
    sitting.desk.wrong.clear()
    assert "NO RULES" not in sitting.text()


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        (
            100,
            " crabhook   2 waiting · 1 session · 1 ▲▲ · oldest 3:05  rules 41 WRONG   22:13",
        ),
        (
            90,
            " crabhook   2 waiting · 1 session · 1 ▲▲ · oldest 3:05  rules 41 WRONG   22:13",
        ),
        (80, " crabhook   2 waiting · 1 session · 1 ▲▲ · oldest 3:05  rules 41 WRONG   22:13"),
        (76, " crabhook   2 waiting · 1 session · 1 ▲▲ · oldest 3:05  22:13"),
        (60, " crabhook   2 waiting · 1 ▲▲ · oldest 3:05  22:13"),
        (50, " crabhook 2 waiting · 1 ▲▲ · oldest 3:05  22:13"),
        (40, " 2 waiting · 1 ▲▲ · oldest 3:05  22:13"),
        (24, " 2 waiting · 1 ▲▲"),
    ],
)
def test_the_status_line_keeps_what_matters_most_at_every_width(columns: int, told: str) -> None:
    sitting = Sitting(columns=columns)
    sitting.desk.runner.stand(HouseChanged("rules 41 WRONG · record ok"))
    sitting.screen.title = ""
    sitting.ask()
    sitting.ask(tool_input={"command": "rm -rf /srv/cache"})
    sitting.desk.pass_time(185)
    shown = sitting.rows_of_text()[0]
    assert shown.split() == told.split()
    assert len(shown) == columns
