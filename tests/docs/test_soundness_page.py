"""docs/maintaining/soundness.md has every point, and names tests that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "maintaining" / "soundness.md"
ROW = re.compile(r"^\| (\d+)[^|]*\|.*\| (?:old|reverted|old, reverted) \| (.*) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
POINTS = {*range(1, 29)}


def _rows() -> list[tuple[int, list[tuple[str, str]]]]:
    text = PAGE.read_text(encoding="utf-8").replace(r"\|", "¦")
    return [(int(point), TEST.findall(tests)) for point, tests in ROW.findall(text)]


def test_every_point_has_a_test_that_exists() -> None:
    rows = _rows()
    assert {point for point, _ in rows} == POINTS
    assert all(tests for _, tests in rows)
    named = {one for _, tests in rows for one in tests}
    assert len(named) == len(set(TEST.findall(PAGE.read_text(encoding="utf-8"))))
    missing = [
        f"{file}::{name}"
        for file, name in sorted(named)
        if not re.search(rf"^(?:async )?def {name}\(", _text(file), re.MULTILINE)
    ]
    assert not missing


def _text(file: str) -> str:
    path = ROOT / file
    return path.read_text(encoding="utf-8") if path.exists() else ""
