import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.datatypes import Bounded, frozen
from tests.support.examples import examples


@frozen
class Point:
    x: int
    y: int = 0


@frozen(slots=False)
class Line:
    start: Point
    end: Point


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
