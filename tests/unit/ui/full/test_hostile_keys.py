"""Clumsy and hostile keys at the real painter and controller: nothing is decided that was not meant.

Words among the keys: `wait` looks at the screen until keys are live; `@0.03` sets the
seconds between two keys; `burst:…` lets letters come at once, ⏎ for enter and ⎋ for escape;
`new` brings another card, `again` asks about the first once more, `leave` ends it;
`resize:40x10` changes the screen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crabhook.demo.sessions import session
from crabhook.model.card import Stance
from crabhook.model.decision import Verdict
from tests.support.examples import share
from tests.support.rows import every_row
from tests.support.sitting import QUESTIONS, Sitting, call

_CORPUS = Path(__file__).with_name("hostile_keys.txt").read_text().splitlines()
SEQUENCES = [tuple(line.split(" | ")) for line in _CORPUS if not line.startswith("#")]
CARDS: dict[str, dict[str, Any]] = {
    "call": {"tool_use_id": "t1"},
    "long": {"tool_input": {"command": "\n".join(f"echo {n}" for n in range(400)) + "\nmake"}},
    "blanks": {"tool_input": {"command": "ls" + " " * 3000 + "; make" + "\n# more" * 40}},
    "danger": {"tool_input": {"command": "rm -rf ../cache"}},
    "bypass": {"permission_mode": "bypassPermissions"},
    "edits": {
        "tool": "Write",
        "tool_input": {"file_path": "/home/ann/api-server/a", "content": "b\n"},
        "permission_mode": "acceptEdits",
    },
    "question": {"tool": "AskUserQuestion", "tool_input": QUESTIONS},
    "plan": {"tool": "ExitPlanMode", "tool_input": {"plan": "# one\n\ntwo"}},
}
_NAMED = {"⏎": "enter", "⎋": "escape", "␣": "space"}


def sitting_at(kind: str, columns: int, rows: int) -> Sitting:
    """Return a screen as it is installed, with the card in view for no time yet."""
    sitting = Sitting(columns=columns, rows=rows, take_back_ms=2000, advance=True)
    sitting.ask(**CARDS[kind])
    sitting.draw()
    return sitting


def play(sitting: Sitting, step: str) -> None:
    """Do what one word of a sequence says, or press it."""
    match step.partition(":"):
        case ["wait", "", ""]:
            sitting.wait()
        case ["new", "", ""]:
            sitting.ask(session_id="another")
        case ["again", "", ""]:
            more = {"hook_event_name": "PermissionRequest", "tool_use_id": "t1", "more": 1}
            sitting.desk.ask(call(**more))
        case ["leave", "", ""]:
            sitting.leave(1)
        case ["resize", _, size]:
            sitting.columns, sitting.rows = map(int, size.split("x"))
            sitting.draw()
        case ["burst", _, text]:
            sitting.burst(*(_NAMED.get(letter, letter) for letter in text))
        case _ if step.startswith("@"):
            sitting.stroke = float(step[1:])
        case _:
            sitting.press(step)


@every_row("what, kind, size, steps", share(SEQUENCES, 0))
def test_nothing_is_decided_that_was_not_meant(what: str, kind: str, size: str, steps: str) -> None:
    columns, rows = map(int, size.split("x"))
    sitting = sitting_at(kind, columns, rows)
    for step in steps.split():
        play(sitting, step)
    for _ in range(8):
        sitting.wait(1.0)
    assert not sitting.decided(), what


def test_the_corpus_has_two_hundred_sequences_that_each_say_what_they_are() -> None:
    assert len(SEQUENCES) >= 200
    assert len({(what, size) for what, _, size, _ in SEQUENCES}) == len(SEQUENCES)


# What is meant is done all the same.


def test_a_danger_is_allowed_by_a_second_yes_that_names_it() -> None:
    for columns, rows in ((80, 24), (40, 10)):
        sitting = sitting_at("danger", columns, rows)
        sitting.wait()
        sitting.press("a")
        assert "deletes ../cache" in sitting.text()
        assert "enter yes, do it  esc back" in sitting.rows_of_text()[-1]
        sitting.wait()
        sitting.press("enter")
        assert "ALLOW in 5 s" in sitting.text()
        sitting.wait(4.5)
        assert not sitting.decided()
        sitting.wait(1.0)
        assert sitting.verdicts() == [(1, Verdict.ALLOW)]


def test_a_second_yes_names_no_mode_that_the_agent_did_not_tell() -> None:
    script = session("copilot")
    sitting = Sitting()
    asked = next(row.sends for row in script.inputs if row.typed)
    sitting.desk.ask(asked, platform=script.agent, stance=Stance(script.stance))
    sitting.wait()
    sitting.press("p")
    assert "perhaps nobody is asked, it may run? enter passes it" in sitting.text()


def test_no_opinion_is_given_by_a_second_yes_where_the_mode_asks_nobody() -> None:
    sitting = sitting_at("bypass", 80, 24)
    sitting.wait()
    sitting.press("p")
    assert (
        "in mode bypassPermissions nobody is asked, it may run? enter passes it" in sitting.text()
    )
    sitting.wait()
    sitting.press("enter")
    sitting.wait(2.5)
    assert sitting.verdicts() == [(1, Verdict.PASS)]


def test_a_long_call_is_allowed_once_each_line_was_on_the_screen() -> None:
    sitting = sitting_at("long", 80, 24)
    sitting.wait()
    for _ in range(60):
        sitting.press("a")
        if "more line" not in sitting.text():
            break
        sitting.wait()
    sitting.wait(2.5)
    assert sitting.verdicts() == [(1, Verdict.ALLOW)]


def test_a_decision_selects_the_next_card_whose_keys_are_not_live_yet() -> None:
    sitting = sitting_at("call", 80, 24)
    sitting.ask(session_id="b")
    sitting.wait()
    sitting.press("a")
    assert sitting.card.number == 2
    sitting.press("p", "h")
    sitting.wait(3)
    assert sitting.verdicts() == [(1, Verdict.ALLOW)]


def test_a_danger_is_left_out_of_many_unless_it_was_marked_by_hand() -> None:
    sitting = sitting_at("danger", 80, 24)
    sitting.wait()
    sitting.press("&", "a")
    assert "none of the marked" in sitting.text()
    sitting.press("escape", "space", "a")
    sitting.wait()
    sitting.press("enter")
    sitting.wait(6)
    assert sitting.verdicts() == [(1, Verdict.ALLOW)]


def test_allow_and_deny_are_on_every_bar_down_to_forty_columns() -> None:
    for kind in ("call", "long", "danger", "edits", "plan"):
        for columns, rows in ((40, 10), (60, 12), (80, 24)):
            sitting = sitting_at(kind, columns, rows)
            for held in ((), ("a", "up"), ("space",)):
                sitting.wait()
                sitting.press(
                    *held, *(["escape"] if kind == "danger" and held == ("a", "up") else [])
                )
                sitting.screen.say("a notice that is much too long for a screen so small " * 4)
                bar = sitting.rows_of_text()[-1]
                allow, deny = ("a allow", "d deny")
                if kind == "plan" and not sitting.screen.marks:
                    allow, deny = ("a approve", "d send back")
                if sitting.screen.answers.held(1):  # only a stricter answer acts
                    allow = "u TAKE BACK"
                assert allow in bar, (kind, columns, held)
                assert deny in bar, (kind, columns, held)
