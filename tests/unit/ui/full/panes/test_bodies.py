"""A card of each kind on three screens, as the painter draws it; run as a module it draws them anew."""

from __future__ import annotations

import re
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.desk.updates import HouseChanged
from crabhook.model.actor import OrderKind
from crabhook.model.card import Effect, Level, Risk
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from crabhook.present.document import CallRisk
from crabhook.present.phrases import Clock
from crabhook.present.safe import safe
from crabhook.ui.full.panes.around import risk_rows
from crabhook.ui.text.layout import Sheet, line_cells
from crabhook.ui.text.width import OWN_SYMBOLS
from tests.support.desk import PlayedDesk
from tests.support.drawn_terminal import on_a_terminal, text_of
from tests.support.examples import share
from tests.support.offering import BOTH
from tests.support.rows import every_row
from tests.support.ruled import NO_RM, judge_by
from tests.support.sitting import LONG_ENOUGH, QUESTIONS, Sitting, call, happening

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = Path(__file__).parents[4] / "samples" / "screens"
SIZES = ((80, 24), (120, 40), (200, 60))
PROMPT = "Please build it anew; the cache may be broken"
WORDS = "The tests fail with the old cache, so I start clean."
CLEAN = {
    "command": "rm -rf ../cache && npm ci 2>&1 | tail -n 3",
    "description": "Clean build and reinstall, the lockfile changed",
}
SOURCE = "/home/ann/api-server/src/auth.ts"
OLD = "export function login(user) {\n  check(user);\n  return token(user, 60);\n}\n"
NEW = (
    "export function login(user) {\n  if (!user) return null;\n  check(user);\n"
    "  return token(user, 3600);\n}\n"
)
PLAN = "# Rotate tokens\n\n1. Read `auth.ts`\n2. Make the lifetime a **setting**\n3. Test it\n"
FORM = {
    "mcp_server_name": "github",
    "mode": "form",
    "message": "Which repository?",
    "requested_schema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Repository"},
            "private": {"type": "boolean", "title": "Private"},
        },
        "required": ["name"],
    },
}


def asked(tool: str, tool_input: Any, **fields: Any) -> Callable[[Sitting], object]:
    return lambda sitting: sitting.ask(tool, tool_input, **fields)


BODIES: dict[str, Callable[[Sitting], object]] = {
    "command": asked("Bash", CLEAN),
    "harmless": asked("Bash", {"command": "ls -l"}),
    "unknown": asked("Bash", {"command": "frobnicate --all"}),
    "edit": asked("Edit", {"file_path": SOURCE, "old_string": OLD, "new_string": NEW}),
    "write": asked("Write", {"file_path": "/home/ann/.bashrc", "content": "export A=1\n"}),
    "fetch": asked("WebFetch", {"url": "https://example.com/x", "prompt": "Sum it up"}),
    "mcp": asked("mcp__github__create_issue", {"title": "A bug", "body": "It breaks"}),
    "questions": asked("AskUserQuestion", QUESTIONS),
    "plan": asked("ExitPlanMode", {"plan": PLAN}, hook_event_name="PermissionRequest"),
    "form": lambda sitting: sitting.desk.ask(happening("Elicitation", **FORM)),
    "stop": lambda sitting: sitting.happen("Stop", last_assistant_message="All tests **pass**."),
    "fields": lambda sitting: sitting.desk.ask(happening("Elicitation", **FIELDS)),
    "link": lambda sitting: sitting.desk.ask(happening("Elicitation", **LINK)),
    "result": lambda sitting: sitting.happen("PostToolUse", **RESULT),
    "suggestions": asked(
        "Bash",
        {"command": "make all"},
        hook_event_name="PermissionRequest",
        permission_suggestions=[
            {
                "type": "addRules",
                "rules": [{"toolName": "Bash", "ruleContent": "make all *"}],
                "behavior": "allow",
                "destination": "localSettings",
            },
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        ],
    ),
}


def many(sitting: Sitting) -> None:
    """The page that asks whether what is marked shall be allowed, a danger among it."""
    for session in ("web", "docs", "infra"):
        sitting.ask(
            tool_input={"command": "npm test"}, session_id=session, cwd=f"/home/ann/{session}"
        )
    sitting.ask(tool_input={"command": "rm -rf ../cache"})
    sitting.press("space", "down", "space", "down", "space", "down", "space")
    sitting.wait()
    sitting.press("a")


def observed(sitting: Sitting) -> None:
    """What only goes by, and ends."""
    sitting.desk.ask(happening("SubagentStart", agent_id="a1", agent_type="Explore"))
    sitting.desk.ask(happening("Notification", message="Claude needs your permission"))
    sitting.ask(tool_input={"command": "git status"})
    sitting.wait()
    sitting.press("a")
    sitting.wait(2.5)


