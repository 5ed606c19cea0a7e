"""A form is sent as it was filled in: nothing that was not given, and nothing that does not fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.errors import DecisionError
from crabhook.ui.full.dialogs.mcp_form import FillIn

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "stage": {"type": "string", "enum": ["test", "live"], "enumNames": ["Test", "Live"]},
        "sure": {"type": "boolean"},
        "count": {"type": "integer", "minimum": 1},
        "share": {"type": "number"},
        "mail": {"type": "string", "format": "email", "default": "a@b.example"},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}},
        "more": {"type": "object"},
    },
    "required": ["stage", "count"],
}
PLACES = {name: place for place, name in enumerate(SCHEMA["properties"])}


def a_form(schema: Any = SCHEMA) -> FillIn:
    return FillIn({"requested_schema": schema})


def at(form: FillIn, name: str) -> FillIn:
    form.stand_at(PLACES[name])
    return form


def test_only_defaults_are_given_at_first() -> None:
    assert a_form().content() == {"mail": "a@b.example"}


def test_every_choice_is_a_row_and_every_other_field_one() -> None:
    form = a_form()
    assert form.stops == 2 + 2 + 1 + 1 + 1 + 3 + 1
    at_stops = map(form.at, range(form.stops))
    seen = [(form.entries.index(entry), choice) for entry, choice in at_stops]
    assert seen[:5] == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
    assert seen[7:10] == [(5, 0), (5, 1), (5, 2)]


def test_a_form_without_fields_has_nowhere_to_go() -> None:
    form = a_form({})
    for step in (-1, 1):
        form.go(step)
        form.move(step)
        assert (form.stop, form.stops) == (0, 0)


def test_moving_ends_at_the_ends() -> None:
    form = a_form()
    form.move(-1)
    assert form.stop == 0
    form.move(1 << 30)
    assert form.stop == form.stops - 1
    assert form.last
    form.go(+1)
    assert form.entry.asked.name == "more"


def test_a_choice_replaces_another_and_twice_takes_it_back() -> None:
    form = at(a_form(), "stage")
    form.choose(1)
    assert form.content()["stage"] == "live"
    form.choose(0)
    assert form.content()["stage"] == "test"
    form.choose(0)
    assert "stage" not in form.content()


def test_no_is_an_answer_and_nothing_is_none() -> None:
    form = at(a_form(), "sure")
    form.choose(1)
    assert form.content()["sure"] is False
    form.clear()
    assert "sure" not in form.content()


def test_several_can_be_chosen_of_an_array_in_the_order_they_were() -> None:
    form = at(a_form(), "tags")
    form.choose(2)
    form.choose(0)
    assert form.content()["tags"] == ["z", "x"]
    form.choose(2)
    assert form.content()["tags"] == ["x"]


def test_a_choice_that_is_not_there_changes_nothing() -> None:
    form = at(a_form(), "stage")
    before, stop = form.content(), form.stop
    assert not form.choose(9)
    assert (form.content(), form.stop) == (before, stop)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("count", "12", 12),
        ("share", "0.5", 0.5),
        ("share", "3", 3),
        ("mail", "  spaced@b.example", "  spaced@b.example"),
        ("more", '{"a": [1]}', {"a": [1]}),
    ],
)
def test_what_is_typed_becomes_a_value_of_the_fields_kind(
    name: str, text: str, value: object
) -> None:
    form = at(a_form(), name)
    form.write(text)
    assert form.content()[name] == value


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("count", "twelve", "whole number"),
        ("count", "1.5", "whole number"),
        ("share", "half", "a number"),
        ("share", "1e999", "of that size"),
        ("more", "{", "JSON"),
        ("more", '1], "": [2', "JSON"),
        ("more", "NaN", "JSON"),
    ],
)
def test_what_is_no_such_value_is_kept_but_never_sent(name: str, text: str, complaint: str) -> None:
    form = at(a_form({**SCHEMA, "required": []}), name)
    form.write(text)
    assert name not in form.content()
    assert form.entry.text == text
    assert complaint in form.entry.wrong
    assert form.stand_at_problem() == f"{name}: {form.entry.wrong}"


def test_a_value_against_the_fields_own_rules_is_said_at_once() -> None:
    form = at(a_form(), "count")
    form.write("0")
    assert "minimum" in form.entry.wrong
    form.write("1")
    assert not form.entry.wrong


def test_what_is_required_and_missing_is_where_the_operator_is_led() -> None:
    form = at(a_form(), "stage")
    form.choose(0)
    form.stand_at(6)
    form.stand_at_problem()
    assert form.entry.asked.name == "count"


def test_a_refusal_of_the_whole_is_put_to_the_field_it_names() -> None:
    form = a_form()
    with pytest.raises(DecisionError) as refused:
        form.check()
    form.blame(str(refused.value))
    assert form.entry.asked.name in {"stage", "count"}
    assert form.entry.wrong


def test_true_is_not_one() -> None:
    schema = {"properties": {"x": {"enum": [1, True, "1"]}}}
    form = a_form(schema)
    form.choose(1)
    assert [form.entry.chosen(n) for n in range(3)] == [False, True, False]


def test_ten_thousand_choices_are_read_in_no_time() -> None:
    form = a_form({"properties": {"x": {"enum": [f"choice {n}" for n in range(10_000)]}}})
    form.move(1 << 30)
    form.choose()
    assert form.content() == {"x": "choice 9999"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
ABOUT = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "boolean", "array", "nonsense"]) | JSON,
        "enum": JSON,
        "items": JSON | st.fixed_dictionaries({"enum": JSON}),
        "default": JSON,
        "oneOf": JSON,
    },
)


@given(
    st.dictionaries(st.text(max_size=4), ABOUT | JSON, max_size=4),
    st.lists(
        st.tuples(st.sampled_from("mcwg"), st.integers(-9, 9), st.text(max_size=6)), max_size=9
    ),
)
def test_any_schema_and_any_keys_leave_a_form_that_stands(
    properties: dict[str, Any], keys: list[tuple[str, int, str]]
) -> None:
    form = a_form({"properties": properties})
    for key, number, text in keys:
        if not form.stops:
            break
        if key == "m":
            form.move(number)
        elif key == "g":
            form.go(number)
        elif key == "c":
            form.choose(number)
        else:
            form.write(text)
        assert 0 <= form.stop < form.stops
    assert set(form.content()) <= set(properties)
    assert isinstance(form.stand_at_problem(), str)
