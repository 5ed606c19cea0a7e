"""Whether the agent is there, and of a version that was run."""

import os
from pathlib import Path

import pytest

from crabhook.doctor.checks.installed import is_before, known_version
from crabhook.doctor.finding import Finding, Status
from tests.unit.doctor.home import Home, is_well

pytestmark = pytest.mark.process


def seen(home: Home, script: str, monkeypatch: pytest.MonkeyPatch) -> Finding:
    folder = home.folder / "bin"
    folder.mkdir()
    (folder / "claude").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return home.look(known_version)


def test_a_version_that_was_run_is_well(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = seen(home, 'echo "2.1.332 (Claude Code)"', monkeypatch)
    assert is_well(finding)
    assert finding.figures == {"version": "2.1.332"}


def test_a_version_that_was_not_is_proven_by_running_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = seen(home, 'echo "99.0.1 (Claude Code)"', monkeypatch)
    assert (finding.status, "99.0.1" in finding.what) == (Status.WARNING, True)
    assert finding.mend == "crabhook doctor claude --live"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo broken >&2; exit 1", "ends with 1: broken"),
        ("echo hello", "ends with 0: hello"),
    ],
)
def test_a_program_that_does_not_tell_could_not_be_looked_at(
    home: Home, script: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = seen(home, script, monkeypatch)
    assert (finding.status, told in finding.what) == (Status.UNKNOWN, True)


def test_the_users_home_is_not_its_home_meanwhile(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hush")
    finding = seen(home, 'env > "$HOME/seen"; echo "1.2.3 $HOME $ANTHROPIC_API_KEY"', monkeypatch)
    assert "1.2.3" in finding.what
    assert not (home.folder / "seen").exists()


def test_an_agent_that_is_not_there_is_told_if_it_matters(home: Home) -> None:
    finding = home.look(known_version)
    assert (finding.status, "no `claude` on PATH" in finding.what) == (Status.WARNING, True)


def test_a_program_can_be_named(home: Home, tmp_path: Path) -> None:
    program = tmp_path / "elsewhere"
    program.write_text("#!/bin/sh\necho 2.1.332\n")
    program.chmod(0o755)
    assert is_well(home.look(known_version, program=program))


@pytest.mark.parametrize("version", ["2.1.331", "2.1.330", "2.0.999", "1.9.0"])
def test_of_an_older_version_is_said_that_skills_lines_run_unseen(
    home: Home, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home.folder / "bin"
    folder.mkdir()
    (folder / "claude").write_text(f'#!/bin/sh\necho "{version} (Claude Code)"\n')
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    (first,) = known_version(home.case())
    assert (first.status, "run unseen" in first.means) == (Status.WARNING, True)
    assert first.mend == "claude update"
    assert "disableSkillShellExecution" in first.advice


@pytest.mark.parametrize("version", ["2.1.332", "2.1.1000", "2.2.0", "3.0.0"])
def test_of_a_version_that_asks_about_skills_lines_nothing_is_said(version: str) -> None:
    assert not is_before(version, "2.1.332")
