"""What counts as JSON, and where in the text it is."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabhook.model.errors import DocumentError
from crabhook.model.json_source import MAX_DEPTH, Json, Number, as_json, parse
from tests.support.rows import every_row


def plain(value: Json) -> object:
    """`value` as the json module would give it when it leaves numbers as text."""
    if isinstance(value, Number):
        return ("number", value.literal)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def by_the_json_module(text: str) -> object:
    def number(literal: str) -> tuple[str, str]:
        return ("number", literal)

    return json.loads(text, parse_int=number, parse_float=number)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(deadline=None)
@given(values, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_it_reads_what_the_json_module_reads(
    value: object, indent: int | str | None, ascii_only: Any
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    node = parse(text)
    assert plain(node.value) == by_the_json_module(text)
    assert (node.start, node.end) == (0, len(text))


@settings(deadline=None)
@given(values)
def test_every_element_is_found_again_at_its_place(value: object) -> None:
    text = json.dumps({"outer": value}, indent=3)
    todo = [parse(text)]
    while todo:
        node = todo.pop()
        assert plain(parse(text[node.start : node.end]).value) == plain(node.value)
        todo += [element.node for element in node.elements]


@settings(deadline=None)
@given(st.text(alphabet='{}[]",:\\/u0d8-.e+truefalsn# \n\t\x00é', max_size=40))
def test_what_the_json_module_refuses_is_refused(text: str) -> None:
    try:
        expected = by_the_json_module(text)
    except ValueError:
        with pytest.raises(DocumentError):
            parse(text)
        return
    try:
        found = plain(parse(text).value)
    except DocumentError as error:  # the only thing we are stricter about
        assert "twice" in str(error)  # noqa: PT017 - either outcome may come first
    else:
        assert found == expected


@every_row(
    "text, complaint",
    [
        ('{\n  // ours\n  "a": 1}', "line 2, column 3: a comment"),
        ('{"a": 1, /* x */ "b": 2}', "line 1, column 10: a comment"),
        ('{"a": 1,\n}', "line 2, column 1: a comma with nothing after it"),
        ("[1, ]", "line 1, column 5: a comma with nothing after it"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "line 1, column 24: the key 'c' is there twice"),
        ('{"a": "x', "line 1, column 7: a string that is not closed"),
        ('{"a": NaN}', "line 1, column 7: 'N' where a value"),
        ('{"a": 01}', "line 1, column 8"),
        ('{"a" 1}', "line 1, column 6: '1' where a colon"),
        ("{a: 1}", "line 1, column 2: 'a' where a key in double quotes"),
        ('{"a": 1', "the file ends where a comma or }"),
        ("", "the file ends where a value"),
        ("{} {}", "line 1, column 4: there is something after the end"),
    ],
)
def test_a_refusal_says_where_and_what(text: str, complaint: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse(text)
    assert complaint in str(caught.value)


def test_a_number_keeps_its_literal() -> None:
    literals = ["1.0", "1e400", "12345678901234567890", "-0", "0.10", "1" * 5000]
    assert parse(f"[{','.join(literals)}]").value == [Number(literal) for literal in literals]


def test_the_string_1_is_not_the_number_1() -> None:
    assert as_json("1") != as_json(1)


def test_a_byte_order_mark_is_passed_over() -> None:
    assert parse("\ufeff{}").value == {}


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nesting_without_end_is_refused_and_not_a_crash(opening: str) -> None:
    with pytest.raises(DocumentError, match="nested deeper"):
        parse(opening * 100_000)


def test_nesting_up_to_the_bound_is_read() -> None:
    parse("[" * MAX_DEPTH + "]" * MAX_DEPTH)


def test_a_long_broken_string_is_refused_at_once() -> None:
    with pytest.raises(DocumentError):
        parse('"' + "a" * 200_000 + "\n")
