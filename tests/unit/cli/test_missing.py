"""A command without its packages says which are missing, and how they are installed."""

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from crabhook.cli import commands, main
from tests.support.examples import share

ROOT = Path(__file__).parents[3]
GONE = ModuleNotFoundError("No module named 'grpc.aio'", name="grpc.aio")

WITHOUT = """
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Nothing())
"""
"""Goes before a program that is to run as if these packages were not installed."""

EVERY = {
    *("grpc", "grpc_health", "google", "aiohttp", "prometheus_client", "prompt_toolkit"),
    *("pygments", "tree_sitter", "tree_sitter_bash", "pathspec", "jsonschema"),
}


COMMAND = "from crabhook.cli import main; sys.exit(main(sys.argv[1:]))"
SDK = """
from crabhook.sdk import PreToolUse, on, respond
@on(PreToolUse)
def no(event):
    return event.deny("no")
print(respond({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}, no).output)
"""


def run(*words: str, home: Path, program: str = COMMAND) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(packages=EVERY) + program, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
    )


def with_a_rule(home: Path) -> None:
    """Write a rule whose pattern a package reads that the hook alone does not have."""
    file = home / ".config" / "crabhook" / "rules.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[[rule]]\nmatch = "Read(**/.env)"\nverdict = "deny"\n', encoding="utf-8")


@pytest.mark.process
def test_what_sets_a_hook_up_needs_no_other_package(tmp_path: Path) -> None:
    done = run(home=tmp_path, program=SDK)
    assert "'permissionDecision': 'deny'" in done.stdout, done.stderr
    for words in (
        ("install", "claude", "--gate"),
        ("uninstall", "claude"),
        ("--version",),
        ("supervisor-hook", "--help"),
        ("supervisor-review", "--help"),
    ):
        done = run(*words, home=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), words


@pytest.mark.process
def test_the_doctor_looks_at_a_machine_with_the_hook_alone(tmp_path: Path) -> None:
    with_a_rule(tmp_path)
    done = run("doctor", "claude", "--quick", "--json", home=tmp_path)
    findings = {one["id"]: one for one in json.loads(done.stdout)["findings"]}
    assert findings["hook.installed"]["mend"].endswith("crabhook install claude")
    rules = findings["rules.own"]
    assert (rules["status"], rules["what"].split(" (")[0]) == (
        "ok",
        "not looked at: the hook alone is installed here",
    )
    assert "record.whole" in findings


@pytest.mark.process
@pytest.mark.parametrize("command", share(["serve", "demo", "rules", "lint", "orders"], 0))
def test_a_command_that_needs_more_says_so_and_how_it_is_had(command: str, tmp_path: Path) -> None:
    with_a_rule(tmp_path)
    done = run(command, home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    said, how = done.stderr.splitlines()
    assert said.startswith(f"crabhook {command} needs ")
    assert "crabhook[serve]" in how


def test_a_module_of_our_own_that_is_missing_is_a_fault_and_no_advice() -> None:
    assert commands.explained("serve", ModuleNotFoundError("x", name="crabhook.gone")) is None
    assert commands.explained("serve", ModuleNotFoundError("x")) is None


def test_a_page_without_the_package_of_passkeys_says_how_it_is_had(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands.need_passkeys()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    for command, *more in (("serve",), ("up",), ("team", "invite", "ann")):
        assert main([command, *more, "--web"]) == 2
        needs, how = capsys.readouterr().err.splitlines()
        assert needs.startswith(f"crabhook {command} --web needs fido2")
        assert "pip install 'crabhook[serve,web]" in how


def test_a_provider_without_the_package_of_its_tokens_says_how_it_is_had() -> None:
    words = commands.explained("team", ModuleNotFoundError("x", name="jwt"))
    assert words is not None
    assert words.startswith("crabhook team --oidc needs jwt")
    assert "crabhook[serve,oidc]" in words


@pytest.mark.parametrize(
    ("prefix", "begins"),
    [
        ("/home/me/.local/share/pipx/venvs/crabhook", "pipx install --force 'crabhook[serve]"),
        ("/home/me/.local/share/uv/tools/crabhook", "uv tool install --force 'crabhook[serve]"),
        ("/srv/venv", f"{sys.executable} -m pip install 'crabhook[serve]"),
    ],
)
def test_the_advice_fits_how_this_was_installed(
    monkeypatch: pytest.MonkeyPatch, prefix: str, begins: str
) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    said = commands.explained("serve", GONE)
    assert said
    assert (
        said.splitlines()[1]
        == f"Install the whole: {begins}{said.splitlines()[1].partition('[serve]')[2]}"
    )


@pytest.mark.parametrize("told", [None, json.dumps({"url": "file:///src/crabhook"}), "gone"])
def test_what_was_installed_from_a_folder_is_installed_from_there_again(
    monkeypatch: pytest.MonkeyPatch, told: str | None
) -> None:
    class Distribution:
        def read_text(self, _: str) -> str | None:
            return told

    def find(_: str) -> Distribution:
        if told == "gone":
            raise PackageNotFoundError
        return Distribution()

    monkeypatch.setattr("importlib.metadata.distribution", find)
    said = commands.explained("serve", GONE)
    assert said
    from_there = "crabhook[serve] @ file:///src/crabhook'" in said
    assert from_there == (told not in (None, "gone"))
