"""An act is the rows of a table: one that is added passes through the whole house."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOY = Path(__file__).parents[1] / "support" / "toyact"


@pytest.mark.process
def test_an_act_that_is_added_to_the_table_passes_through_every_face() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.toyact"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(TOY.glob("*.toml"))) == 1
    assert "7 passed" in done.stdout
