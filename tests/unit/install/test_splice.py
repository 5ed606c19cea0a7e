"""Edits keep the look of the text around them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabhook.install.entries import TextEdit, appending, apply, removal
from crabhook.model.json_source import parse

containers = st.lists(st.integers(), max_size=6) | st.dictionaries(
    st.text(max_size=3), st.integers(), max_size=6
)
layouts = st.sampled_from([None, 0, 1, 4, "\t"])


@settings(deadline=None)
@given(containers, layouts, st.data())
def test_removal_leaves_exactly_the_others(
    value: list[int] | dict[str, int], indent: int | str | None, data: st.DataObject
) -> None:
    text = json.dumps(value, indent=indent)
    gone = data.draw(st.sets(st.sampled_from(range(len(value))))) if value else set()
    result = json.loads(apply(text, removal(parse(text), gone)))
    pairs = list(value.items()) if isinstance(value, dict) else value
    kept = [pair for index, pair in enumerate(pairs) if index not in gone]
    assert (list(result.items()) if isinstance(result, dict) else result) == kept


@settings(deadline=None)
@given(containers, layouts, st.lists(st.integers(), min_size=1, max_size=3))
def test_what_was_put_at_the_end_comes_out_without_a_trace(
    value: list[int] | dict[str, int], indent: int | str | None, new: list[int]
) -> None:
    text = json.dumps(value, indent=indent)
    keyed = isinstance(value, dict)
    additions = [(f"new {i}" if keyed else None, item) for i, item in enumerate(new)]
    longer = apply(text, [appending(text, parse(text), additions)])
    assert len(json.loads(longer)) == len(value) + len(new)
    gone = set(range(len(value), len(value) + len(new)))
    assert apply(longer, removal(parse(longer), gone)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{\n  "n": [\n    1\n  ]\n}'),
        ('{"a": 1}', '{"a": 1, "n": [1]}'),
        ('{"a":1,"b":2}', '{"a":1,"b":2,"n": [1]}'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"n": [\n\t\t1\n\t]\n}\n'),
        ('{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "n": [\r\n        1\r\n    ]\r\n}'),
        ('{\n\n   "a": 1\n}', '{\n\n   "a": 1,\n   "n": [\n      1\n   ]\n}'),
    ],
)
def test_an_addition_takes_on_the_style_it_finds(text: str, expected: str) -> None:
    assert apply(text, [appending(text, parse(text), [("n", [1])])]) == expected


def test_an_empty_container_inside_is_opened_at_its_own_depth() -> None:
    text = '{\n  "a": {}\n}'
    inner = parse(text).elements[0].node
    expected = '{\n  "a": {\n    "n": 1\n  }\n}'
    assert apply(text, [appending(text, inner, [("n", 1)])]) == expected


def test_letters_stay_letters() -> None:
    assert apply("[]", [appending("[]", parse("[]"), [(None, "é")])]) == '[\n  "é"\n]'


def test_edits_are_carried_out_in_the_order_of_their_places() -> None:
    assert apply("abc", [TextEdit(2, 3, "C"), TextEdit(0, 1, "A"), TextEdit(1, 1, "-")]) == "A-bC"
