import gc
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from copy import copy, deepcopy
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crabhook
from crabhook.datatypes import Bounded, LatePattern, frozen, late_pattern
from tests.support.examples import examples


@frozen
class Point:
    x: int
    y: int = 0


@frozen(slots=False)
class Line:
    start: Point
    end: Point


NAN = float("nan")


def no_fields(make: Any) -> tuple[Any, ...]:
    @make
    class NoFields:
        """A value without fields."""

    return NoFields, NoFields()


def every_kind_of_field(make: Any) -> tuple[Any, ...]:
    @make
    class EveryKind:
        place: int
        text: str = "text"
        kind: ClassVar[str] = "a kind"
        made: list[int] = field(default_factory=lambda: [0], compare=False)
        covered: str = field(default="covered", repr=False)
        later: str = field(init=False)
        anew: list[int] = field(default_factory=list, init=False, compare=False)
        fixed: int = field(default=7, init=False)
        named: int = field(kw_only=True)
        named_too: "int | None" = field(default=None, kw_only=True)

        def __post_init__(self) -> None:
            object.__setattr__(self, "later", self.text.upper())

    yes = EveryKind
    return (
        yes,
        *(yes(1, named=2), yes(1, "other", named=2), yes(1, named=3)),
        *(yes(1, "text", [0], named=2, named_too=4), yes(1, "text", [5], "open", named=2)),
    )


def functions_of_its_own(make: Any) -> tuple[Any, ...]:
    @make
    class Own:
        left: int
        right: float = 0.0

        def __repr__(self) -> str:
            return f"its own {self.left}"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and self.left == other.left

        def __hash__(self) -> int:
            return self.left

    return Own, Own(1, 2), Own(1, 3), Own(2, NAN)


def alone(make: Any) -> tuple[Any, ...]:
    @make
    class Alone:
        only: float

    return Alone, Alone(1), Alone(2), Alone(NAN)


def below_another(make: Any) -> tuple[Any, ...]:
    @make
    class Above:
        first: int
        last: int = 5

    @make
    class Below(Above):
        last: int = 6
        more: str = ""

    return Below, Below(1), Below(1, 6), Below(1, 5, "x"), Above(1, 6)


SHAPES = (no_fields, every_kind_of_field, functions_of_its_own, alone, below_another)


def seen_of(cls: Any, values: tuple[Any, ...]) -> Iterator[object]:
    """Yield all that a user of a class and of values of it can see."""
    signature = inspect.signature(cls).parameters
    yield [(item.name, item.kind) for item in signature.values()]
    yield get_type_hints(cls.__init__), cls.__match_args__, cls.__doc__ is not None
    for value in values:
        yield repr(value).replace(" object at 0x", ""), asdict(value)
        yield hash(value) == hash(copy(value)), deepcopy(value) == value, copy(value) == value
        yield pickle_of(value) == value, value.__eq__(object()), value.__eq__(values[-1])
        yield [value == other for other in values]
        for name in [item.name for item in fields(value) if item.init]:
            yield repr(replace(value, **{name: "another"}))
            with pytest.raises(FrozenInstanceError) as refused:
                setattr(value, name, 1)
            yield str(refused.value)
            with pytest.raises(FrozenInstanceError) as refused:
                delattr(value, name)
            yield str(refused.value)
    yield len(set(values))
    for places, names in (((1, 2, 3, 4, 5, 6, 7), {}), ((), {"strange": 1}), ((), {"fixed": 1})):
        with pytest.raises(TypeError):
            cls(*places, **names)


def pickle_of(value: Any) -> Any:
    """Return a value put together again as pickle does."""
    make, arguments, state, *_ = value.__reduce_ex__(4)
    again = make(*arguments)
    if hasattr(again, "__setstate__"):
        again.__setstate__(state)
    else:
        vars(again).update(state or {})
    return again


