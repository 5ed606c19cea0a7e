"""Whether what the hooks start is there, runs, is this installation, and is fast."""

import sys
from pathlib import Path

import pytest

from crabhook import __version__
from crabhook.doctor.examination import GOAL, _judged, fast, program_runs
from crabhook.doctor.finding import Status
from crabhook.doctor.processes import Speed
from crabhook.install import program
from tests.unit.doctor.home import Home, is_well

pytestmark = pytest.mark.process


def starting(home: Home, command: str, stub: str | None = None) -> None:
    """Have every entry start another program."""

    def change(settings: dict[str, dict[str, list[dict[str, list[dict[str, object]]]]]]) -> None:
        for groups in settings["hooks"].values():
            for group in groups:
                for handler in group["hooks"]:
                    args = handler["args"]
                    assert isinstance(args, list)
                    handler["command"], args[4] = command, stub or args[4]

    home.change(change)


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_this_installation_runs(home: Home) -> None:
    home.install("--gate")
    finding = home.look(program_runs)
    assert is_well(finding)
    assert finding.figures == {"version": __version__}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "No such file"),
        ("exit 3", "ends with 3: it said nothing"),
        ("echo libpython is gone >&2; exit 127", "libpython is gone"),
    ],
)
def test_a_program_that_is_gone_or_broken_is_mended_by_installing(
    home: Home, text: str | None, told: str
) -> None:
    home.install("--gate", "--fail-closed")
    path = home.folder / "python"
    starting(home, str(path) if text is None else script(path, text))
    finding = home.look(program_runs)
    assert (finding.status, told in finding.what) == (Status.FAULT, True)
    assert "--fail-closed" in finding.mend
    home.mend(finding)
    assert is_well(home.look(program_runs))


def test_a_program_that_may_not_be_executed_is_a_fault(home: Home) -> None:
    home.install("--gate")
    path = Path(script(home.folder / "python", "true"))
    path.chmod(0o644)
    starting(home, str(path))
    finding = home.look(program_runs)
    assert (finding.status, "Permission denied" in finding.what) == (Status.FAULT, True)


def test_a_stub_that_is_gone_is_a_fault(home: Home) -> None:
    home.install("--gate")
    starting(home, sys.executable, "/gone/crabhook/hook/run.py")
    finding = home.look(program_runs)
    assert (finding.status, "there is no /gone" in finding.what) == (Status.FAULT, True)
    home.mend(finding)
    assert is_well(home.look(program_runs))


def test_another_installation_is_warned_of(home: Home) -> None:
    home.install("--gate")
    other = home.folder / "other"
    other.symlink_to(Path(program.stub()).parents[2])
    starting(home, sys.executable, str(other / "crabhook/hook/run.py"))
    finding = home.look(program_runs)
    assert (finding.status, "another installation" in finding.means) == (Status.WARNING, True)
    home.mend(finding)
    assert is_well(home.look(program_runs))


def test_another_python_is_warned_of_and_is_no_other_installation(home: Home) -> None:
    home.install("--gate")
    other = home.folder / "python3"
    other.symlink_to(program.interpreter())
    starting(home, str(other))
    finding = home.look(program_runs)
    assert (finding.status, "another Python" in finding.means) == (Status.WARNING, True)
    assert finding.what.endswith(f"This crabhook runs by {program.interpreter()}")
    home.mend(finding)
    assert is_well(home.look(program_runs))


def test_the_command_itself_is_known_by_its_version(home: Home) -> None:
    handler = {"type": "command", "command": "crabhook --companion"}
    home.write(home.settings, {"hooks": {"PreToolUse": [{"hooks": [handler]}]}})
    finding = home.look(program_runs)
    assert finding.status is Status.WARNING
    assert f"crabhook {__version__}" in finding.what


def test_what_a_project_brings_is_not_started_unless_it_is_trusted(home: Home) -> None:
    ran = home.folder / "ran"
    evil = script(home.folder / "evil", f"touch {ran}")
    handler = {"type": "command", "command": evil, "args": [program.stub()]}
    document = {"hooks": {"PreToolUse": [{"hooks": [handler]}]}}
    home.write(home.project / ".claude" / "settings.json", document)
    finding = home.look(program_runs)
    assert (finding.status, "not started" in finding.what) == (Status.WARNING, True)
    assert list(fast(home.case())) == []
    assert not ran.exists()
    assert "--trust-project" in finding.mend
    assert home.look(program_runs, trusting=True).status is Status.FAULT
    assert ran.exists()


def test_a_hook_is_measured_without_a_server_too(home: Home) -> None:
    home.install("--gate")
    finding = home.look(fast, quick=True)
    assert "no server there" in finding.what
    assert finding.figures["rounds"] == 5
    hook, python = finding.figures["hook_ms"], finding.figures["python_ms"]
    assert float(hook) > 0 < float(python)


def test_a_slow_start_is_found_against_the_interpreter_behind_it_and_installing_mends(
    home: Home,
) -> None:
    home.install("--gate")
    starting(home, script(home.folder / "shim", f'sleep 0.4; exec "{sys.executable}" "$@"'))
    slow = home.look(fast, quick=True)
    assert slow.status is Status.WARNING
    assert float(slow.figures["ratio"]) > GOAL
    home.mend(slow)
    mended = home.look(fast, quick=True)
    assert float(mended.figures["ratio"]) < float(slow.figures["ratio"])
    assert Path(home.handlers()[0]["command"]).resolve() == Path(sys.executable).resolve()


def test_what_cannot_be_run_cannot_be_measured(home: Home) -> None:
    home.install("--gate")
    starting(home, "/gone/python")
    finding = home.look(fast)
    assert (finding.status, bool(finding.mend)) == (Status.UNKNOWN, True)


@pytest.mark.parametrize(("ratio", "status"), [(1.5, Status.OK), (1.51, Status.WARNING)])
def test_the_goal_is_one_and_a_half_starts(home: Home, ratio: float, status: Status) -> None:
    home.install("--gate")
    case = home.case()
    speed = Speed(hook=15.0, python=10.0, ratio=ratio, rounds=15)
    assert _judged(case, case.entries[0], speed, "no server there").status is status


def test_installing_again_is_not_advised_against_what_tls_costs(home: Home) -> None:
    home.install("--gate", "--tls-ca", str(home.folder / "ca.pem"), server="127.0.0.1:9")
    case = home.case()
    found = _judged(case, case.entries[0], Speed(hook=40.0, python=10.0, ratio=4.0, rounds=5), "")
    assert (found.status, found.mend) == (Status.WARNING, "")
    assert "TLS alone costs" in found.advice


def test_installing_again_is_not_advised_where_it_would_write_the_same(home: Home) -> None:
    home.install("--gate")
    case = home.case()
    speed = Speed(hook=40.0, python=10.0, ratio=4.0, rounds=5)
    found = _judged(case, case.entries[0], speed, "")
    assert (found.status, found.mend) == (Status.WARNING, "")
    assert "a busy machine measures badly" in found.advice
