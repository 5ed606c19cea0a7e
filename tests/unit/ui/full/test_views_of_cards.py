"""Every view of a card shows what was sent, and nothing of it raw, whatever it is."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.actor import OrderKind
from crabhook.model.card import Stance
from crabhook.model.order import Order
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Held
from crabhook.present.card import card_document
from crabhook.present.safe import TAB, safe
from crabhook.ui.full.dialogs.mcp_form import filled_page
from crabhook.ui.full.dialogs.plan import changes_page, denial_page, notes_content
from crabhook.ui.full.panes.request import everything_page
from crabhook.ui.text.layout import Content, Sheet, line_cells
from crabhook.ui.text.width import safe_ascii
from tests.support.examples import examples, share
from tests.support.rows import every_row
from tests.support.sitting import Sitting

SAMPLES = Path(__file__).parents[3] / "samples" / "claude"
SHEET = Sheet(78, safe)
HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\r\u202e\u2066\u200b\ufeff\x7f\x00\ue000"


def sample(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SAMPLES / f"{name}.json").read_text())
    return found


def at_the_card(event: dict[str, Any], platform: str = "claude") -> Sitting:
    sitting = Sitting()
    for name in sitting.desk.holdable():
        sitting.desk.order(Order(OrderKind.HOLD, name))
    sitting.desk.ask(event, platform=platform)
    sitting.wait()
    return sitting


def rows(content: Content | None, sheet: Sheet = SHEET, most: int = 150) -> list[str]:
    assert content is not None
    shown = []
    for place in range(min(content.count, most)):
        for line in content.item(place).rows(sheet):
            if line and line[0][0] == "bar":
                assert line_cells(line) <= max(sheet.columns, 12)
            assert all(safe(text) == text for _, text in line)
            shown.append("".join(text for _, text in line))
            if len(shown) >= most:
                return shown
    return shown


def told(name: str, **fields: Any) -> str:
    sitting = at_the_card({**sample(name), **fields})
    return "\n".join(rows(sitting.content()))


def test_a_stop_tells_the_last_message_and_how_often_it_was_kept_going() -> None:
    said = told(
        "Stop",
        last_assistant_message="# Done\n- one **thing**",
        background_tasks=[{"id": "b1", "command": "npm run deploy"}],
        stop_hook_active=True,
    )
    assert said.index("its first stop in a row · you can keep it going 8 times") < said.index(
        "the agent's last message"
    )
    assert "│ # Done\n│ · one thing\n" in said
    assert "background tasks: 1\n1 of 1\n│ id: b1\n│ command: npm run deploy\n" in said
    assert "scheduled wake-ups: none" in said
    assert "because a hook told it to" in said
    assert said.count("last_assistant_message") == 0


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("UserPromptSubmit", "the prompt\n│ do the thing"),
        ("UserPromptExpansion", "the prompt\n│ /greet Ann\n│ command: greet"),
        ("PreCompact", "│ compacting, asked for: manual"),
        ("ConfigChange", "│ settings that changed: user_settings\n│ file: /home/dev/.claude"),
        ("PreModelSwitch", "from claude-opus-5-5\nto claude-sonnet-5-5\n│ asked for: sonnet"),
        ("Setup", "│ set up for: init"),
        ("SubagentStart", "│ the subagent: general-purpose"),
        ("SubagentStop", "its first stop in a row"),
        ("SessionStart-compact", "│ started by: compact\nmodel claude-opus-5-5"),
    ],
)
def test_the_telling_fields_of_an_event_come_first(name: str, first: str) -> None:
    assert told(name).startswith(first)


def test_what_a_tool_gave_follows_what_it_was_given() -> None:
    said = told("PostToolUse-Bash", tool_response={"stdout": "one\ntwo", "stderr": ""})
    assert said.index("│ echo hi") < said.index("the tool gave\n│ stdout:\n│   one\n│   two")


def test_a_failure_and_a_denial_say_why() -> None:
    assert "the tool failed\n│ Exit code 1" in told("PostToolUseFailure-Bash")
    assert "the agent denied it, because\n│ Classifier" in told("PermissionDenied-Bash")


def test_the_price_of_another_model_is_said_in_money() -> None:
    said = told("PreModelSwitch", prompt_cache_warm=True)
    assert "again costs about $0.0072" in said
    assert "the prompt cache is warm: it is lost" in said


def test_letters_that_run_right_to_left_are_told_of_where_they_are_drawn() -> None:
    sitting = Sitting()
    sitting.ask("Bash", {"command": "mv \u05d0 \u05d1"})
    said = "letters run right to left"
    content = sitting.content()
    assert said in "\n".join(rows(content))
    assert said not in "\n".join(rows(content, Sheet(78, safe_ascii)))
    sitting.ask("Bash", {"command": "mv a \u00e9"})
    sitting.press("down")
    assert said not in "\n".join(rows(sitting.content()))


def test_suggestions_are_numbered_in_words() -> None:
    said = told("PermissionRequest-mcp")
    assert "suggestion 1  allow mcp__deploy__release, kept in local settings" in said


def test_suggestions_are_gone_once_the_card_has_ended() -> None:
    sitting = Sitting(take_back_ms=0, rows=60)
    name = sitting.desk.ask(sample("PermissionRequest-mcp"))
    sitting.wait()
    assert "suggestion 1" in sitting.text()
    sitting.desk.leave(name)
    assert "suggestion 1" not in sitting.text()


@every_row(
    "path",
    share(sorted(path for name in PLATFORMS for path in SAMPLES.with_name(name).glob("*.json")), 1),
)
def test_every_text_of_every_real_event_is_shown(path: Path) -> None:
    event = json.loads(path.read_text())
    sitting = at_the_card(event, path.parent.name)
    if sitting.screen.card is None:
        held = PLATFORMS[path.parent.name].held(sitting.desk.feed()[-1].event, Stance.GATE)
        assert held in (Held.NEVER, Held.BY_RULE)  # it is only observed, and no card
        return
    everything = everything_page(card_document(sitting.card))
    text = "".join(rows(everything, Sheet(2000, safe), most=1000)).replace("**", "")
    labels = {"query", "pattern", "url", "plan_filename", "dir_path"}
    names = ("hook_event_name", "tool_name", "hookName", "toolName")
    shown_elsewhere = labels | {event.get(name, "") for name in names}
    missing = [
        one
        for one in texts_in(event) - shown_elsewhere
        if safe(one.replace("\t", TAB).removeprefix("- ")) not in text  # a list has another mark
        and json.dumps(one, ensure_ascii=False)[1:-1] not in text
    ]
    assert not missing


def texts_in(value: Any) -> set[str]:
    """Return every line of every text in a value, as it is shown."""
    if isinstance(value, dict):
        return set().union(*map(texts_in, value.values()))
    if isinstance(value, list):
        return set().union(*map(texts_in, value))
    if not isinstance(value, str):
        return set()
    return {line.replace("**", "") for line in value.split("\n") if line.strip()}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9) | st.just(HOSTILE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.just(HOSTILE), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
OWN_FIELDS = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("last_assistant_message", "background_tasks", "session_crons", "stop_hook_active", "prompt", "trigger", "source", "from_model", "to_model", "estimated_cache_write_usd", "prompt_cache_warm", "tool_calls", "tool_response", "error", "is_interrupt", "reason", "task_subject", "mcp_server_name", "message", "mode", "url", "requested_schema", "content", "action", "permission_suggestions", "command_args", "transcript_path"), JSON),
)  # fmt: skip


@examples(60)
@given(st.sampled_from(PLATFORMS["claude"].holdable()), OWN_FIELDS, st.integers(24, 120))
def test_no_view_of_any_event_is_unsafe_or_fails(
    name: str, fields: dict[str, Any], columns: int
) -> None:
    tool = {"tool_name": "Bash", "tool_input": {"command": HOSTILE}} if "Tool" in name else {}
    event = {"hook_event_name": name, "session_id": "s", "cwd": "/", **tool, **fields}
    sitting = at_the_card(event)
    rows(sitting.content(), Sheet(columns, safe))
    if (form := sitting.filling) is not None:
        rows(filled_page(sitting.card, form), Sheet(columns, safe))
    assert all(safe(row) == row for row in sitting.rows_of_text())


FIELD = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "boolean", "array", HOSTILE]) | JSON,
        "title": st.text(max_size=9) | st.just(HOSTILE),
        "description": st.text(max_size=60) | st.just(HOSTILE),
        "enum": st.lists(JSON, max_size=4),
        "enumNames": st.lists(st.just(HOSTILE), max_size=4),
        "format": st.just(HOSTILE) | st.just("email"),
        "default": JSON,
        HOSTILE: JSON,
    },
)


@examples(30)
@given(
    st.dictionaries(st.text(max_size=5) | st.just(HOSTILE), FIELD, max_size=4), st.integers(24, 100)
)
def test_no_form_is_unsafe_or_fails(properties: dict[str, Any], columns: int) -> None:
    event = {**sample("Elicitation"), "message": HOSTILE, "mcp_server_name": HOSTILE}
    sitting = at_the_card({**event, "requested_schema": {"properties": properties}})
    sitting.press("enter", "space", "down", "enter", "a")
    form = sitting.filling
    assert form is not None
    rows(sitting.content(), Sheet(columns, safe))
    rows(filled_page(sitting.card, form), Sheet(columns, safe))


@examples(30)
@given(st.text(max_size=200) | st.just(HOSTILE * 3 + "\n" + HOSTILE), st.integers(24, 100))
def test_no_view_of_a_plan_is_unsafe_or_fails(text: str, columns: int) -> None:
    plan = f"x{text}"
    event = {**sample("PermissionRequest-Bash"), "tool_name": "ExitPlanMode"}
    sitting = at_the_card({**event, "tool_input": {"plan": plan}})
    notes, sheet = sitting.plan, Sheet(columns, safe)
    assert notes is not None
    notes.write(HOSTILE)
    for content in (
        notes_content(sitting.card, notes),
        denial_page(sitting.card, notes),
        changes_page(sitting.card, HOSTILE, plan),
    ):
        rows(content, sheet)


@pytest.mark.parametrize("url", [f"https://{HOSTILE}", "x" * 1_000_000, "https://[", "", "a b", 7])
def test_any_address_is_shown_and_never_opened(url: Any) -> None:
    event = {
        key: value for key, value in sample("Elicitation").items() if key != "requested_schema"
    }
    rows(at_the_card({**event, "mode": "url", "url": url}).content())


BIG = 3_000_000


@pytest.mark.parametrize(
    "fields",
    [
        {"hook_event_name": "Stop", "last_assistant_message": "word " * (BIG // 5)},
        {"hook_event_name": "Stop", "last_assistant_message": "*" * BIG},
        {"hook_event_name": "UserPromptSubmit", "prompt": "token=" * (BIG // 6)},
        {"hook_event_name": "PreToolUse", "tool_name": "ExitPlanMode",
         "tool_input": {"plan": "- a line\n" * (BIG // 9)}},
        {"hook_event_name": "PreToolUse", "tool_name": "Bash",
         "tool_input": {"command": "echo PASSWORD=" + "x" * BIG}},
        {"hook_event_name": "Elicitation", "message": "m" * BIG,
         "requested_schema": {"properties": {"x": {"enum": [f"c{n}" for n in range(10_000)]}}}},
        {"hook_event_name": "Elicitation",
         "requested_schema": {"properties": {f"f{n}": {"description": "d" * 15_000} for n in range(200)}}},
    ],
    ids=["prose", "emphasis", "secrets", "plan", "command", "choices", "fields"],
)  # fmt: skip
def test_the_largest_values_cost_no_more_than_what_is_looked_at(fields: dict[str, Any]) -> None:
    sitting = at_the_card({"session_id": "s", "cwd": "/", **fields})
    began = time.process_time()
    sitting.press("enter", "down", "pagedown", "up", "home")
    for _ in range(5):
        sitting.draw()
    assert time.process_time() - began < 5  # seconds; to lay all of it out takes minutes


def test_notes_on_a_plan_are_sent_as_the_denial_that_was_shown() -> None:
    event = {**sample("PermissionRequest-Bash"), "tool_name": "ExitPlanMode"}
    sitting = at_the_card({**event, "tool_input": {"plan": "# Plan\n\n1. Delete all\n2. Build"}})
    sitting.press("l", "down", "c")
    sitting.type("only build")
    sitting.press("enter")
    assert "note: only build" in sitting.text()
    sitting.press("s")
    assert "> 1. Delete all" in sitting.text()
    sitting.wait()
    sitting.press("y")
    sitting.wait(1.0)
    ((_, decision),) = sitting.decided()
    assert decision.reason.endswith("Line 3:\n> 1. Delete all\nonly build")


def test_without_a_note_there_is_no_denial_to_send() -> None:
    event = {**sample("PermissionRequest-Bash"), "tool_name": "ExitPlanMode"}
    sitting = at_the_card({**event, "tool_input": {"plan": "# Plan"}})
    sitting.press("l", "s")
    assert "c note…" in sitting.help_line()
    assert "there is no note yet" in sitting.text()


def test_a_plan_after_a_denied_one_shows_what_changed() -> None:
    event = {**sample("PermissionRequest-Bash"), "tool_name": "ExitPlanMode"}
    before = "\n".join(f"line {n}" for n in range(20))
    sitting = at_the_card({**event, "tool_input": {"plan": before}})
    sitting.press("d")
    sitting.type("no")
    sitting.press("enter")
    sitting.wait(1.0)
    sitting.desk.ask({**event, "tool_input": {"plan": before.replace("line 9", "line nine")}})
    sitting.press("down")
    sitting.wait()
    assert "what changed" in sitting.text()
    sitting.press("v")
    shown = rows(sitting.content())
    assert shown[1:9] == [
        "│   … 7 unchanged lines",
        "│   line 7",
        "│   line 8",
        "│ - line 9",
        "│ + line nine",
        "│   line 10",
        "│   line 11",
        "│   … 8 unchanged lines",
    ]
    sitting.press("v")
    assert rows(sitting.content())[0] == "│ line 0"
