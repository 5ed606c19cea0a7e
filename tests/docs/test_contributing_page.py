"""CONTRIBUTING.md and `make help` name what there is."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
DESCRIBED = re.findall(r"^([^\s:#]+):[^\n]*## ", MAKEFILE, re.MULTILINE)


@pytest.mark.process
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


@pytest.mark.process
def test_the_demo_says_that_it_sets_up_and_only_the_first_time(tmp_path: Path) -> None:
    for done in (False, True):
        if done:
            for file in ("bin/python", "installed"):
                (tmp_path / file).parent.mkdir(exist_ok=True)
                (tmp_path / file).touch()
        planned = subprocess.run(
            ["make", "--no-print-directory", "--dry-run", "demo", f"VENV={tmp_path}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        steps = [line.partition(": ")[0] for line in planned]
        assert ('echo "setting up (once)' in steps) == (not done)
        assert planned[-1] == "crabhook demo"
        if not done:  # before each step that takes a while
            for slow in ("-m venv", "--editable"):
                place = next(at for at, line in enumerate(planned) if slow in line)
                assert steps[place - 1] == 'echo "setting up (once)'


def test_what_contributors_are_told_to_make_can_be_made() -> None:
    named = re.findall(r"`make ([a-z0-9-]+)", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert {"check", "test", "proto", "baseline"} <= set(named)
    assert set(named) <= set(DESCRIBED)
