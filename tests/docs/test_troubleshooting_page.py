"""docs/how-to/troubleshooting.md has a symptom for whatever the doctor can find, and so has its reference."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ID = re.compile(r"(agent|files|hook|live|record|rules|server|settings|user)\.[a-z-]+")
FILES = {"settings.toml", "settings.json", "rules.toml", "record.db", "record.head", "server.key"}


def findings() -> set[str]:
    """Return the ids of all findings, as the doctor's code has them."""
    found = set()
    for file in (ROOT / "src" / "crabhook" / "doctor").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value} if ID.fullmatch(node.value) else set()
    return found - FILES


@pytest.mark.parametrize("page", ["how-to/troubleshooting.md", "reference/doctor.md"])
def test_the_page_has_every_finding_of_the_doctor_and_no_other(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    told = {name for row in rows for name in re.findall(r"`([^`]+)`", row) if ID.fullmatch(name)}
    assert "server.answers" in told
    assert told - FILES == findings()
