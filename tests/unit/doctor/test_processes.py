"""Whatever is run is bounded, and nothing of it is left."""

import os
import sys
import time
from pathlib import Path

import pytest

from crabhook.doctor.processes import ProgramError, run

pytestmark = pytest.mark.process

ENVIRONMENT = {"PATH": os.defpath}


def python(code: str, seconds: float = 60, **more: object) -> object:
    command = [sys.executable, "-c", code]
    return run(command, seconds=seconds, environment=ENVIRONMENT, **more)  # type: ignore[arg-type]


def test_what_it_says_and_how_it_ends_is_told(tmp_path: Path) -> None:
    code = "import sys,os;print(sys.stdin.read(),os.getcwd());sys.stderr.write('a\\nb\\n');exit(3)"
    ran = run(
        [sys.executable, "-c", code],
        seconds=60,
        environment=ENVIRONMENT,
        folder=tmp_path,
        stdin=b"heard",
    )
    assert (ran.code, ran.stdout) == (3, f"heard {tmp_path}\n")
    assert (ran.first_words, ran.last_words) == ("a", "b")


def test_nothing_of_our_environment_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hush")
    ran = run(["/usr/bin/env"], seconds=60, environment=ENVIRONMENT)
    assert ran.stdout == f"PATH={os.defpath}\n"


def test_a_program_without_an_end_is_ended_with_its_children(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = (
        "import subprocess,sys,time;"
        "c=subprocess.Popen([sys.executable,'-c','import time;time.sleep(600)']);"
        f"open({str(pid)!r},'w').write(str(c.pid));time.sleep(600)"
    )
    with pytest.raises(ProgramError, match="did not end within 2 s"):
        python(code, seconds=2)
    child = int(pid.read_text())
    for _ in range(1200):
        if _is_gone(child):
            return
        time.sleep(0.05)
    pytest.fail("the child lives on")


def _is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


@pytest.mark.parametrize(
    ("program", "why"),
    [("/nowhere/at/all", "No such file"), ("/", "Permission denied"), ("a\0b", "null byte")],
)
def test_what_cannot_be_started_says_why(program: str, why: str) -> None:
    with pytest.raises(ProgramError, match=why):
        run([program], seconds=5, environment=ENVIRONMENT)


def test_a_program_that_says_nothing_is_told_so() -> None:
    ran = run(["/bin/true"], seconds=60, environment=ENVIRONMENT)
    assert (ran.first_words, ran.last_words) == ("it said nothing", "it said nothing")
