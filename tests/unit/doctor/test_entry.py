"""An entry is read as the agent, a shell and our client read it."""

from pathlib import Path
from shlex import quote

import pytest

from crabhook.doctor.entry import HookEntry, entry
from crabhook.install import program
from crabhook.model.card import Stance
from crabhook.model.json_source import Json, as_json
from crabhook.platforms.codex import settings as codex
from crabhook.platforms.gemini import settings as gemini
from crabhook.platforms.installation import Installation
from tests.unit.doctor.home import Home

STUB = program.stub()
IN_A_LINE = quote(STUB)


def of(command: str, **more: object) -> HookEntry:
    value = as_json({"type": "command", "command": command, **more})
    assert isinstance(value, dict)
    return entry("PreToolUse", value)


@pytest.mark.parametrize(
    ("command", "interpreter", "stub", "arguments"),
    [
        ("crabhook --companion", "crabhook", "", ("--companion",)),
        (f"python3 {IN_A_LINE} --wait 5", "python3", STUB, ("--wait", "5")),
        (f"A=1 exec py '{STUB}' -x; echo no", "py", STUB, ("-x",)),
        (
            f"[ -x py ] && [ -r {IN_A_LINE} ] && exec py {IN_A_LINE} -x; echo '{{}}'",
            "py",
            STUB,
            ("-x",),
        ),
        ("a quote that's not closed: crabhook", "", "", ()),
    ],
)
def test_a_line_for_a_shell_is_taken_apart(
    command: str, interpreter: str, stub: str, arguments: tuple[str, ...]
) -> None:
    found = of(command)
    assert (found.interpreter, found.stub, found.arguments) == (interpreter, stub, arguments)


def test_words_that_are_given_apart_stay_apart() -> None:
    found = of("/a path/python", args=["-I", STUB, "--server", "unix:/x; y"])
    assert found.command == ("/a path/python", "-I", STUB, "--server", "unix:/x; y")
    assert found.given("--server") == "unix:/x; y"


@pytest.mark.parametrize("agent", [gemini, codex])
@pytest.mark.parametrize("fail_closed", [True, False])
def test_the_lines_of_every_installer_are_understood(agent: object, fail_closed: bool) -> None:
    how = Installation("/py thon", STUB, Stance.GATE, fail_closed, server="unix:/it's a;socket")
    groups = agent.groups(how)  # type: ignore[attr-defined]
    for event, group in groups.items():
        value: Json = as_json(group["hooks"][0])
        assert isinstance(value, dict)
        found = entry(event, value)
        assert (found.interpreter, found.stub) == ("/py thon", STUB)
        assert found.options.problem == ""
        assert found.options.server == "unix:/it's a;socket"


def test_the_last_of_an_option_counts_as_for_the_client() -> None:
    found = of(f"py {STUB} --wait 5 --wait=7")
    assert (found.given("--wait"), found.options.wait) == ("7", 7.0)
    assert found.given("--server") is None


def test_what_is_not_said_is_where_the_client_looks(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert of("crabhook").options.server == f"unix:{home.folder}/run/crabhook/crabhook.sock"
    monkeypatch.setenv("CRABHOOK_SERVER", "unix:/elsewhere")
    assert of("crabhook").options.server == "unix:/elsewhere"


def test_a_token_is_read_only_to_ask_the_server(tmp_path: Path) -> None:
    token = tmp_path / "token"
    found = of(f"crabhook --token-file {token} --server localhost:1")
    assert (found.options.token, found.options.problem) == ("", "")
    assert "cannot read the token file" in found.asking().problem
    token.write_text("hush\n")
    token.chmod(0o600)
    assert found.asking().token == "hush"
    assert of(f"crabhook --token-file={token}").options.token == ""


def test_what_a_person_is_told_is_what_starts() -> None:
    assert of("sh -c 'a b'").told == "sh -c 'a b'"
    value = as_json({"type": "http", "url": "http://localhost:1/x"})
    assert isinstance(value, dict)
    assert entry("Stop", value).told == "http://localhost:1/x"
    assert entry("Stop", {}).told == "None"