def offered(sitting: Sitting) -> None:
    """The rules that are offered for a card."""
    number = sitting.ask(tool_input={"command": "make"})
    sitting.desk.offered[number] = BOTH
    sitting.wait()
    sitting.press("A", "down")


def keyed(body: str, *keys: str) -> Callable[[Sitting], object]:
    """A body before which keys are pressed."""

    def pressed(sitting: Sitting) -> None:
        BODIES[body](sitting)
        sitting.wait()
        sitting.press(*keys)

    return pressed


SCREENS: dict[str, Callable[[Sitting], object]] = {
    "second-yes": keyed("command", "a"),
    "held": keyed("harmless", "a"),
    "deny": keyed("harmless", "d", "n", "o"),
    "editor": keyed("harmless", "e"),
    "everything": keyed("command", "i"),
    "review": keyed("questions", "enter", "space", "enter"),
    "notes": keyed("plan", "l", "down", "c", "o", "k", "enter"),
    "orders": keyed("harmless", "O"),
    "away": keyed("harmless", "b", "enter", "enter"),
    "help": keyed("command", "?"),
    "palette": keyed("command", ":", "a", "l", "l"),
    "sessions": keyed("command", "S"),
    "history": keyed("command", "H"),
    "many": many,
    "observed": observed,
    "offered": offered,
    "empty": lambda _: None,
}
"""Pages and views, and what keys lead to: the whole screen, as far as a foot tells of it."""


FIELDS = {
    **FORM,
    "message": "A new issue",
    "requested_schema": {
        "type": "object",
        "properties": {
            "title": {"type": "string", "title": "Title", "minLength": 3},
            "kind": {"type": "string", "enum": ["bug", "wish"], "title": "Kind"},
            "votes": {"type": "integer", "minimum": 0, "default": 1},
            "mail": {"type": "string", "format": "email", "description": "who hears of it"},
        },
        "required": ["title", "kind"],
    },
}
RESULT = {
    "tool_name": "Bash",
    "tool_input": {"command": "npm test"},
    "tool_response": {"stdout": "3 passed, 1 failed", "stderr": "", "interrupted": False},
}
LINK = {
    "mcp_server_name": "github",
    "mode": "url",
    "message": "Sign in to go on.",
    "url": "https://github.example/login?device=1",
}


def sitting_at(body: str, columns: int, rows: int, **options: Any) -> Sitting:
    rules = NO_RM.replace("deny", "ask-operator").replace("use trash", "look at deletions")
    desk = PlayedDesk(judge=judge_by(rules, "/home/ann/api-server"))
    for command, verdict in (
        ("rm -r build && npm ci", Verdict.ALLOW),
        ("rm -rf / && npm ci", Verdict.DENY),
    ):
        desk.ask(call(tool_input={"command": command}))
        desk.answer(desk.waiting()[-1].number, Decision(verdict, reason="no" * (verdict == "deny")))
    desk.ask(happening("UserPromptSubmit", prompt=PROMPT))
    desk.words[3] = WORDS
    sitting = Sitting(columns=columns, rows=rows, desk=desk, **options)
    (BODIES | SCREENS)[body](sitting)
    sitting.wait(0.5 if body in SCREENS else LONG_ENOUGH)
    return sitting


def drawn(sitting: Sitting, *, whole: bool = False) -> str:
    """The screen down to the lower edge of the card, or all of it."""
    rows = [row.rstrip() for row in sitting.rows_of_text()]
    end = next((at for at, row in enumerate(rows) if row.startswith("╰")), len(rows))
    return "".join(f"{row}\n" for row in (rows if whole else rows[: end + 1]))


def file_of(body: str, columns: int, rows: int) -> Path:
    return SAMPLES / f"{body}-{columns}x{rows}.txt"


@every_row("body, size", share([*product(BODIES | SCREENS, SIZES)], 0, of=2))
def test_each_body_is_drawn_as_it_was_when_somebody_last_looked(
    body: str, size: tuple[int, int]
) -> None:
    expected = file_of(body, *size).read_text(encoding="utf-8")
    assert drawn(sitting_at(body, *size), whole=body in SCREENS) == expected, (
        "python -m tests.unit.ui.full.panes.test_bodies draws them anew: look at them"
    )


def test_every_text_that_is_kept_is_of_a_body() -> None:
    kept = {path.name for path in SAMPLES.iterdir()}
    assert kept == {file_of(body, *size).name for body in BODIES | SCREENS for size in SIZES}


