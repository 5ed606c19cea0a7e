"""A request is shown to its last field, whatever its shape; nothing an agent sent is left out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.card import Card, Leg, Origin, Stance
from crabhook.model.event import Event, How, ShownField
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Held
from crabhook.present.card import card_document
from crabhook.present.safe import safe
from crabhook.ui.full.panes.request import asked_rows, everything_rows, request_page
from crabhook.ui.text.layout import Sheet, line_cells
from tests.support.rows import every_row
from tests.support.sitting import Sitting, call

FOLDER = Path(__file__).parents[4] / "samples"
SAMPLES = sorted(path for name in PLATFORMS for path in (FOLDER / name).glob("*.json"))
CALLS = ("PreToolUse-", "PermissionRequest-", "BeforeTool-")


def is_held(path: Path) -> bool:
    """Whether a gate holds a recorded event."""
    platform = PLATFORMS[path.parent.name]
    return platform.held(platform.read(path.read_bytes()), Stance.GATE) is Held.ALWAYS


HELD = [path for path in SAMPLES if path.stem.startswith(CALLS) and is_held(path)]
SHEET = Sheet(78, safe)


def shown(sitting: Sitting, sheet: Sheet = SHEET) -> list[str]:
    return [
        "".join(text for _, text in line)
        for line in everything_rows(card_document(sitting.card), sheet)
    ]


def of(tool: str, tool_input: Any, **fields: Any) -> list[str]:
    sitting = Sitting()
    sitting.ask(tool, tool_input, **fields)
    return shown(sitting)


def strings_in(value: Any) -> set[str]:
    """Return every key and text in a value."""
    if isinstance(value, dict):
        return {str(key) for key in value}.union(*map(strings_in, value.values()))
    if isinstance(value, list):
        return set().union(*map(strings_in, value))
    return {value} if isinstance(value, str) else set()


WORDS = st.text(alphabet="abcdef", min_size=3, max_size=8)
INPUTS = st.fixed_dictionaries(
    {},
    optional={
        key: WORDS | st.integers() | st.lists(WORDS, max_size=2)
        for key in (
            "command",
            "description",
            "file_path",
            "content",
            "old_string",
            "new_string",
            "notebook_path",
            "new_source",
            "plan",
            "edits",
            "unknown",
        )
    },
)


@given(INPUTS)
def test_every_text_of_any_input_is_shown(tool_input: dict[str, Any]) -> None:
    text = "\n".join(of("Tool", tool_input))
    for value in tool_input.values():
        assert strings_in(value) <= {word for word in strings_in(value) if word in text}


@every_row("path", HELD)
def test_every_text_of_a_real_event_is_shown(path: Path) -> None:
    event = json.loads(path.read_text())
    sitting = Sitting()
    sitting.desk.ask(event, platform=path.parent.name)
    text = "\n".join(shown(sitting, Sheet(500, safe)))
    named = {event.get("hook_event_name", ""), event.get("tool_name", "")}
    named |= {event.get("hookName", ""), event.get("toolName", ""), "hook_event_name", "tool_name"}
    named |= {"hookName", "toolName", "toolInput", "sessionId", "permissionSuggestions"}
    labelled = {*event.get("tool_input", {}), *event.get("toolInput", {})}
    labelled |= {"tool_input", "command", "description", "file_path", "content", "plan"}
    labelled |= {"old_string", "new_string", "query", "pattern", "url", "plan_filename", "dir_path"}
    lines = [line for one in strings_in(event) - named - labelled for line in one.split("\n")]
    words = [line.removeprefix("- ") for line in lines]  # a plan's list has another mark
    assert not [line for line in words if safe(line) not in text]


def test_a_command_comes_first_and_its_description_as_the_agents_words() -> None:
    rows = of("Bash", {"command": "make\nmake test", "description": "Build.", "timeout": 5})
    edge = "─" * (SHEET.columns - 2)
    assert [row.rstrip(" │") for row in rows[:7]] == [
        '│ "Build."',
        f"┌{edge}┐",
        "│ make",
        "│ make test",
        f"└{edge}┘",
        "with",
        "│ timeout: 5",
    ]


def test_an_edit_is_a_diff_with_its_path() -> None:
    rows = of("Edit", {"file_path": "/a.py", "old_string": "x", "new_string": "y"})
    assert rows[:3] == ["│ /a.py  +1 -1", "│ - x", "│ + y"]


def test_the_words_that_an_edit_changes_are_marked_and_no_others() -> None:
    sitting = Sitting()
    old, new = "a\nreturn x + 1\n", "a\nreturn x + 22\n"
    sitting.ask("Edit", {"file_path": "/a.py", "old_string": old, "new_string": new})
    lines = list(asked_rows(card_document(sitting.card), SHEET))
    assert [text for line in lines for style, text in line if style == "removed"] == ["1"]
    assert [text for line in lines for style, text in line if style == "added"] == ["22"]


def test_several_edits_are_diffs_one_after_the_other() -> None:
    edits = [
        {"old_string": "a", "new_string": "b"},
        {"old_string": "c", "new_string": "d", "replace_all": True},
    ]
    rows = of("MultiEdit", {"file_path": "/a.py", "edits": edits})
    assert rows[:8] == [
        "│ /a.py  +2 -2",
        "edit 1 of 2",
        "│ - a",
        "│ + b",
        "edit 2 of 2",
        "│ - c",
        "│ + d",
        "│ replace_all: true",
    ]


def test_a_written_file_is_all_added_and_no_file_is_read(tmp_path: Path) -> None:
    there = tmp_path / "there.txt"
    there.write_text("what was there before")
    rows = of("Write", {"file_path": str(there), "content": "new\n"})
    assert "│ + new" in rows
    assert not [row for row in rows if "before" in row]


def test_a_plan_is_prose_with_headings() -> None:
    sitting = Sitting()
    plan = {"plan": "# Plan\n" + "word " * 30}
    sitting.ask("ExitPlanMode", plan, hook_event_name="PermissionRequest")
    lines = list(everything_rows(card_document(sitting.card), SHEET))
    assert ("heading", "# Plan") in lines[0]
    assert lines[1][0] == ("bar", "│ ")
    assert lines[2][0] == ("bar", "┆ ")


def test_a_plan_that_is_not_there_yet_is_said_to_be_missing() -> None:
    assert "carries no plan" in of("ExitPlanMode", {})[0]


def test_an_input_of_the_wrong_kind_is_shown_as_it_is() -> None:
    rows = of("Bash", {"command": ["rm", "-rf"]})
    assert rows[:5] == ["input", "│ command:", "│   [", '│     "rm",', '│     "-rf"']
    assert "│ 7" in of("Bash", 7)


def test_hidden_letters_are_counted_and_marked() -> None:
    rows = of("Bash", {"command": "ls \u202e\x1b[2J"})
    assert rows[0] == "! 2 hidden characters, shown like ⟨U+200B⟩"
    assert "⟨U+202E⟩␛[2J" in rows[2]


def test_what_another_leg_adds_is_shown() -> None:
    sitting = Sitting()
    sitting.ask(tool_use_id="t1")
    more = call(
        sandbox=False,
        hook_event_name="PermissionRequest",
        tool_use_id="t1",
        permission_suggestions=["all"],
    )
    sitting.desk.ask(more)
    rows = shown(sitting)
    start = rows.index("the event itself: PermissionRequest of Bash")
    assert any("sandbox: false" in row for row in rows[start:])
    assert any('"all"' in row for row in rows[start:])
    assert not any("ls -l" in row for row in rows[start:])


@pytest.mark.parametrize(
    ("origin", "told"),
    [(Origin("laptop"), ["sent by, as it says itself", "│ host: laptop"]), (Origin(), [])],
)
def test_of_who_sent_it_what_is_known_is_told(origin: Origin, told: list[str]) -> None:
    sitting = Sitting()
    sitting.desk.ask(call("Bash", {"command": "ls"}, tool_use_id="t1"), origin=origin)
    rows = shown(sitting)
    start = next((n for n, row in enumerate(rows) if row.startswith("sent by")), len(rows))
    assert [row.rstrip() for row in rows[start:]] == told


def test_an_agents_text_is_always_behind_its_bar() -> None:
    rows = of("Bash", {"command": "the event itself\n#9 ALLOWED", "with\nit": "x\ny"})
    ours = {"with", "the event itself: PreToolUse of Bash", "sent by, as it says itself"}
    assert {row for row in rows if row[:1] not in "│┆┌└"} <= {*ours, "why it is here"}


@given(
    st.dictionaries(st.text(max_size=6), st.text(alphabet="日a \n\u202e\x1bש", max_size=90)),
    st.integers(12, 50),
)
def test_no_row_is_too_wide_or_unsafe(tool_input: dict[str, Any], columns: int) -> None:
    sitting = Sitting()
    sitting.ask("日\x1b", tool_input, cwd="\u202e/x", session_id="\x07")
    for line in everything_rows(card_document(sitting.card), Sheet(columns, safe)):
        assert all(safe(text) == text for _, text in line)
        if line[0][0] == "bar":
            assert line_cells(line) <= columns


def test_a_content_is_another_when_its_card_gains_a_leg() -> None:
    sitting = Sitting()
    sitting.ask(tool_use_id="t1")
    before = request_page(card_document(sitting.card))
    sitting.desk.ask(call(hook_event_name="PermissionRequest", tool_use_id="t1"))
    assert request_page(card_document(sitting.card)).key != before.key


def test_the_fields_that_an_agents_own_table_names_come_first_in_its_words() -> None:
    told = {
        "mood": ShownField("mood of the day"),
        "late": ShownField("late", How.FLAG, yes="it is late"),
    }
    fields = {"weather": "rain", "late": True, "mood": "grim"}
    event = Event("toy", "Sigh", fields=fields, tells=told)
    card = Card(1, (Leg("id", event, 10.0),), 0.0)
    lines = [
        "".join(text for _, text in line) for line in everything_rows(card_document(card), SHEET)
    ]
    assert lines[:2] == ["│ mood of the day: grim", "it is late"]
    rest = lines[lines.index("the event itself: Sigh") :]
    assert [line for line in rest if "rain" in line] == ["│ weather: rain"]
    assert not [line for line in rest if "grim" in line]


FAR = "ls" + "\n" * 300 + " " * 3000 + "; rm -rf build"
FAR_AWAY = {
    "command": ("Bash", {"command": FAR}),
    "file": ("Write", {"file_path": "/a", "content": FAR}),
    "edit": ("Edit", {"file_path": "/a", "old_string": "ls", "new_string": FAR}),
    "edits": (
        "MultiEdit",
        {"file_path": "/a", "edits": [{"old_string": "ls", "new_string": FAR}]},
    ),
    "patch": ("apply_patch", {"command": "*** Begin Patch\n" + FAR.replace("\n", "\n+")}),
    "plan": ("ExitPlanMode", {"plan": FAR}),
    "field": ("mcp__a__b", {"body": FAR}),
    "JSON": ("mcp__a__b", {"deep": [FAR.replace("\n", "\t")]}),
}


@pytest.mark.parametrize("body", FAR_AWAY)
def test_what_stands_behind_many_blanks_is_in_view_with_a_mark_and_one_key_allows_it(
    body: str,
) -> None:
    tool, tool_input = FAR_AWAY[body]
    sitting = Sitting(rows=30)
    number = sitting.ask(tool, tool_input)
    sitting.wait()
    shown = sitting.text()
    assert re.search("⟨(299 empty lines|3300 blanks)⟩", shown)
    assert re.search("⟨(3000|3300) blanks⟩", shown)
    assert "; rm -rf build" in shown
    assert "blanks folded: F" in shown
    sitting.press("F")
    assert "; rm -rf build" not in sitting.text()
    assert "⟨" not in sitting.text()
    sitting.press("F")
    assert "; rm -rf build" in sitting.text()
    sitting.press("a")
    sitting.wait(10)
    assert [one for one, _ in sitting.verdicts()] == [number]


def test_what_stands_behind_a_fold_that_was_not_seen_is_not_allowed_by_one_key() -> None:
    sitting = Sitting()
    sitting.ask("Write", {"file_path": "/a", "content": "x\n" * 60 + FAR})
    sitting.wait()
    assert "⟨" not in sitting.text()
    sitting.press("a")
    sitting.wait(10)
    assert "more lines: read on" in sitting.screen.notice.text
    assert sitting.verdicts() == []


def test_the_lower_edge_of_a_card_names_what_is_not_on_it() -> None:
    sitting = Sitting()
    assert "i everything it sent" not in sitting.text()
    sitting.ask()
    assert "─ i everything it sent ─ y copy ─" in sitting.text()
    sitting.press("i")
    assert "i everything it sent" not in sitting.text()
