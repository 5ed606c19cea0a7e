"""Each test of the plain desk is played at the server's own desk, some at one elsewhere too."""

from __future__ import annotations

import time

import pytest

from crabhook.model.actor import Role
from crabhook.server.address import TcpAddress
from crabhook.ui.plain import output
from tests.support.plain_sitting import Elsewhere
from tests.support.team import founded
from tests.support.team_port import TeamPort

EVERYDAY = (
    "test_a_line_decides_and_the_agent_hears_just_that",
    "test_without_a_number_the_oldest_is_meant",
)
"""What is played elsewhere in `make test` as well; the rest is left to `make test-all`."""

BOTH = {"test_desk", "test_held_answers", "test_remembering"}
"""The modules whose laws rest on what crosses the wire; `tests/unit/remote` holds the wire itself."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "sitting" in metafunc.function.__code__.co_names:
        everyday = metafunc.function.__name__ in EVERYDAY
        elsewhere = pytest.param("elsewhere", marks=() if everyday else (pytest.mark.thorough,))
        both = everyday or metafunc.module.__name__.rpartition(".")[2] in BOTH
        metafunc.parametrize("desk_is", ["here", elsewhere] if both else ["here"], indirect=True)


@pytest.fixture(scope="session")
def team(tmp_path_factory: pytest.TempPathFactory) -> TeamPort:
    ours = founded(tmp_path_factory.mktemp("team") / "team", time.time())
    known = TeamPort(TcpAddress("127.0.0.1", 0), ours)
    known.let_in("ann", Role.ADMIN)
    return known


@pytest.fixture(autouse=True)
def desk_is(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    where = getattr(request, "param", "here")
    if where == "elsewhere":
        monkeypatch.setattr(Elsewhere, "team", request.getfixturevalue("team"))
    return str(where)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell what went by without a wait: a line that is answered is looked at a moment later."""
    monkeypatch.setattr(output, "WITHIN", 0.0)