def test_an_ordinary_call_its_risk_and_its_keys_are_whole_on_the_smallest_screen() -> None:
    sitting = sitting_at("command", 80, 24)
    shown = sitting.text()
    for one in (*CLEAN.values(), "▲▲ deletes ../cache (OUTSIDE the project)", "▲ network"):
        assert one in shown
    assert "more below" not in shown
    keys = sitting.rows_of_text()[-1]
    assert "a allow" in keys
    assert "d deny" in keys


@every_row("body", BODIES)
def test_most_of_a_card_is_what_is_asked_and_its_risk_and_its_keys_are_on_the_bar(
    body: str,
) -> None:
    shown = sitting_at(body, 80, 24).rows_of_text()
    rows = [row.strip("│ ") for row in shown]
    start = 1 + next(at for at, row in enumerate(rows) if row.startswith("├"))
    end = next(at for at in range(start, len(rows)) if rows[at].startswith("╰"))
    card = rows[start:end]
    while not card[-1]:
        card.pop()
    first = next((at for at, row in enumerate(card) if row.startswith(AROUND)), len(card))
    assert first > 0.5 * len(card), card
    for key in KEYS_OF.get(body, ("a allow", "d deny")):
        assert f" {key}" in shown[-1]


AROUND = ("asked because: ", "the user asked: ", "the agent said: ", "rm, npm ci: ")
KEYS_OF = {
    "questions": ("enter choose", "d deny"),
    "form": ("a accept", "d decline"),
    "fields": ("a accept", "d decline"),
    "link": ("a accept", "d decline"),
    "plan": ("a approve", "d send back"),
    "stop": ("w keep going", "a let it stop"),
    "result": ("e change output", "p pass"),
}
"""The keys that decide what is no call: those of a call are to allow and to deny it."""


@every_row("body", ["questions", "plan", "form", "fields", "link", "stop"])
@every_row("columns, rows", SIZES)
def test_nothing_that_a_body_shows_is_shown_again_as_json(
    body: str, columns: int, rows: int
) -> None:
    shown = drawn(sitting_at(body, columns, rows))
    for name in ("requested_schema", "properties", "multiSelect", "planFilePath", "questions:"):
        assert name not in shown
    assert not re.search(r"[{\[]\s*$|\": ", shown, re.MULTILINE)


@pytest.mark.parametrize(
    ("columns", "rows"),
    [SIZES[0], *(pytest.param(*size, marks=pytest.mark.thorough) for size in SIZES[1:])],
)
@pytest.mark.parametrize("body", share([*BODIES, *SCREENS], 0))
def test_a_terminal_shows_what_was_painted(body: str, columns: int, rows: int) -> None:
    sitting = sitting_at(body, columns, rows)
    painted = [row.rstrip() for row in sitting.rows_of_text()]
    assert text_of(on_a_terminal(sitting)) == painted


@pytest.mark.parametrize("rows", [10, 24, 40])
def test_the_risk_stays_in_view_however_long_the_call_is_and_wherever_it_is_scrolled(
    rows: int,
) -> None:
    sitting = Sitting(columns=80, rows=rows)
    sitting.ask(tool_input={"command": "rm -rf ../cache\n" + "ls\n" * 300})
    sitting.wait()
    for keys in ((), ("pagedown",), ("end",)):
        sitting.press(*keys)
        assert "▲▲ deletes ../cache" in sitting.text()


def test_in_ascii_the_marks_are_exclamation_marks() -> None:
    text = sitting_at("command", 80, 24, ascii=True).text()
    assert text.isascii()
    assert "!! deletes ../cache (OUTSIDE the project)" in text
    assert "! network" in text


OUR_MARKS = [f"<U+{ord(mark):04X}>" for mark in (*OWN_SYMBOLS, "—")]


@every_row("body", BODIES | SCREENS)
@every_row("columns, rows", share([(80, 24), (160, 50)], 0))
def test_in_ascii_no_mark_of_ours_is_spelt_out(body: str, columns: int, rows: int) -> None:
    text = sitting_at(body, columns, rows, ascii=True).text()
    assert text.isascii()
    assert not [mark for mark in OUR_MARKS if mark in text]


def test_in_ascii_the_marks_of_the_title_and_of_what_is_said_are_plain() -> None:
    sitting = sitting_at("command", 120, 40, ascii=True)
    sitting.desk.runner.stand(HouseChanged("rules 1 WRONG · record MISSING", ""))
    sitting.desk.order(Order(OrderKind.HALT, session="3f1c0000"))
    sitting.screen.say("one · two — three…")
    assert "rules 1 WRONG - record MISSING" in sitting.text()
    assert "one - two - three~" in sitting.text()
    sitting.press("O")
    assert "<U+" not in sitting.text()


