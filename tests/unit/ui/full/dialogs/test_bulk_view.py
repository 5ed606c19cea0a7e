"""What many are asked is shown before they are decided: the same thing once, and whole."""

from __future__ import annotations

from crabhook.model.decision import Decision, Verdict
from crabhook.present.safe import safe
from crabhook.ui.full.dialogs.bulk import bundle_of, bundle_page
from crabhook.ui.text.layout import Sheet
from tests.support.sitting import QUESTIONS, Sitting

ALLOW = Decision(Verdict.ALLOW)


def shown(sitting: Sitting, decision: Decision = ALLOW) -> list[str]:
    cards = sitting.desk.waiting()
    content = bundle_page(bundle_of(cards, decision), decision)
    sheet = Sheet(100, safe)
    lines = [line for place in range(content.count) for line in content.item(place).rows(sheet)]
    return ["".join(text for _, text in line) for line in lines]


def test_how_many_and_of_how_many_sessions_comes_first() -> None:
    sitting = Sitting()
    for number, session in enumerate(("a", "a", "b")):
        sitting.ask(tool_input={"command": f"ls {number}"}, session_id=session)
    assert shown(sitting)[0].startswith("ALLOW 3 requests of 2 sessions: #1, #2, #3")


def test_what_is_the_same_is_shown_once_with_all_who_ask_it() -> None:
    sitting = Sitting()
    for session in ("a", "b", "c"):
        sitting.ask(tool_input={"command": "make"}, session_id=session)
    sitting.ask(tool_input={"command": "make clean"}, session_id="a")
    rows = shown(sitting)
    assert rows[1:] == [
        "#1, #2, #3 · api-server a, api-server b, api-server c · Bash  make",
        "▲ #4 · api-server a · Bash  make clean",
    ]


def test_nothing_of_a_command_is_left_out_and_what_is_more_stands_below_its_line() -> None:
    sitting = Sitting()
    sitting.ask(tool_input={"command": "echo " + "x" * 300 + " the end"})
    sitting.ask(tool_input={"command": "one\ntwo"}, session_id="b")
    sitting.ask(tool_input={"command": "make", "run_in_background": True}, session_id="c")
    sitting.ask(tool_input={"command": "ls", "description": ["odd"]}, session_id="d")
    rows = "\n".join(shown(sitting))
    assert '"odd"' in rows
    assert "the end" in rows.replace("\n┆ ", "")
    assert "│ one\n│ two" in rows
    assert "run_in_background: true" in rows


def test_a_reason_is_shown_as_the_models_will_read_it() -> None:
    sitting = Sitting()
    sitting.ask()
    rows = shown(sitting, Decision(Verdict.DENY, reason="no\x1bsuch"))
    assert rows[1:3] == ["the model reads", "│ no␛such"]


def test_what_is_left_out_is_said() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.ask("AskUserQuestion", QUESTIONS, session_id="b")
    rows = shown(sitting)
    assert rows[0].startswith("ALLOW 1 request of 1 session: #1")
    assert rows[-1].startswith("#2 is left out")


def test_hundreds_are_named_in_few_words() -> None:
    sitting = Sitting()
    for number in range(300):
        sitting.ask(session_id=f"s{number}")
    rows = shown(sitting)
    assert "and 288 more" in "".join(rows[:4])
    assert len([row for row in rows if "ls -l" in row]) == 1
