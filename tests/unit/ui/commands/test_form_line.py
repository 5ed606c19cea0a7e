from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.elicitation import FormField, read_fields
from crabhook.model.jsontext import compact
from crabhook.ui.commands.forms import accepting, read_values
from crabhook.ui.commands.words import LineError
from tests.support.rows import every_row

PROPERTIES: dict[str, Any] = {
    "name": {"type": "string"},
    "stage": {"type": "string", "enum": ["test", "live"], "enumNames": ["Try it", "Real"]},
    "level": {"type": "integer", "oneOf": [{"const": 1, "title": "low"}, {"const": 2}]},
    "count": {"type": "integer"},
    "sure": {"type": "boolean"},
    "full name": {"type": "string"},
}
FORM: dict[str, Any] = {
    "requested_schema": {"properties": PROPERTIES, "required": ["name", "stage", "sure"]}
}


@every_row(
    "text, values",
    [
        ('name="Ann Lee"', {"name": "Ann Lee"}),
        ("name=Ann", {"name": "Ann"}),
        ("name=42", {"name": "42"}),
        ("name=true", {"name": "true"}),
        ("name=[x", {"name": "[x"}),
        ("name=a=b", {"name": "a=b"}),
        ('name=""', {"name": ""}),
        (r'name="say \"hi\" é"', {"name": 'say "hi" é'}),
        ("count=3 sure=true", {"count": 3, "sure": True}),
        ("count = 3", {"count": 3}),
        ("count=-3.5", {"count": -3.5}),
        ("count=[1, 2]", {"count": [1, 2]}),
        ("stage=test", {"stage": "test"}),
        ("stage=Real", {"stage": "live"}),
        ('stage="Try it"', {"stage": "test"}),
        ("level=low", {"level": 1}),
        ("level=2", {"level": 2}),
        ('"full name"=x', {"full name": "x"}),
        ('"full name"="x" name=y', {"full name": "x", "name": "y"}),
    ],
)
def test_values_are_written_by_name(text: str, values: dict[str, Any]) -> None:
    assert read_values(text, FORM, 7) == values


@every_row(
    "text, wrong",
    [
        ("nam=1", "the form has no field nam"),
        ("name", "cannot read name (words with blanks stand in double quotes)"),
        ("name=Ann Lee", "cannot read Lee"),
        ('name="Ann', 'cannot read "Ann'),
        ('name="Ann"Lee', 'cannot read "Ann"Lee'),
        ("name=", "something is missing at the end"),
        ("name=a name=b", "name is there twice"),
        ("count=three", "count is of the type integer, and three is no JSON"),
        ("sure=yes", "sure is of the type boolean, and yes is no JSON"),
        ("count=NaN", "NaN cannot be sent: it holds NaN"),
        ("count=1e999", "1e999 cannot be sent: it holds a number out of range"),
        ("count=" + "[" * 300 + "]" * 300, "[[[[[["),
        ("=1", "cannot read =1"),
    ],
)
def test_what_cannot_be_taken_as_it_stands_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(LineError) as caught:
        read_values(text, FORM, 7)
    told, advice = str(caught.value).split("; nothing was decided. Write: ")
    assert told.startswith(wrong)
    assert advice == '7 accept name="text" stage="test" sure=true'


def test_a_form_without_fields_takes_any_name() -> None:
    assert read_values('any=thing n=5 s="5"', {}, 7) == {"any": "thing", "n": 5, "s": "5"}


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        ((), "accept"),
        ((FormField("a", "a"), FormField("b", "b", "integer", required=True)), "accept b=1"),
        (tuple(FormField(f"f{n}", "", "number") for n in range(6)), "accept f0=1 f1=1 f2=1 f3=1 …"),
        ((FormField("a b", "a"),), "accept NAME=VALUE …"),
        ((FormField("x | 8 allow", "x"),), "accept NAME=VALUE …"),
        ((FormField("a", "a", choices=(("\x1b", "e"),)),), "accept a=…"),
        ((FormField("a", "a", "array"),), "accept a=…"),
    ],
)
def test_the_hint_is_made_of_nothing_but_plain_names(fields: Any, hint: str) -> None:
    assert accepting(fields) == hint


def test_the_hint_is_itself_a_fitting_line() -> None:
    hint = accepting(read_fields(FORM)).removeprefix("accept ")
    assert read_values(hint, FORM, 7) == {"name": "text", "stage": "test", "sure": True}


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "full name", 'q"t']), VALUE, min_size=1))
def test_any_json_arrives_as_it_was_written(values: dict[str, Any]) -> None:
    line = " ".join(f"{compact(name)}={compact(value)}" for name, value in values.items())
    assert read_values(line, {}, 7) == values


@given(st.text(st.sampled_from("name=stagecount \"[{}]\\:,1e'\t")) | st.text())
def test_any_text_is_values_that_can_be_sent_or_a_line_error(text: str) -> None:
    try:
        values = read_values(text, FORM, 7)
    except LineError as error:
        wrong = str(error)
    else:
        wrong = ""
        assert values.keys() <= PROPERTIES.keys()
        compact(values)
    assert wrong.isprintable()
