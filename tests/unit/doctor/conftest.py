"""A home to look at; the process lives in it while the test lasts."""

from collections.abc import Iterator

import pytest

from tests.support.port import short_folder
from tests.unit.doctor.home import Home

FOREIGN = (
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "CLAUDE_CONFIG_DIR",
    "GEMINI_CLI_HOME",
    "CODEX_HOME",
    "CRABHOOK_SERVER",
    "CRABHOOK_WAIT",
)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    with short_folder() as folder:
        home = Home(folder)
        for name in FOREIGN:
            monkeypatch.delenv(name, raising=False)
        for name, value in home.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(home.project)
        yield home
