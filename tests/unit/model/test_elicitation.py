"""Forms are read whatever their schema, and judged by the schema's own rules."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.elicitation import MAX_FIELDS, FormField, check_content, read_fields
from crabhook.model.errors import DecisionError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "mail": {"type": "string", "format": "email", "description": "where to write"},
        "age": {"type": "integer", "minimum": 0, "default": 30},
        "sure": {"type": "boolean"},
        "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
        "tint": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b"}]},
    },
    "required": ["name", "size"],
}
FORM = {"requested_schema": SCHEMA}
GOOD = {"name": "Ada", "size": "s"}


def test_a_form_is_read_field_by_field() -> None:
    fields = {field.name: field for field in read_fields(FORM)}
    assert fields["name"] == FormField("name", "Your name", required=True)
    assert (fields["mail"].format, fields["mail"].description) == ("email", "where to write")
    assert (fields["age"].kind, fields["age"].default) == ("integer", 30)
    assert fields["size"].choices == (("s", "Small"), ("l", "Large"))
    assert fields["tint"].choices == (("r", "Red"), ("b", "b"))
    assert [name for name, field in fields.items() if field.required] == ["name", "size"]


@pytest.mark.parametrize(
    "items",
    [{"enum": ["a", "b"]}, {"anyOf": [{"const": "a", "title": "a"}, {"const": "b"}]}],
)
def test_an_array_offers_the_choices_of_its_items(items: dict[str, Any]) -> None:
    schema = {"properties": {"tags": {"type": "array", "items": items}}}
    (field,) = read_fields({"requested_schema": schema})
    assert (field.kind, field.choices) == ("array", (("a", "a"), ("b", "b")))


@pytest.mark.parametrize(
    "fields", [{}, {"requested_schema": 7}, {"requested_schema": {"properties": []}}]
)
def test_no_readable_schema_is_a_form_without_fields(fields: dict[str, Any]) -> None:
    assert read_fields(fields) == ()
    check_content(fields, {"anything": 1})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"name": "A"}, "name: .*too short"),
        ({"age": -1}, "age: .*minimum"),
        ({"age": "old"}, "age: .*integer"),
        ({"sure": "yes"}, "sure: .*boolean"),
        ({"size": "m"}, "size: .*one of"),
        ({"mail": "nowhere"}, "mail: .*email"),
    ],
)
def test_a_value_that_does_not_fit_is_named(change: dict[str, Any], complaint: str) -> None:
    check_content(FORM, GOOD)
    with pytest.raises(DecisionError, match=complaint):
        check_content(FORM, GOOD | change)


def test_what_is_required_is_missed() -> None:
    with pytest.raises(DecisionError, match="'size' is a required property"):
        check_content(FORM, {"name": "Ada"})


def test_a_form_has_a_bound() -> None:
    many = {"properties": {str(number): {} for number in range(MAX_FIELDS + 9)}}
    assert len(read_fields({"requested_schema": many})) == MAX_FIELDS


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"properties": {"a": {"pattern": "("}}},
        {"$ref": "#"},
        {"$ref": "http://127.0.0.1:9/nowhere"},
    ],
    ids=repr,
)
def test_a_hostile_schema_ends_in_words_or_refuses_nothing(schema: dict[str, Any]) -> None:
    with suppress(DecisionError):
        check_content({"requested_schema": schema}, {"a": "b"})


def test_a_schema_makes_nobody_fetch_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("urllib.request.urlopen", lambda *where, **_: asked.append(where))
    with pytest.raises(DecisionError, match="cannot be followed"):
        check_content({"requested_schema": {"$ref": "http://127.0.0.1:9/x"}}, {"a": "b"})
    assert not asked


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=9,
    )
)
def test_any_schema_can_be_read(schema: Any) -> None:
    for field in read_fields({"requested_schema": {"properties": {"x": schema}}}):
        assert field.name == "x"
