"""Each test of the full screen is played at the server's own desk, some at one elsewhere too."""

from __future__ import annotations

import pytest

from tests.support.desk import PlayedDesk
from tests.support.sitting import Sitting
from tests.support.wired import WiredDesk

ELSEWHERE = pytest.param(WiredDesk, id="elsewhere", marks=pytest.mark.thorough)
BOTH = {
    "test_calling",
    "test_decide",
    "test_every_card",
    "test_held_answers",
    "test_history_view",
    "test_lost",
    "test_orders_keys",
    "test_random_keys",
    "test_roles",
    "test_sessions_keys",
    "test_suggestions_rules",
}
"""The modules whose laws rest on what crosses the wire: cards, decisions, orders, rules, the past.

That the wire alters nothing else is held by `tests/unit/remote`.
"""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if Sitting in vars(metafunc.module).values():
        here = pytest.param(PlayedDesk, id="here")
        both = metafunc.module.__name__.rpartition(".")[2] in BOTH
        metafunc.parametrize("desk_is", [here, ELSEWHERE] if both else [here], indirect=True)


@pytest.fixture(autouse=True)
def desk_is(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sitting, "makes", getattr(request, "param", PlayedDesk))
