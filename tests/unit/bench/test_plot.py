"""The picture, drawn from figures that were made up."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from bench import goals
from bench.plot import draw

SVG = "{http://www.w3.org/2000/svg}"


def section() -> dict[str, Any]:
    names = {*goals.FLOORS, *goals.OURS, *goals.INSTEAD, *goals.POSTS} - {goals.JQ}
    runs: dict[str, Any] = {
        name: [{"wall": 0.001 * size * load, "cpu": 0.001} for load in (1.0, 1.1, 1.5)]
        for size, name in enumerate(sorted(names), 1)
    }
    runs[goals.POST_KEPT] = [{"wall": 0.5, "cpu": 0.1, "each": [0.0004, 0.0005, 0.0007]}] * 3
    facts = {"python": "3.99.1", "system": "Linux-7.25.44-some-x86_64-with-glibc2.36"}
    facts |= {"cores": "2", "load before": "0.1", "load after": "0.9"}
    facts |= {"on": "2026-11-22T02:40:01.563080+00:00"}
    return {"machine": facts, "runs": runs, "left_out": {goals.JQ: "there is no jq here"}}


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    file = tmp_path / "latency.svg"
    draw(json.loads(json.dumps(section())), file)
    return file


def words_in(picture: Path) -> list[str]:
    root = ET.fromstring(picture.read_text(encoding="utf-8"))
    return ["".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")]


def test_every_contender_that_ran_is_named_in_words(picture: Path) -> None:
    words = words_in(picture)
    ran = set(section()["runs"]) - {goals.NOTHING_AGAIN}
    assert ran <= set(words)
    assert goals.JQ not in words
    assert any("Left out" in line and goals.JQ in line for line in words)


def test_a_post_is_drawn_by_its_calls(picture: Path) -> None:
    assert "0.500" in words_in(picture)  # milliseconds, where `wall` would be 500


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.0004, "0.400"), (0.0336, "33.6"), (0.1164, "116"), (1.5, "1500")]
)
def test_a_median_is_quoted_to_three_figures(seconds: float, shown: str, tmp_path: Path) -> None:
    figures = section()
    figures["runs"] = {goals.HELD: [{"wall": seconds, "cpu": seconds}] * 3}
    draw(figures, tmp_path / "one.svg")
    assert shown in words_in(tmp_path / "one.svg")


def test_it_says_when_and_on_what_it_was_measured(picture: Path) -> None:
    told = " ".join(words_in(picture))
    assert "2026-11-22; 3 rounds" in " ".join(told.split())
    assert "Linux 7.25;" in told
    assert "Python 3.99.1" in told


def test_the_same_figures_give_the_same_bytes(picture: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.svg"
    draw(section(), again)
    assert again.read_bytes() == picture.read_bytes()


def test_it_is_small_and_knows_of_no_path(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")
    assert len(text) < 100_000
    assert not re.search(r"/home|/work|/usr|/tmp|site-packages", text)


def test_every_colour_has_another_for_a_dark_page(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")
    repainted = set(re.findall(r'\[style\*="((?:fill|stroke): #\w+)"\]', text))
    shapes = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    drawn = set(re.findall(r"(?:fill|stroke): #\w+", shapes))
    assert drawn
    assert drawn <= repainted
