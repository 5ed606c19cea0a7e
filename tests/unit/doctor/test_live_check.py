"""The proof tells an agent that heeds its hooks from one that does not."""

import shutil
import sys
from pathlib import Path

import pytest

from crabhook.doctor import live_check
from crabhook.doctor.finding import Finding, Status
from crabhook.doctor.live_check import prove
from crabhook.platforms import HOOKED
from crabhook.platforms.interface import ScriptedSession
from tests.support.examples import share
from tests.unit.doctor.home import Home, contents

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]


def proven(home: Home, manner: str) -> Finding:
    """What is proven of an agent of this manner."""
    folder = home.folder / "agent"
    folder.mkdir()
    shutil.copy(Path(__file__).with_name("agent.py"), folder)
    (folder / "manner").write_text(manner)
    program = folder / "claude"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{folder}/agent.py" "$@"\n')
    program.chmod(0o755)
    return prove(home.case(program=program))


def test_every_agent_can_be_proven() -> None:
    assert all(isinstance(agent.scripted_session, ScriptedSession) for agent in HOOKED.values())


def test_an_agent_that_heeds_its_hooks_is_proven_to(home: Home) -> None:
    finding = proven(home, "heeds")
    assert (finding.status, finding.id, finding.agent) == (Status.OK, "live.denial", "claude")
    assert live_check.REASON in finding.what


@pytest.mark.parametrize(
    ("manner", "status", "told"),
    share(
        [
            ("heeds nothing", Status.FAULT, "a call was made that the server had denied"),
            ("tells no reason", Status.FAULT, "the model was not told why: no"),
            ("does nothing", Status.FAULT, "a call was not made that it had allowed"),
            ("cannot begin", Status.UNKNOWN, "0 times of 3, and ended with 1: please run /login"),
        ],
        0,
    ),
)
def test_one_that_does_not_is_found_out(home: Home, manner: str, status: Status, told: str) -> None:
    finding = proven(home, manner)
    assert (finding.status, told in finding.what) == (status, True), finding


def test_one_that_never_ends_is_ended(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_check, "WITHIN", 3.0)
    finding = proven(home, "never ends")
    assert (finding.status, "did not end within" in finding.what) == (Status.UNKNOWN, True)


def test_an_agent_that_is_not_here_cannot_be_proven(home: Home) -> None:
    finding = prove(home.case("codex"))
    assert (finding.status, "no `codex` on PATH" in finding.what) == (Status.UNKNOWN, True)


def test_nothing_of_the_users_is_touched_and_nothing_is_left(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.install("--companion")
    before = contents(home.folder)
    stages = home.folder / "stages"
    stages.mkdir()
    monkeypatch.setattr(live_check, "WHERE", str(stages))
    assert proven(home, "heeds").status is Status.OK
    after = contents(home.folder)
    assert {path: after[path] for path in before} == before
    assert list(stages.iterdir()) == []
