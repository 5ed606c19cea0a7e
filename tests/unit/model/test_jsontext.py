"""JSON read strictly and within bounds, and written back without loss."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import (
    CUT,
    LONG,
    MAX_CONTAINERS,
    MAX_DEPTH,
    PIECE,
    Value,
    canonical,
    compact,
    compact_with,
    in_pieces,
    literal,
    parse_object,
    pretty,
    start_of,
)
from tests.support.rows import every_row

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.text('\ud800\udfff\u2028\x00\x7f"\\/é', max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)


def normal(value: Any) -> Any:
    """The value as it comes from a wire: a high and a low surrogate side by side are one letter."""
    return json.loads(json.dumps(value))


def nested(depth: int, opening: str = '{"a":', closing: str = "}") -> bytes:
    return ('{"a":' + opening * (depth - 1) + "1" + closing * (depth - 1) + "}").encode()


@given(OBJECTS.map(normal))
def test_what_is_written_is_read_back_the_same(value: dict[str, Any]) -> None:
    text = compact(value)
    assert text.isascii()
    assert "\n" not in text
    again = parse_object(text.encode())
    assert again == value
    assert compact(again) == text, "types or the order of keys changed"


@given(OBJECTS.map(normal))
def test_raw_letters_are_read_as_escaped_ones(value: dict[str, Any]) -> None:
    raw = json.dumps(value, ensure_ascii=False)
    try:
        data = raw.encode()
    except UnicodeEncodeError:
        return  # a lone surrogate has no raw form
    assert parse_object(data) == value
    assert parse_object(b"\xef\xbb\xbf" + data) == value


@given(
    st.binary(max_size=60)
    | st.text('{}[]",:0123456789.eE+-truefalsn\\u ', max_size=40).map(str.encode)
)
@example(b"")
@example(b"{")
@example(b"\xef\xbb\xbf")
@example(b"\xff\xfe{\x00}\x00")
@example(b'{"a":"\\ud8"}')
@example(b'{"\\ud800":1}')
def test_any_bytes_are_an_object_or_a_payload_error(data: bytes) -> None:
    try:
        value = parse_object(data)
    except PayloadError:
        return
    assert isinstance(value, dict)
    assert parse_object(compact(value).encode()) == value


@every_row(
    "data, words",
    [
        (b"", "not JSON"),
        (b"   ", "not JSON"),
        (b"{", "not JSON.*line 1 column 2"),
        (b"{}{}", "not JSON.*Extra data"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a": "\x01"}', "not JSON.*control character"),
        (b"[]", "a JSON list, not an object"),
        (b'"{}"', "a JSON str, not an object"),
        (b"null", "a JSON NoneType, not an object"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": Infinity}', "Infinity"),
        (b'{"a": -Infinity}', "-Infinity"),
        (b'{"a": 1e400}', "out of range"),
        (b'{"a": -1e400}', "out of range"),
        (b'{"a": 1.' + b"9" * 9 + b"e999}", "out of range"),
        (b'{"a": ' + b"9" * 5000 + b"}", "number that cannot be read"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        (nested(MAX_DEPTH + 1), "nested deeper"),
        (nested(MAX_DEPTH + 1, "[", "]"), "nested deeper"),
        (nested(200_000), "nested deeper"),
        (b'{"a":' + b"[" * 200_000, "nested deeper|not JSON"),
        (b'{"a":[' + b"[]," * MAX_CONTAINERS + b"1]}", "more than 500000 lists and objects"),
        (b'{"a":[' + b"1.5," * LONG + b"[-1e400]]}", "out of range"),
        (b'{"a":{"b":' + b" " * LONG + b"1e400}}", "out of range"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(data: bytes, words: str) -> None:
    with pytest.raises(PayloadError, match=words) as caught:
        parse_object(data)
    assert len(str(caught.value)) < 400


def test_the_deepest_that_is_allowed_is_read() -> None:
    assert compact(parse_object(nested(MAX_DEPTH))) == nested(MAX_DEPTH).decode()
    shallow = b'{"a":[' + b",".join([b"[]"] * (3 * MAX_DEPTH)) + b"]}"
    assert len(parse_object(shallow)["a"]) == 3 * MAX_DEPTH  # type: ignore[arg-type]


def test_brackets_in_strings_are_text() -> None:
    told = {"a": "[{" * 300_000, "b": '\\"[' * 300, "c": [[]]}
    assert parse_object(json.dumps(told).encode()) == told


@given(OBJECTS.map(normal))
def test_what_is_long_is_read_like_what_is_short(value: dict[str, Any]) -> None:
    text = json.dumps(value).encode()
    assert canonical(parse_object(text + b" " * LONG)) == canonical(parse_object(text))


@pytest.mark.parametrize(
    "text",
    ['{"a":1e-400}', '{"a":9007199254740993}', '{"a":1.0}', '{"a":-0.0}', '{"a":1e+21}', '{"a":12345678901234567890}'],
)  # fmt: skip
def test_a_number_keeps_its_meaning(text: str) -> None:
    assert json.loads(compact(parse_object(text.encode()))) == json.loads(text)


def test_a_number_past_what_json_knows_is_never_written() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        compact({"a": float("nan")})


def test_a_key_given_twice_means_its_last_as_it_does_to_the_agents() -> None:
    assert parse_object(b'{"a":1,"a":2}') == {"a": 2}


def test_the_other_ways_to_write() -> None:
    assert canonical({"b": 1, "a": "é"}) == '{"a":"\\u00e9","b":1}'
    assert literal('é "x"\n') == '"é \\"x\\"\\n"'
    assert pretty({"a": ["é"]}) == '{\n  "a": [\n    "é"\n  ]\n}'


@given(VALUES, st.integers(0, 300))
def test_the_start_of_a_value_is_short_and_begins_as_the_value_does(
    value: Value, letters: int
) -> None:
    start = start_of(value, letters)
    assert len(pretty(start)) <= 20 * letters + 40
    if isinstance(value, str):
        assert isinstance(start, str)
        assert start in (value, value[:letters] + CUT)
    if isinstance(value, dict):
        assert isinstance(start, dict)
        assert list(value)[: len(start)] == list(start)


def test_a_small_value_is_its_own_start() -> None:
    value: Value = {"a": [1, True, None, {"b": "c"}], "d": "e" * 100}
    assert start_of(value) is value


@pytest.mark.parametrize(
    "value", [{"a": 1, "b": {"c": "é\ud800"}, "ü": []}, {"b": [1]}, {"a": None}, {}]
)
def test_an_object_with_a_part_written_before_is_the_same_text(value: dict[str, Value]) -> None:
    assert compact_with(value, "b", compact(value.get("b"))) == compact(value)


@given(VALUES)
@example([1.5, -0.0, 1e300, True, None, {"b": [], "a": {}}])
def test_the_encoder_that_is_made_once_writes_what_json_does(value: Value) -> None:
    assert compact(value) == json.dumps(value, separators=(",", ":"))
    assert canonical(value) == json.dumps(value, separators=(",", ":"), sort_keys=True)


def test_a_value_that_holds_itself_is_an_error_and_leaves_the_encoder_as_it_was() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises((RecursionError, ValueError)):
        compact(endless)
    assert compact([1, {"a": 2}]) == '[1,{"a":2}]'


@given(VALUES | OBJECTS, st.integers(1, 12))
@example({"b": {"a": [1, "x" * 40, {"c": []}], "": {}}, "a": "\ud83d\ude00" * 9}, 1)
def test_what_is_written_in_pieces_is_what_is_written_at_once(value: Value, piece: int) -> None:
    with pytest.MonkeyPatch.context() as small:
        small.setattr("crabhook.model.jsontext.PIECE", piece)
        small.setattr("crabhook.model.jsontext._FEW", piece % 3)
        small.setattr("crabhook.model.jsontext._TOGETHER", 1 + piece % 4)
        assert "".join(in_pieces(value)) == compact(value)
        assert "".join(in_pieces(value, canonical)) == canonical(value)


@pytest.mark.parametrize(
    "value",
    [
        {"content": "é" * 3_000_000},
        {"edits": [{"old": "a" * 50, "new": "b" * 50} for _ in range(50_000)]},
        {"n": [1] * 2_000_000},
        {"rows": {str(at): [at, [at]] for at in range(50_000)}},
        {"texts": ["x" * 60_000] * 100},
    ],
    ids=lambda value: next(iter(value)),
)
def test_no_piece_of_a_long_text_takes_long(value: dict[str, Value]) -> None:
    pieces = list(in_pieces(value))
    assert "".join(pieces) == compact(value)
    assert max(map(len, pieces)) <= 7 * PIECE  # six letters for one that is no ASCII
