"""A hook is measured against the start of its interpreter, both in turn."""

import os
import sys
from pathlib import Path

import pytest

from crabhook.doctor.processes import ProgramError, measure

pytestmark = pytest.mark.process

ENVIRONMENT = {"PATH": os.defpath}


def test_a_slow_hook_is_found_slow_and_its_runs_counted(tmp_path: Path) -> None:
    hook = (sys.executable, "-I", "-S", "-c", "import time;time.sleep(0.3)")
    speed = measure(hook, sys.executable, ENVIRONMENT, tmp_path, rounds=3)
    assert speed.rounds == 3
    assert speed.hook > 300
    assert speed.ratio > 1.5
    assert speed.hook > speed.python


def test_the_hook_is_given_an_input_and_the_folder(tmp_path: Path) -> None:
    code = "import sys,os;open('seen','a').write(sys.stdin.read()+os.getcwd())"
    hook = (sys.executable, "-I", "-S", "-c", code)
    measure(hook, sys.executable, ENVIRONMENT, tmp_path, rounds=3)
    seen = (tmp_path / "seen").read_text()
    assert seen.count('"hook_event_name":"Notification"') == 3
    assert str(tmp_path) in seen


def test_what_cannot_be_run_cannot_be_measured(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="No such file"):
        measure(("/nowhere",), sys.executable, ENVIRONMENT, tmp_path, rounds=3)
