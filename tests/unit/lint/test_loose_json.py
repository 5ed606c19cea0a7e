"""Objects in text that is nearly JSON."""

import json

from hypothesis import given
from hypothesis import strategies as st

from crabhook.lint.loose_json import HOLE, read_object
from crabhook.lint.script import UNKNOWN, SourcePlace, ValueShape
from tests.support.rows import every_row


def read(text: str) -> ValueShape | None:
    return read_object(text, lambda at: SourcePlace(1, at + 1))


def keys(text: str) -> list[str]:
    shape = read(text)
    assert shape is not None
    assert shape.members is not None
    return list(shape.members)


def value(text: str, *path: str) -> object:
    shape = read(text)
    assert shape is not None
    return next(shape.of(*path)).literal


def test_json_is_read_with_the_places_of_its_keys() -> None:
    shape = read('{"a": {"b": "x"}, "c": true, "d": 1.5, "e": null}')
    assert shape is not None
    assert shape.whole
    assert list(shape.texts("a", "b")) == [(SourcePlace(1, 8), "x")]
    assert [next(shape.of(key)).literal for key in "cde"] == [True, 1.5, None]


def test_a_program_of_jq_is_read_as_the_object_it_makes() -> None:
    text = '{decision: "block", reason: $why, $extra, n: (1 + 2), m: [1, {a: 2}], "k": .a // "x"}'
    assert keys(text) == ["decision", "reason", "extra", "n", "m", "k"]
    assert value(text, "decision") == "block"
    assert value(text, "reason") is UNKNOWN
    assert value(text, "k") is UNKNOWN


def test_what_is_only_known_when_it_runs_is_unknown() -> None:
    text = f'{{"a": "{HOLE}", "b": {HOLE}, "c": "x\\(.y)", {HOLE}: 1}}'
    assert keys(text) == ["a", "b", "c"]
    assert [value(text, key) for key in "abc"] == [UNKNOWN] * 3
    shape = read(text)
    assert shape is not None
    assert not shape.whole, "a key that is not known may be any"


def test_an_object_that_something_is_added_to_is_not_the_whole_of_it() -> None:
    assert value('{"u": {"a": 1} + .tool_input}', "u") is UNKNOWN
    assert (
        next(
            (read('{"u": {"a": 1} + .tool_input}') or ValueShape(SourcePlace(1, 1))).of("u")
        ).members
        is None
    )


@every_row(
    "text",
    [
        "",
        "[]",
        '"a"',
        "{",
        "{a",
        '{"a":}',
        '{"a" 1}',
        "{} {}",
        "{a: 1} + {b: 2}",
        "{'a': 1}",
        '{"a": (1}',
        '{"a": "b}',
        "{" * 100 + "}" * 100,
        "{a:" * 100,
    ],
)
def test_anything_else_is_no_object(text: str) -> None:
    assert read(text) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(alphabet="abc_", min_size=1), _JSON, max_size=4))
def test_all_json_objects_are_read_with_all_their_keys(written: dict[str, object]) -> None:
    shape = read(json.dumps(written))
    assert shape is not None
    assert set(shape.members or ()) == set(written)
    assert shape.whole


@given(st.text(alphabet='{}[]():,"\\ab $' + HOLE, max_size=60))
def test_no_text_is_too_strange_to_be_answered(text: str) -> None:
    shape = read(text)
    assert shape is None or shape.members is not None
