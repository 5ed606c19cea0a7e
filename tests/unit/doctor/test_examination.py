"""Everything is looked at, once, in order; and for a new person there is a next step."""

import os
from collections import Counter

import pytest

from crabhook.doctor.examination import OF_AN_AGENT, OF_THE_MACHINE, cases, examine
from crabhook.doctor.facts import DoctorTask
from crabhook.doctor.finding import Finding, Status
from tests.unit.doctor.home import Home, contents


def all_of(home: Home, agent: str | None = None) -> list[Finding]:
    wish = DoctorTask(home.project, agent, quick=True)
    return list(examine(cases(wish, os.environ), wish))


def here(home: Home, monkeypatch: pytest.MonkeyPatch, *programs: str) -> None:
    """Put programs on PATH that only say a version."""
    folder = home.folder / "bin"
    folder.mkdir()
    for name in programs:
        (folder / name).write_text("#!/bin/sh\necho 0.169.0\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_with_nothing_at_all_there_is_one_fault_and_a_next_step(home: Home) -> None:
    found = all_of(home)
    (fault,) = [one for one in found if one.status is Status.FAULT]
    assert (fault.id, fault.mend) == ("hook.installed", "crabhook demo")
    assert "no agent is here" in fault.what


@pytest.mark.parametrize("there", ["team/server.key", "record.db", "settings"])
def test_a_machine_that_only_runs_a_server_needs_no_agent(home: Home, there: str) -> None:
    if there == "settings":
        home.write(home.config / "settings.toml", f'[record]\nstore = "{home.folder}/kept"\n')
    else:
        home.write(home.state / there, "")
    (hook,) = [one for one in all_of(home) if one.id == "hook.installed"]
    assert (hook.status, hook.mend) == (Status.OK, "")
    assert "no agent is set up here" in hook.what
    assert "`crabhook install claude`" in hook.advice


def test_an_agent_whose_program_is_not_found_is_to_be_hooked_by_its_users_settings(
    home: Home,
) -> None:
    home.write(home.state / "record.db", "")
    home.write(home.settings, {"model": "opus"})
    fault = next(one for one in all_of(home) if one.id == "hook.installed")
    assert (fault.status, fault.agent) == (Status.FAULT, "claude")
    assert fault.mend == "crabhook install claude"


@pytest.mark.process
def test_with_agents_and_no_hooks_the_first_one_is_to_be_hooked(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    here(home, monkeypatch, "gemini", "codex")
    found = all_of(home)
    (fault,) = [one for one in found if one.status is Status.FAULT]
    assert (fault.agent, fault.id) == ("gemini", "hook.installed")
    assert fault.mend == "crabhook install gemini"
    (other,) = [one for one in found if one.agent == "codex" and one.id == "hook.installed"]
    assert (other.status, "left alone" in other.what) == (Status.OK, True)


def test_an_agent_that_is_hooked_is_looked_at_wherever_its_program_is(home: Home) -> None:
    home.install(agent="codex")
    assert {one.agent.name for one in cases(DoctorTask(home.project), os.environ)} == {"codex"}


def test_an_agent_that_is_named_is_the_only_one(home: Home) -> None:
    home.install()
    found = all_of(home, "gemini")
    assert {one.agent for one in found} == {"gemini", ""}
    assert any(one.status is Status.FAULT and one.id == "hook.installed" for one in found)


@pytest.mark.process
def test_each_thing_is_found_once_where_there_is_one_of_it(home: Home) -> None:
    home.install("--gate")
    ids = Counter(one.id for one in all_of(home))
    assert set(ids.values()) == {1}
    assert (
        len(ids) >= len(OF_AN_AGENT) + len(OF_THE_MACHINE) - 7
    )  # no token, socket, project, door, server of its own, team file, provider


@pytest.mark.process
def test_nothing_is_changed_by_looking(home: Home) -> None:
    home.install("--gate")
    home.write(home.config / "rules.toml", "not = toml = at all")
    before = contents(home.folder)
    all_of(home)
    assert contents(home.folder) == before
