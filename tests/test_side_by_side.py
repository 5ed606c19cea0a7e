"""Copies of the process that collected the tests lose none of them, whatever a test does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

SHARED = """
import pytest
@pytest.fixture(scope="session", autouse=True)
def left(tmp_path_factory):
    place = tmp_path_factory.getbasetemp()
    yield
    (place / "ended").touch()
"""
TESTS = """
import atexit, os, warnings, pytest
def test_passes(tmp_path):
    print("not shown")
def test_fails():
    print("what it", "printed")
    assert 1 == 2
def test_ends_the_process():
    os._exit(3)
def test_after_that_passes(tmp_path):
    atexit.register((tmp_path.parent / "left").touch)
    warnings.warn("mind this")
@pytest.mark.skip(reason="no need")
def test_is_skipped(): pass
@pytest.mark.parametrize("number", range(40))
def test_of_many(number): pass
"""


@pytest.mark.process
def test_each_test_is_run_once_and_told_also_after_a_process_that_ended(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"test_{name}.py").write_text(TESTS)
    (tmp_path / "test_d.py").write_text("import os\ndef test_ends_at_last(): os._exit(3)\n")
    (tmp_path / "conftest.py").write_text(SHARED)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = default\n")
    plugins = ["-p", "tests.support.side_by_side", "-p", "no:cacheprovider", "-p", "no:randomly"]
    options = ["-v", "--copies=2", f"--basetemp={tmp_path}/made", f"--rootdir={tmp_path}"]
    command = [sys.executable, "-m", "pytest", *plugins, *options, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"7 failed, 126 passed, 3 skipped, 3 warnings", done.stdout), done.stdout
    assert done.stdout.count("its process ended: 3") >= 4
    assert done.stdout.count("what it printed") == 3
    assert "not shown" not in done.stdout
    assert "mind this" in done.stdout
    # A copy that has run tests and ends by itself ends its fixtures; four did not, and had others.
    assert list(tmp_path.glob("made/copy*/ended"))
    assert list(tmp_path.glob("made/copy*/left"))
    assert len(list(tmp_path.glob("made/copy*"))) == 6
