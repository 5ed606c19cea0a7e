"""Values as far as they are known, and scripts made of them."""

from crabhook.lint.script import (
    UNKNOWN,
    HookScript,
    Language,
    SourcePlace,
    ValueShape,
    Wait,
    members,
)

HERE, THERE = SourcePlace(1, 1), SourcePlace(2, 1)
SHAPE = ValueShape(
    HERE,
    members={
        "a": (ValueShape(HERE, "x"), ValueShape(THERE, "y"), ValueShape(THERE)),
        "b": (ValueShape(HERE, members={"c": (ValueShape(THERE, 1),)}),),
    },
)


def test_a_member_may_be_several_things() -> None:
    assert list(SHAPE.texts("a")) == [(HERE, "x"), (THERE, "y")]
    assert len(list(SHAPE.of("a"))) == 3
    assert next(iter(ValueShape(HERE).of())).literal is UNKNOWN


def test_a_path_leads_through_objects() -> None:
    assert list(SHAPE.literals("b", "c")) == [(THERE, 1)]
    assert not list(SHAPE.texts("b", "c")), "a number is no text"
    assert not list(SHAPE.of("a", "c"))
    assert not list(SHAPE.of("nothing"))


def test_members_have_the_place_of_their_first_value() -> None:
    assert list(members(SHAPE)) == [("a", HERE), ("b", HERE)]


def test_the_longest_wait_is_the_one_that_counts() -> None:
    waits = (Wait(HERE, 5, "sleep"), Wait(THERE, 90, "curl"))
    assert HookScript(Language.SHELL, waits=waits).longest_wait() == waits[1]
    assert HookScript(Language.SHELL).longest_wait() is None
