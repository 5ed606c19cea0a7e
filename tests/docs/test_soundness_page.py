"""docs/maintaining/soundness.md has every point, and names tests that are there; pages say what is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "maintaining" / "soundness.md"
ROW = re.compile(r"^\| (\d+)[^|]*\|.*\| (?:old|reverted|old, reverted) \| (.*) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
POINTS = 28


def _rows() -> list[tuple[int, list[tuple[str, str]]]]:
    text = PAGE.read_text(encoding="utf-8").replace(r"\|", "¦")
    return [(int(point), TEST.findall(tests)) for point, tests in ROW.findall(text)]


def test_every_point_has_a_test_that_exists() -> None:
    rows = _rows()
    assert {point for point, _ in rows} == set(range(1, POINTS + 1))
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


@pytest.mark.parametrize(
    ("page", "says", "never"),
    [
        ("README.md", "finds what was changed", "proves that nobody changed it"),
        ("README.md", "unless you write such a rule yourself", "there is no rule: those"),
        ("SECURITY.md", "nobody else may write in it (0755 will do", "@"),
        ("SECURITY.md", "holds a loopback port first is the server", "@"),
        ("SECURITY.md", "The server refuses a token file that others can read, and the", "@"),
        ("docs/reference/protocols.md", "companion's PreToolUse waits only where a rule", "@"),
        ("docs/reference/protocols.md", "the input is past 32 MiB, or ends in an error", "@"),
        ("docs/reference/settings.md", "The plain desk keeps its `·` and `…`", "@"),
        ("docs/reference/settings.md", "at the first start that opens TCP", "@"),
        ("docs/reference/desk.md", "hold all of it that can wait", "hold everything of it"),
        (
            "docs/reference/rules.md",
            "you on a card that the rule brings to you",
            "it is shown where",
        ),
        ("docs/reference/audit.md", "What exactly is proven", "@"),
        ("CONTRIBUTING.md", "`tests/test_mirror.py` holds it", "@"),
        ("CHANGELOG.md", "a law for each of 18 places", "17 places"),
    ],
)
def test_a_page_that_said_what_is_not_so_says_what_is(page: str, says: str, never: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert says in text
    assert never == "@" or never not in text
