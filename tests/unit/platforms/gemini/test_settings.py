"""Our entries in Gemini CLI's settings, and what a shell makes of their lines."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crabhook.install.entries import count, is_ours, with_hooks, without_hooks
from crabhook.model.card import Stance
from crabhook.model.errors import InstallError
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import decided
from crabhook.platforms.gemini.events import EVENTS
from crabhook.platforms.gemini.settings import (
    NAME,
    groups,
    settings_path,
    switches,
)
from crabhook.platforms.installation import Installation, SettingsScope, observed, waiting
from tests.support.rows import every_row

DECIDED = decided(EVENTS)
HOLDABLE = waiting(EVENTS)
OBSERVED = {name: EVENTS[name].hook for name in observed(EVENTS)}
LEFT_OUT = {name for name, row in EVENTS.items() if isinstance(row.hook, str)}

PYTHON, STUB = "/opt/a venv/bin/python", "/opt/a venv/lib/crabhook/hook/run.py"
FOREIGN = {"type": "command", "name": "other", "command": "exit 0"}


def entries(**more: Any) -> dict[str, Any]:
    return dict(groups(Installation(PYTHON, STUB, stance=Stance.GATE, **more)))


def handler(group: Any) -> dict[str, Any]:
    (one,) = group["hooks"]
    return dict(one)


def test_every_event_is_hooked_or_left_out_for_a_reason() -> None:
    hooked = [*DECIDED, *HOLDABLE, *OBSERVED]
    assert len(hooked) == len(set(hooked))
    assert {*hooked, *LEFT_OUT} == set(EVENTS)
    assert not set(hooked) & set(LEFT_OUT)
    assert set(entries()) == set(hooked)


def test_what_an_operator_can_hold_is_hooked_unless_it_fires_for_every_request() -> None:
    assert set(PLATFORMS["gemini"].holdable()) - set(HOLDABLE) == {"BeforeModel"}


@pytest.mark.parametrize("wait", [1, 3600, 2_147_423])
def test_the_agents_timeout_is_in_milliseconds_and_longer_than_the_clients(wait: int) -> None:
    for event, group in entries(wait=wait).items():
        entry = handler(group)
        client = re.search(r"--wait (\d+)", entry["command"])
        assert client is not None
        assert int(client[1]) * 1000 < entry["timeout"] < 2**31
        if event in (*DECIDED, *HOLDABLE):
            assert wait < int(client[1])


def test_every_entry_has_our_name_and_is_for_every_tool() -> None:
    for group in entries().values():
        assert group["matcher"] == "*"
        assert handler(group)["name"] == NAME
        assert handler(group)["type"] == "command"
        assert is_ours(handler(group))


def test_failing_closed_concerns_calls_alone() -> None:
    for event, group in entries(fail_closed=True).items():
        command = handler(group)["command"]
        closed = "--when-unreachable deny --when-lost deny" in command
        assert closed == (event == "BeforeTool")
        assert ('"deny"' in command) == closed


def test_what_was_given_is_passed_on_as_one_word_each() -> None:
    more = {"server": "unix:/a b/s", "token_file": "/it's", "tls_ca": "/ca"}
    for group in entries(**more).values():
        command = handler(group)["command"]
        assert "--server 'unix:/a b/s'" in command
        assert """--token-file '/it'"'"'s'""" in command
        assert "--tls-ca /ca" in command


@every_row("field", ["server", "token_file", "tls_ca"])
@every_row("value", ["/a/$HOME", "/a/${HOME}", "/a/$GEMINI_CWD", "/a/\udcff"])
def test_a_value_gemini_would_change_is_refused(field: str, value: str) -> None:
    with pytest.raises(InstallError):
        entries(**{field: value})


# What bash makes of a line.


def run_line(python: str, stub: Path, *, closed: bool) -> subprocess.CompletedProcess[bytes]:
    installation = Installation(python, str(stub), fail_closed=closed, wait=5)
    command = handler(groups(installation)["BeforeTool"])["command"]
    return subprocess.run(
        ["bash", "-c", command], capture_output=True, input=b"{}", timeout=60, check=False
    )


@pytest.mark.process
def test_the_line_becomes_the_client_with_its_options(tmp_path: Path) -> None:
    stub = tmp_path / "it's here" / "run.py"
    stub.parent.mkdir()
    stub.write_text("import os, sys\nprint(sys.argv[1:], os.getppid())\n")
    line = handler(groups(Installation(sys.executable, str(stub), wait=5))["BeforeTool"])["command"]
    with subprocess.Popen(["bash", "-c", line], stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        said = shell.stdout.read().decode()
    assert said.startswith("['--platform', 'gemini', '--wait', '35'] ")
    # The client is the shell's own process, so its parent is ours and not a shell.
    assert int(said.split()[-1]) != shell.pid


@pytest.mark.process
@pytest.mark.parametrize(("closed", "said"), [(False, None), (True, "deny")])
@pytest.mark.parametrize("gone", ["python", "stub"])
def test_where_crabhook_is_gone_the_line_says_so_itself(
    tmp_path: Path, gone: str, closed: bool, said: str | None
) -> None:
    stub = tmp_path / "run.py"
    stub.write_text("print('{}')")
    if gone == "stub":
        stub.unlink()
    done = run_line(sys.executable if gone == "stub" else "/gone/python", stub, closed=closed)
    assert done.returncode == 0
    assert json.loads(done.stdout).get("decision") == said


# The file.


def test_installing_twice_is_installing_once_and_uninstalling_gives_the_text_back() -> None:
    before = json.dumps(
        {"hooksConfig": {"notifications": False}, "hooks": {"BeforeTool": [{"hooks": [FOREIGN]}]}},
        indent=2,
    )
    once = with_hooks(before, entries())
    assert with_hooks(once, entries()) == once
    assert json.loads(once)["hooks"]["BeforeTool"][0] == {"hooks": [FOREIGN]}
    assert json.loads(once)["hooksConfig"] == {"notifications": False}
    assert count(once) == len(entries())
    assert without_hooks(once) == before


@pytest.mark.parametrize(
    ("scope", "environment", "expected"),
    [
        (SettingsScope.USER, {"HOME": "/home/a"}, "/home/a/.gemini/settings.json"),
        (
            SettingsScope.USER,
            {"HOME": "/home/a", "GEMINI_CLI_HOME": "/g"},
            "/g/.gemini/settings.json",
        ),
        (SettingsScope.PROJECT, {}, "/p/.gemini/settings.json"),
    ],
)
def test_the_settings_lie_where_gemini_looks(
    scope: SettingsScope, environment: dict[str, str], expected: str
) -> None:
    assert str(settings_path(scope, Path("/p"), environment)) == expected


def test_a_scope_that_gemini_does_not_have_is_refused() -> None:
    with pytest.raises(InstallError, match="no settings of the scope local"):
        settings_path(SettingsScope.LOCAL, Path("/p"), {"HOME": "/h"})


def test_without_a_home_there_are_no_user_settings() -> None:
    with pytest.raises(InstallError, match="HOME is not set"):
        settings_path(SettingsScope.USER, Path("/p"), {})


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, []),
        ({"hooksConfig": {"enabled": True, "disabled": ["other"]}}, []),
        ({"hooksConfig": {"enabled": False}}, ["hooksConfig.enabled is false"]),
        ({"hooksConfig": {"disabled": ["other", "crabhook"]}}, ['lists "crabhook"']),
        ({"hooksConfig": []}, []),
    ],
)
def test_settings_that_keep_our_hooks_from_running_are_named(config: Any, said: list[str]) -> None:
    found = list(switches(json.dumps(config)))
    assert len(found) == len(said)
    assert all(words in line for words, line in zip(said, found, strict=True))
