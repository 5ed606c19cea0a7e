"""How our entries are written, and known again."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from crabhook.install.entries import is_ours
from crabhook.model.card import Stance
from crabhook.model.errors import InstallError
from crabhook.model.json_source import Json
from crabhook.platforms.claude.events import EVENTS
from crabhook.platforms.claude.settings import groups
from crabhook.platforms.installation import (
    MAX_WAIT,
    START,
    START_CLOSED,
    USUAL_WAIT,
    Group,
    Installation,
    observed,
    waiting,
)
from tests.support.rows import every_row

HOLDABLE = waiting(EVENTS)
OBSERVED = {name: EVENTS[name].hook for name in observed(EVENTS)}

PYTHON, STUB = "/opt/venv/bin/python", "/opt/venv/lib/crabhook/hook/run.py"
DECIDING = {"PreToolUse", "PermissionRequest", "PreSkillShellCommand"}
STANCES = (Stance.COMPANION, Stance.GATE)


def entries(**options: object) -> dict[str, Group]:
    return groups(Installation(PYTHON, STUB, **options))  # type: ignore[arg-type]


def handler(group: Group) -> dict[str, Any]:
    (only,) = cast("list[dict[str, Any]]", group["hooks"])
    return only


def option(entry: dict[str, Any], name: str) -> str | None:
    return dict(pairwise(entry["args"])).get(name)


@pytest.mark.parametrize("stance", STANCES)
def test_all_deciding_events_are_hooked_for_every_tool_in_every_stance(stance: Stance) -> None:
    found = entries(stance=stance)
    assert not any("matcher" in found[event] for event in DECIDING)
    assert set(found) == DECIDING | set(HOLDABLE) | set(OBSERVED)


@pytest.mark.parametrize("stance", STANCES)
def test_every_hook_says_its_stance(stance: Stance) -> None:
    said = {"--companion" in handler(group)["args"] for group in entries(stance=stance).values()}
    assert said == {stance is Stance.COMPANION}


def test_the_command_is_absolute_isolated_and_started_without_a_shell() -> None:
    for group in entries().values():
        entry = handler(group)
        assert (entry["type"], entry["command"]) == ("command", PYTHON)
        assert entry["args"][:5] == ["-I", "-S", "-c", START, STUB]


def run_the_start(stub: Path, start: str = START) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-S", "-c", start, str(stub), "--wait", "5"]
    return subprocess.run(command, capture_output=True, timeout=60, check=False)


@pytest.mark.process
@pytest.mark.parametrize("start", [START, START_CLOSED])
def test_the_stub_runs_as_a_script_does(tmp_path: Path, start: str) -> None:
    stub = tmp_path / "run.py"
    stub.write_text("import sys\nprint(__name__, __file__, sys.argv, sep='|')\n")
    assert (
        run_the_start(stub, start).stdout.decode() == f"__main__|{stub}|['{stub}', '--wait', '5']\n"
    )


@pytest.mark.process
def test_a_hook_whose_program_is_gone_is_silent_where_it_does_not_fail_closed(
    tmp_path: Path,
) -> None:
    ran = run_the_start(tmp_path / "run.py")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


@pytest.mark.process
def test_a_hook_that_fails_closed_is_a_failure_where_its_program_is_gone(tmp_path: Path) -> None:
    assert run_the_start(tmp_path / "run.py", START_CLOSED).returncode not in (0, 2)


@pytest.mark.parametrize("wait", [1, USUAL_WAIT, MAX_WAIT])
def test_the_agent_waits_longer_than_the_client_and_the_client_longer_than_the_server(
    wait: int,
) -> None:
    for event in DECIDING:
        entry = handler(entries(wait=wait)[event])
        assert wait < int(option(entry, "--wait") or 0) < entry["timeout"] <= 2_147_483


@pytest.mark.parametrize("stance", STANCES)
def test_failing_closed_concerns_the_deciding_events_alone(stance: Stance) -> None:
    for event, group in entries(stance=stance, fail_closed=True).items():
        entry = handler(group)
        answers = (
            entry.get("onFailure"),
            option(entry, "--when-unreachable"),
            option(entry, "--when-lost"),
        )
        assert answers == (("block", "deny", "deny") if event in DECIDING else (None, None, None))


@pytest.mark.parametrize("stance", STANCES)
def test_nothing_fails_closed_unasked(stance: Stance) -> None:
    for group in entries(stance=stance).values():
        assert "onFailure" not in handler(group)
        assert not {"--when-unreachable", "--when-lost"} & set(handler(group)["args"])


def test_what_was_given_is_passed_on_by_every_hook() -> None:
    for group in entries(server="host:1", token_file="/t", tls_ca="/ca").values():
        entry = handler(group)
        given = [option(entry, name) for name in ("--server", "--token-file", "--tls-ca")]
        assert given == ["host:1", "/t", "/ca"]


def test_what_was_not_given_is_not_passed_on() -> None:
    for group in entries().values():
        assert not {"--server", "--token-file", "--tls-ca"} & set(handler(group)["args"])


@pytest.mark.parametrize("field", ["server", "token_file", "tls_ca"])
@pytest.mark.parametrize("value", ["/a/${HOME}", "/a/\udcff"])
def test_a_value_the_settings_would_not_keep_is_refused(field: str, value: str) -> None:
    with pytest.raises(InstallError):
        entries(**{field: value})


def test_every_entry_of_ours_is_known_again() -> None:
    assert all(is_ours(handler(group)) for group in entries(fail_closed=True).values())


OURS: list[Json] = [
    {"type": "command", "command": "/elsewhere/python3", "args": ["/old/crabhook/hook/run.py"]},
    {"type": "command", "command": "/elsewhere/python3 -I -S /old/crabhook/hook/run.py --gate"},
    {"type": "command", "command": '"/a b/python" "/a b/crabhook/hook/run.py"'},
    {"type": "command", "command": "crabhook"},
    {"type": "command", "command": "/usr/local/bin/crabhook --companion"},
    {"type": "command", "command": '"/a b/crabhook" --companion'},
    {"type": "command", "command": "/a b/crabhook", "args": []},
]

NOT_OURS: list[Json] = [
    {"type": "command", "command": "python", "args": ["/x/notcrabhook/hook/run.py"]},
    {"type": "command", "command": "python", "args": ["/x/crabhook/hook/run.pyc"]},
    {"type": "command", "command": "python", "args": ["/x/crabhook/hook/run.py/other"]},
    {"type": "command", "command": "/bin/echo crabhook"},
    {"type": "command", "command": "/opt/crabhook/other"},
    {"type": "command", "command": "crabhooks"},
    {"type": "command", "command": "/opt/bin/crabhook supervisor-hook"},
    {"type": "command", "command": "/opt/bin/crabhook", "args": ["supervisor-hook"]},
    {"type": "command", "command": "/a b/crabhook x", "args": []},
    {"type": "command", "command": ""},
    {"type": "command", "command": None, "args": [None, True]},
    {"type": "command"},
    {"type": "http", "url": "http://localhost/crabhook/hook/run.py", "command": "crabhook"},
    {"type": "prompt", "prompt": "crabhook"},
    "crabhook",
    None,
]


@pytest.mark.parametrize("entry", OURS)
def test_an_entry_of_any_installation_is_ours(entry: Json) -> None:
    assert is_ours(entry)


@every_row("entry", NOT_OURS)
def test_an_entry_of_somebody_else_is_not_ours(entry: Json) -> None:
    assert not is_ours(entry)
