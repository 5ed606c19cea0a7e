"""Every point of the attack has tests, and each is there."""

import re
from pathlib import Path

from tests.soundness import points

ROOT = Path(__file__).parents[1]


def test_every_point_has_a_test_that_exists() -> None:
    assert {point.number for point in points()} == set(range(1, 29))
    assert all(point.tests for point in points())
    missing = [
        test
        for test in sorted({test for point in points() for test in point.tests})
        if not _is_there(*test.split("::"))
    ]
    assert not missing


def _is_there(file: str, name: str) -> bool:
    path = ROOT / file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return re.search(rf"^(?:async )?def {name}\(", text, re.MULTILINE) is not None
