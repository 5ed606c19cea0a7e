"""The foot: the line being typed with its cursor, what was said in full, what went by."""

from __future__ import annotations

from prompt_toolkit.utils import get_cwidth

from tests.support.sitting import Sitting, call, happening


def typing(text: str, columns: int = 80) -> tuple[Sitting, str, int]:
    """Return the box's row and the cursor's column after `text` was typed into it."""
    sitting = Sitting(columns=columns)
    sitting.ask()
    sitting.wait()
    sitting.press("d")
    sitting.controller.paste(text)
    frame = sitting.draw()
    assert frame.cursor is not None
    column, row = frame.cursor
    return sitting, "".join(text for _, text in frame.lines[row]), column


def test_the_cursor_stands_behind_what_was_typed() -> None:
    for text in ("", "no", "日本語", "x" * 500):
        _, row, column = typing(text)
        before = ""
        while get_cwidth(before) < column:
            before += row[len(before)]
        assert before.endswith(text[-30:])
        assert column < 80


def test_the_cursor_of_a_narrow_screen_stays_on_it() -> None:
    for columns in (24, 30, 40):
        _, _, column = typing("some long reason for all this", columns)
        assert column < max(columns, 32)


def test_the_box_says_whose_it_is_and_that_its_card_ended() -> None:
    sitting, row, _ = typing("no")
    assert row.strip() == "deny #1, the model reads why: no"
    sitting.leave(1)
    assert "#1 has ended, nothing will be sent: no" in sitting.text()


def test_a_long_notice_is_shown_whole_over_what_went_by() -> None:
    sitting = Sitting()
    sitting.screen.say("word " * 30 + "end")
    rows = sitting.rows_of_text()
    assert " ".join(" ".join(rows[-4:-1]).split()) == ("word " * 30 + "end")


def test_a_notice_on_a_small_screen_never_covers_the_keys() -> None:
    sitting = Sitting(columns=40, rows=10)
    sitting.screen.say("what happened is told in more than one row")
    *_, said, keys = sitting.rows_of_text()
    assert said.strip() == "what happened is told in more than one"
    assert "? keys" in keys


def test_what_is_said_while_typing_is_seen_at_every_size() -> None:
    for rows in (8, 10, 24, 60):
        sitting = Sitting(rows=rows)
        sitting.ask()
        sitting.wait()
        sitting.press("n", "enter")
        assert "type the note" in sitting.text()
        assert "allow #1" in sitting.text()


def test_the_foot_never_moves() -> None:
    sitting = Sitting()
    places = set()
    for step in (lambda: None, sitting.ask, lambda: sitting.leave(1)):
        step()
        places.add(len(sitting.rows_of_text()))
        places.add(sitting.rows_of_text()[-4].count("─") > 10)
    assert places == {24, True}


def test_however_long_a_prompt_is_what_is_typed_is_seen() -> None:
    sitting = Sitting()
    subagent = {"agent_id": "a1", "agent_type": "general-purpose"}
    sitting.ask(session_id="460c652e-04a4")
    sitting.desk.ask(happening("SubagentStart", session_id="460c652e-04a4", **subagent))
    sitting.wait()
    sitting.desk.pass_time(1)
    sitting.press("S", "enter")
    sitting.wait()
    sitting.press("4")
    sitting.type("the wrong branch of it")
    assert "the wrong branch of it" in sitting.text()


def test_what_was_decided_is_not_pushed_away_by_what_agents_do() -> None:
    sitting = Sitting(take_back_ms=0)
    name = sitting.desk.ask(call(tool_input={"command": "make"}))
    sitting.wait()
    sitting.press("d", "n", "o", "enter")
    sitting.desk.deliver(name)
    for _ in range(99):
        sitting.desk.ask(happening("PostToolUse", tool_name="Read", tool_input={"file_path": "a"}))
    news = "\n".join(sitting.rows_of_text()[-3:])
    assert "#1 Bash DENIED" in news
    assert "Read" not in news


def test_a_key_that_does_nothing_at_the_card_says_so() -> None:
    sitting = Sitting()
    sitting.ask(tool_input={"command": "make"})
    sitting.wait()
    sitting.press("l")
    assert "l does nothing at #1: ? shows which keys do" in sitting.text()
    assert not sitting.decided()


def test_a_decision_has_its_colour_in_the_row_and_the_card() -> None:
    sitting = Sitting(columns=120, rows=40, take_back_ms=0)
    for session, key in (("a", "a"), ("b", "d")):
        number = sitting.ask(session_id=session)
        sitting.screen.select(lambda number=number: sitting.screen.selection.choose(number))
        sitting.wait()
        sitting.press(key, *(["n", "o", "enter"] if key == "d" else []))
        word, look = ("ALLOWED", "allowed") if key == "a" else ("DENIED", "refused")
        spans = [span for line in sitting.draw().lines for span in line]
        coloured = [text for style, text in spans if style == look]
        assert sum(word in text for text in coloured) == 3, coloured  # row, title, card
        plain = [text for style, text in spans if style != look and word in text]
        assert not plain


def test_a_page_that_goes_on_says_so_at_enter() -> None:
    sitting = Sitting(columns=80, rows=24)
    for number in range(30):
        sitting.ask(session_id=str(number), tool_input={"command": f"echo {number}"})
    sitting.press("&", *["down", "space"] * 29)
    sitting.wait()
    sitting.press("a")
    sitting.wait()
    pages = 0
    while "enter next page" in sitting.rows_of_text()[-1]:
        sitting.press("enter")
        sitting.wait()
        pages += 1
    assert pages >= 2
    assert "enter yes, exactly this" in sitting.rows_of_text()[-1]
    assert not sitting.decided()
