"""The pictures in README.md are what the screen shows today."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.docs.film import SHOTS, Painted, Program, play, queue, steady
from tests.docs.picture import LARGEST, MOVING, STILL, shown

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docs.film import Stage

MADE = "make pictures makes them anew: look at them"


def held(stage: Stage) -> None:
    """Hold the moving picture to what the film shows now, but for times."""
    frames = [*zip(play(stage), shown(MOVING.read_text(encoding="utf-8")), strict=True)]
    filmed = (shot for shot in SHOTS if shot.filmed)
    for shot, (frame, drawn) in zip(filmed, frames, strict=True):
        assert steady(drawn) == steady(frame.rows), f"{shot.sight!r}: {MADE}"


def test_the_still_shows_the_queue_as_it_is_drawn_now() -> None:
    (drawn,) = shown(STILL.read_text(encoding="utf-8"))
    assert steady(drawn) == steady(queue().rows), MADE


def test_the_pictures_show_what_the_painter_draws_for_the_same_keys() -> None:
    held(Painted())


@pytest.mark.process
@pytest.mark.thorough
@pytest.mark.timeout(240)
def test_the_pictures_show_what_the_real_demo_shows_for_the_same_keys() -> None:
    with Program(slowly=False) as program:
        held(program)


@pytest.mark.parametrize("picture", [STILL, MOVING], ids=lambda path: path.name)
def test_a_picture_is_small_and_holds_all_it_needs(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")
    assert len(text.encode()) < LARGEST
    elements = [*ET.fromstring(text).iter()]
    names = {element.tag.rpartition("}")[2] for element in elements}
    assert names <= {"svg", "style", "rect", "defs", "g", "use", "text"}
    attributes = [value for element in elements for value in element.attrib.values()]
    assert not any("http" in value for value in attributes)
    assert "url(" not in text
    assert "@import" not in text
