"""Codex's configuration, with the places of its tables and keys."""

import pytest

from crabhook.lint.configuration.read import read_toml
from crabhook.lint.script import CannotParseError, SourcePlace

TEXT = """model = "any"

[[hooks.PreToolUse]]
matcher = "^Bash$"

[[hooks.PreToolUse.hooks]]
type = "command"
timeout = 5

[[hooks.PreToolUse.hooks]]
timeout = 6

[[hooks.PreToolUse]]
hooks = [{ type = "command", timeout = 7 }]

[[hooks."Stop"]]
[features]
hooks = false
"""


def test_lists_of_tables_are_counted_as_toml_counts_them() -> None:
    root = read_toml(TEXT)
    first, second = root.members["hooks"].members["PreToolUse"].items
    assert first.place == SourcePlace(3, 1)
    assert first.where("matcher") == SourcePlace(4, 1)
    one, two = first.members["hooks"].items
    assert (one.value, one.place, one.where("timeout")) == (
        {"type": "command", "timeout": 5},
        SourcePlace(6, 1),
        SourcePlace(8, 1),
    )
    assert two.where("timeout") == SourcePlace(11, 1)
    inline = second.members["hooks"].items[0]
    assert inline.where("timeout") == SourcePlace(14, 1), "what is on one line is where the line is"
    assert root.members["hooks"].where("Stop") == SourcePlace(16, 1)
    assert root.members["features"].where("hooks") == SourcePlace(18, 1)


def test_broken_toml_is_refused_at_its_place() -> None:
    with pytest.raises(CannotParseError, match="it is not TOML") as caught:
        read_toml("a = 1\nb = \n")
    assert caught.value.place.line == 2


def test_depth_is_bounded() -> None:
    with pytest.raises(CannotParseError, match="deep"):
        read_toml("[" + ".".join("a" * 100) + "]")
    with pytest.raises(CannotParseError):
        read_toml("a = " + "[" * 5000)


def test_dates_are_read_as_texts() -> None:
    assert read_toml("a = 1979-05-27").value == {"a": "1979-05-27"}
