"""CONTRIBUTING.md and `make help` name what there is."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
DESCRIBED = re.findall(r"^([^\s:#]+):[^\n]*## ", MAKEFILE, re.MULTILINE)


def test_make_help_lists_every_target_that_says_what_it_does() -> None:
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "e2e" in DESCRIBED
    assert [line.split()[0] for line in shown.splitlines()] == DESCRIBED


def test_what_contributors_are_told_to_make_can_be_made() -> None:
    named = re.findall(r"`make ([a-z0-9-]+)", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert {"check", "test", "proto", "baseline"} <= set(named)
    assert set(named) <= set(DESCRIBED)