@pytest.mark.parametrize("slots", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_frozen_class_does_what_a_frozen_dataclass_does(shape: Any, slots: bool) -> None:
    seen = []
    for make in (partial(frozen, slots=slots), partial(dataclass, frozen=True, slots=slots)):
        cls, *values = shape(make)
        seen.append([*seen_of(cls, tuple(values))])
    ours, theirs = seen
    assert ours == theirs


def test_values_are_told_apart_by_what_they_hold() -> None:
    assert Point(1) == Point(1, 0) != Point(1, 2)
    assert len({Point(1), Point(1, 0), Point(1, 2)}) == 2


@pytest.mark.parametrize("value", [Point(1), Line(Point(1), Point(2))])
@pytest.mark.parametrize("name", ["x", "start", "z"])
def test_a_value_is_never_changed_at_run_time_either(value: Point | Line, name: str) -> None:
    before = repr(value)
    with pytest.raises((AttributeError, TypeError)):
        setattr(value, name, 3)
    with pytest.raises((AttributeError, TypeError)):
        delattr(value, name)
    assert repr(value) == before


CHANGES = """\
from crabhook.datatypes import frozen
from crabhook.model.card import Card, State


@frozen
class Point:
    x: int


def change(card: Card, point: Point) -> None:
    point.x = 2
    card.state = State.DECIDED
"""


@pytest.mark.thorough
@pytest.mark.process
def test_the_type_checker_refuses_to_change_a_value(tmp_path: Path) -> None:
    (tmp_path / "changes.py").write_text(CHANGES, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", "--config-file=", "changes.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert 'Property "x" defined in "Point" is read-only' in checked.stdout, checked
    assert 'Property "state" defined in "Card" is read-only' in checked.stdout


@examples(100)
@given(st.lists(st.integers(0, 9)), st.integers(1, 6))
def test_the_keys_set_last_are_kept_and_never_more_than_the_bound(
    keys: list[int], most: int
) -> None:
    kept: Bounded[int, int] = Bounded(most)
    for turn, key in enumerate(keys):
        kept[key] = turn
        assert len(kept) <= most
    newest = list(dict.fromkeys(reversed(keys)))[:most]
    assert list(reversed(kept)) == newest


def test_reading_and_setting_again_keeps_what_is_used() -> None:
    kept: Bounded[str, int] = Bounded(2)
    kept["a"], kept["b"] = 1, 2
    assert kept.get("a") == 1  # reading alone changes nothing
    kept["c"] = 3
    assert list(kept) == ["b", "c"]
    kept["b"] = kept["b"]
    kept["d"] = 4
    assert list(kept) == ["b", "d"]


def test_every_way_to_set_an_item_is_bounded() -> None:
    kept: Bounded[int, int] = Bounded(3)
    kept.update((number, 0) for number in range(10))
    kept.setdefault(10, 0)
    assert list(kept) == [8, 9, 10]


def test_a_late_pattern_is_a_pattern() -> None:
    late, at_once = late_pattern("(a)b*", re.IGNORECASE), re.compile("(a)b*", re.IGNORECASE)
    assert late.pattern == at_once.pattern
    assert late.sub("-", "cABb") == at_once.sub("-", "cABb") == "c-"
    assert [match.span() for match in late.finditer("abA")] == [(0, 2), (2, 3)]
    with pytest.raises(AttributeError):
        _ = late.no_such_method  # type: ignore[attr-defined]


def test_every_late_pattern_can_be_compiled() -> None:
    for module in pkgutil.walk_packages(crabhook.__path__, "crabhook."):
        if module.name.startswith(("crabhook.secrets.", "crabhook.policy.")):
            importlib.import_module(module.name)
    gc.unfreeze()  # what was imported by the collection of tests is out of the collector's sight
    late = [value for value in gc.get_objects() if isinstance(value, LatePattern)]
    gc.freeze()
    assert len(late) > 200
    assert all(value.groups >= 0 for value in late)
