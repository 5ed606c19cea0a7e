"""The options of `crabhook supervisor-hook`, and how it ends when it is told to."""

import signal
from pathlib import Path

import pytest

from crabhook.cli import main, supervisor
from crabhook.supervisor.running import Arguments


@pytest.fixture(autouse=True)
def the_signals_as_they_were() -> object:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def told(monkeypatch: pytest.MonkeyPatch, *options: str) -> Arguments:
    heard: list[Arguments] = []

    def hear(one: Arguments) -> int:
        heard.append(one)
        return 0

    monkeypatch.setattr(supervisor, "main", hear)
    assert main(["supervisor-hook", *options]) == 0
    return heard[0]


def test_without_options_the_environment_and_the_agent_say_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert told(monkeypatch) == Arguments()


def test_what_was_said_is_passed_on_and_the_operators_place_as_the_hook_takes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = ["--session-id", "s", "--settings", "/f", "--server", "unix:/s", "--token-file", "/t"]
    found = told(monkeypatch, *options)
    assert (found.session_id, found.settings_file) == ("s", Path("/f"))
    assert found.desk_options == ("--server=unix:/s", "--token-file=/t")


def test_an_agent_that_ends_it_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch)
    with pytest.raises(SystemExit, match="143"):
        signal.raise_signal(signal.SIGTERM)
