"""Each test of the full screen is played at the server's own desk, and at one elsewhere."""

from __future__ import annotations

import pytest

from tests.support.desk import PlayedDesk
from tests.support.sitting import Sitting
from tests.support.wired import WiredDesk

ELSEWHERE = pytest.param(WiredDesk, id="elsewhere", marks=pytest.mark.thorough)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if Sitting in vars(metafunc.module).values():
        metafunc.parametrize(
            "desk_is", [pytest.param(PlayedDesk, id="here"), ELSEWHERE], indirect=True
        )


@pytest.fixture(autouse=True)
def desk_is(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sitting, "makes", getattr(request, "param", PlayedDesk))
