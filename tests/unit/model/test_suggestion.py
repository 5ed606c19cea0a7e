import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.decision import (
    MAX_SUGGESTIONS,
    PLACES,
    Suggestion,
    read_suggestions,
    set_mode,
)

SAMPLES = Path("tests/samples/claude")
BASH = {"toolName": "Bash", "ruleContent": "make all *"}


@pytest.mark.parametrize(
    ("update", "what"),
    [
        ({"type": "addRules", "behavior": "allow", "rules": [BASH]}, "allow Bash(make all *)"),
        (
            {"type": "addRules", "behavior": "deny", "rules": [BASH, {"toolName": "mcp__x"}]},
            "deny Bash(make all *), mcp__x",
        ),
        (
            {"type": "replaceRules", "behavior": "allow", "rules": [BASH]},
            "allow nothing but Bash(make all *)",
        ),
        (
            {"type": "removeRules", "behavior": "ask", "rules": [BASH]},
            "no longer ask Bash(make all *)",
        ),
        ({"type": "addDirectories", "directories": ["/a", "/b"]}, "also work in /a, /b"),
        ({"type": "removeDirectories", "directories": ["/a"]}, "no longer work in /a"),
        ({"type": "setMode", "mode": "acceptEdits"}, "switch to the mode acceptEdits"),
    ],
)
def test_what_would_change_is_told_in_words(update: dict[str, Any], what: str) -> None:
    assert Suggestion({**update, "destination": "session"}).what == what


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"type": "brand-new", "x": 1},
        {"type": ["addRules"]},
        {"type": "addRules", "behavior": "allow"},
        {"type": "addRules", "rules": [BASH, 7], "behavior": "allow"},
        {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": 7}],
            "behavior": "allow",
        },
        {"type": "addRules", "rules": [BASH]},
        {"type": "addDirectories", "directories": ["/a", None]},
        {"type": "setMode"},
    ],
)
def test_what_cannot_be_told_in_words_is_told_as_it_came(update: dict[str, Any]) -> None:
    assert json.loads(Suggestion({**update, "destination": "session"}).what) == {
        **update,
        "destination": "session",
    }


def test_what_would_be_kept_in_a_place_unheard_of_is_told_as_it_came() -> None:
    update = {"type": "addRules", "behavior": "allow", "rules": [BASH], "destination": "x"}
    assert json.loads(Suggestion(update).what) == update


@pytest.mark.parametrize(
    ("destination", "where"),
    [
        ("session", "this session"),
        ("localSettings", "local settings"),
        ("projectSettings", "project settings"),
        ("userSettings", "user settings"),
        ("elsewhere", ""),
        (None, ""),
        (7, ""),
    ],
)
def test_where_it_would_be_kept_is_told_in_words(destination: Any, where: str) -> None:
    assert Suggestion({"destination": destination}).where == where


def test_only_the_destination_of_an_echoed_update_can_change() -> None:
    update = {"type": "addRules", "rules": [BASH], "behavior": "allow", "new": [1]}
    offered = Suggestion({**update, "destination": "localSettings"})
    assert offered.kept() == offered.update
    for place, destination in PLACES.items():
        assert offered.kept(place) == {**update, "destination": destination}


def test_the_suggestions_of_the_real_agent_are_read() -> None:
    for path in SAMPLES.glob("PermissionRequest-*.json"):
        fields = json.loads(path.read_text())
        read = read_suggestions(fields)
        assert [one.update for one in read] == fields.get("permission_suggestions", [])
        assert all(one.where and not one.what.startswith("{") for one in read)


@pytest.mark.parametrize("listed", [None, {}, "x", [7, None, []]])
def test_what_is_no_list_of_objects_suggests_nothing(listed: Any) -> None:
    assert read_suggestions({"permission_suggestions": listed}) == ()


def test_no_more_is_read_than_a_person_reads() -> None:
    assert len(read_suggestions({"permission_suggestions": [{}] * 10_000})) == MAX_SUGGESTIONS


def test_a_mode_is_set_for_the_session() -> None:
    assert set_mode("plan") == {"type": "setMode", "mode": "plan", "destination": "session"}


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
KIND = st.sampled_from(
    ["addRules", "replaceRules", "removeRules", "addDirectories", "removeDirectories", "setMode"]
)
UPDATE = st.fixed_dictionaries(
    {},
    optional={
        "type": KIND | JSON,
        "rules": st.lists(st.fixed_dictionaries({}, optional={"toolName": JSON})) | JSON,
        "directories": JSON,
        "mode": JSON,
        "behavior": JSON,
        "destination": JSON,
    },
)


@given(UPDATE)
def test_any_update_is_told_somehow(update: dict[str, Any]) -> None:
    assert Suggestion(update).what
    assert isinstance(Suggestion(update).where, str)
