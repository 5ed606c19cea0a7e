"""What a strict reader would not take is known before it is printed."""

import json
from typing import Any

import pytest

from crabhook.platforms.codex.write import DEEPEST, readable, why_unreadable


def nested(levels: int) -> Any:
    return json.loads("[" * levels + "]" * levels)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "é \U0001f980 \0",
        True,
        None,
        2**64 - 1,
        -(2**63),
        1.5,
        {"a": [1, {"b": "c"}]},
        nested(DEEPEST),
    ],
    ids=repr,
)
def test_what_arrives_as_it_is(value: Any) -> None:
    assert why_unreadable(value) == ""


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("\ud800", "half a character"),
        ({"\udfff": 1}, "half a character"),
        ([2**64], "too many digits"),
        (-(2**63) - 1, "too many digits"),
        (float("nan"), "out of range"),
        ([float("-inf")], "out of range"),
        (nested(DEEPEST + 2), "nested deeper"),
    ],
    ids=str,
)
def test_what_would_not(value: Any, why: str) -> None:
    assert why in why_unreadable(value)


def test_halves_of_characters_are_replaced_and_all_else_stays() -> None:
    assert readable("a\ud800é\U0001f980") == "a?é\U0001f980"
