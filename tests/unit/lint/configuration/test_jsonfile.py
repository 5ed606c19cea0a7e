"""Settings in JSON, with the places of their values."""

import pytest

from crabhook.lint.configuration.read import SourceValue, read_json
from crabhook.lint.script import START, CannotParseError, SourcePlace


def test_values_have_the_places_where_they_are_written() -> None:
    root = read_json('{"a": [1,\n  {"é": 2.5}],\n "c": true}')
    assert root.value == {"a": [1, {"é": 2.5}], "c": True}
    inner = root.members["a"].items[1]
    assert inner.place == SourcePlace(2, 3)
    assert inner.where("é") == SourcePlace(2, 4)
    assert root.where("c") == SourcePlace(3, 2)
    assert inner.where("gone") == inner.place


def test_broken_json_is_refused_at_its_place() -> None:
    with pytest.raises(CannotParseError, match="comma") as caught:
        read_json('{"a": 1,\n}')
    assert caught.value.place == SourcePlace(2, 1)


def test_comments_are_read_where_the_agent_reads_them_and_move_nothing() -> None:
    text = '{ // one\n "a": "// two", /* three\n */ "b": 1}'
    root = read_json(text, comments=True)
    assert root.value == {"a": "// two", "b": 1}
    assert root.where("b") == SourcePlace(3, 5)
    with pytest.raises(CannotParseError, match="comment"):
        read_json(text)


@pytest.mark.parametrize("literal", ["1" + "0" * 5000, "1e999", "-1e400"])
def test_a_number_of_any_size_is_read(literal: str) -> None:
    assert isinstance(read_json(literal).value, float)


def test_an_item_gives_texts_alone_as_texts() -> None:
    item = SourceValue(START, {"a": 1}, {"a": SourceValue(START, 1), "b": SourceValue(START, "x")})
    assert (item.text("a"), item.text("b"), item.text("c")) == ("", "x", "")
