"""A schema's rules are followed within bounds, and hold as far as they are quick."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import pytest

from crabhook.model.elicitation import check_content, is_quick
from crabhook.model.errors import DecisionError
from tests.support.rows import every_row


def check(schema: Any, content: Any) -> None:
    check_content({"requested_schema": schema}, content)


@every_row(
    "pattern, text, quick",
    [
        ("^[a-z0-9-]+$", "x" * 1000, True),
        (r"^v\d+\.\d+\.\d+$", "v1.2.3", True),
        ("^[0-9]{4}$", "x" * 20_000, True),
        ("(a+)+$", "aaa", False),
        ("(a|a)*$", "aaa", False),
        (r"(a*)\1", "aaa", False),
        ("a*a*a*a*a*a*b", "a" * 200, False),
        ("(?=a)", "a", False),
        ("x" * 501, "x", False),
        (7, "x", False),
    ],
)
def test_which_patterns_are_tried(pattern: object, text: str, *, quick: bool) -> None:
    assert is_quick(pattern, text) is quick


def test_a_quick_pattern_holds() -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}}}
    check(schema, {"a": "abc"})
    with pytest.raises(DecisionError, match=r"a: .*does not match"):
        check(schema, {"a": "A1"})


def test_names_that_are_not_asked_for_are_refused_where_the_form_says_so() -> None:
    schema = {"properties": {"a": {}}, "additionalProperties": False}
    with pytest.raises(DecisionError, match="'b' was unexpected"):
        check(schema, {"b": 1})


def test_the_rules_of_one_of_several_hold() -> None:
    schema = {"properties": {"a": {"anyOf": [{"const": "x"}, {"const": "y"}]}}}
    check(schema, {"a": "y"})
    with pytest.raises(DecisionError, match="a: "):
        check(schema, {"a": "z"})


SLOW = "a" * 60 + "!"
FANNED = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
NESTED: dict[str, Any] = {}
for _ in range(150):
    NESTED = {"allOf": [NESTED]}


@pytest.mark.parametrize(
    ("schema", "content"),
    [
        ({"properties": {"a": {"pattern": "(a+)+$"}}}, {"a": SLOW}),
        ({"patternProperties": {"(a+)+$": {}}, "additionalProperties": False}, {SLOW: "x"}),
        ({"patternProperties": {"(a+)+$": {}}, "unevaluatedProperties": False}, {SLOW: "x"}),
        ({"propertyNames": {"pattern": "(a+)+$"}}, {SLOW: "x"}),
        ({"$ref": "#/$defs/d0", "$defs": {**FANNED, "d60": {}}}, {"a": "b"}),
        ({"$ref": "#"}, {"a": "b"}),
        (NESTED, {"a": "b"}),
        ({"properties": {"a": {"pattern": "(" * 5000}}}, {"a": "b"}),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "pattern": 7}, {}),
    ],
    ids=["pattern", "names", "others", "name", "fan", "loop", "deep", "unreadable", "draft 4"],
)
def test_a_hostile_schema_ends_in_words_and_soon(schema: Any, content: Any) -> None:
    began = time.process_time()
    with suppress(DecisionError):
        check(schema, content)
    assert time.process_time() - began < 10  # seconds; without bounds it takes years