def test_in_ascii_an_agents_letters_that_look_like_our_marks_stay_spelt_out() -> None:
    sitting = Sitting(ascii=True)
    sitting.ask(tool_input={"command": "echo ▲▲ a · b … c"})
    assert "echo <U+25B2><U+25B2> a <U+00B7> b <U+2026> c" in sitting.text()


@given(st.text(alphabet="ab 日\n\x1b\u202e\t", max_size=120), st.integers(12, 90))
def test_no_word_of_a_risk_acts_or_is_too_wide(words: str, columns: int) -> None:
    effects = (Effect("deletes", Level.DANGER, words), Effect("network", Level.CAUTION, words))
    for line in risk_rows(CallRisk(Risk(Level.DANGER, effects, (words,))), Sheet(columns, safe)):
        assert line_cells(line) <= columns
        assert all(safe(text) == text for _, text in line)


def test_what_nobody_knows_is_never_called_safe() -> None:
    assert "no known risk · not known here: frobnicate" in drawn(sitting_at("unknown", 120, 40))


def test_a_call_that_was_allowed_changed_is_shown_as_it_was_changed_and_what_was_asked_a_key_away() -> (
    None
):
    sitting = Sitting(take_back_ms=0, rows=40)
    asked = sitting.desk.ask(call(tool_input={"command": "rm -rf /old"}))
    sitting.wait()
    changed = Decision(Verdict.ALLOW, updated_input={"command": "ls /new"})
    sitting.desk.seat.objections(1, changed)
    sitting.desk.answer(1, changed)
    sitting.desk.deliver(asked)
    shown = sitting.text()
    assert "ALLOWED edited" in shown
    assert "│ ls /new" in shown
    assert "ALLOWED edited: ls /new" in shown  # in the feed
    assert shown.count("rm -rf /old") == 1  # in what was changed alone
    told = shown[shown.index("what was changed: command") :]
    assert told.index("│ - rm -rf /old") < told.index("│ + ls /new")
    assert "▲▲" not in shown  # the risk is that of the changed call
    sitting.press("i")
    assert "rm -rf /old" in sitting.text()


def test_a_call_that_is_to_be_allowed_changed_is_shown_changed_until_that_is_taken_back() -> None:
    sitting = Sitting(take_back_ms=2000, rows=40)
    sitting.ask(tool_input={"command": "rm -rf ../old", "timeout": 7})
    sitting.wait()
    assert "what was changed" not in sitting.text()
    sitting.press("e", "end", "backspace", "backspace", "backspace")
    sitting.type("new")
    sitting.press("c-s")
    sitting.wait()
    changed = sitting.text()
    assert "▲▲ deletes ../new" in changed[changed.index("what it may do then") :]
    sitting.press("enter")
    assert "▲▲ deletes ../new (OUTSIDE the project)? enter allows it" in sitting.text()
    assert "│ rm -rf ../new" in sitting.text()
    sitting.wait()
    sitting.press("enter")
    shown = sitting.text()
    assert "ALLOW edited" in shown
    assert "edited: to be allowed as it is here · i what was asked" in shown
    assert "│ rm -rf ../new" in shown
    assert shown.count("rm -rf ../old") == 1
    assert "│ - rm -rf ../old" in shown[shown.index("what was changed: command") :]
    assert "its risk, as you changed it:" in shown[: shown.index("▲▲ deletes ../new")]
    assert "deletes ../old" not in shown
    sitting.press("i")
    assert "│ rm -rf ../old" in sitting.text()
    sitting.press("escape", "u")
    shown = sitting.text()
    assert "│ rm -rf ../old" in shown
    assert "rm -rf ../new" not in shown
    sitting.wait(10)
    assert not sitting.decided()


@pytest.mark.slow
@every_row("body", BODIES)
def test_a_card_is_drawn_within_ten_milliseconds_of_processor_time(body: str) -> None:
    sitting = sitting_at(body, 200, 60)
    clock, took = Clock(sitting.desk.now(), 0.0), []
    for _ in range(5):
        began = time.process_time()
        sitting.painter.frame(200, 60, clock)
        took.append(time.process_time() - began)
    assert min(took) <= 0.010


def write() -> None:
    """Draw all screens anew."""
    SAMPLES.mkdir(exist_ok=True)
    for body in BODIES | SCREENS:
        for columns, rows in SIZES:
            text = drawn(sitting_at(body, columns, rows), whole=body in SCREENS)
            file_of(body, columns, rows).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
