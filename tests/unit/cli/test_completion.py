"""The completion of each shell knows what the parsers know."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from crabhook.cli import main
from crabhook.cli.commands import COMMANDS
from crabhook.cli.completion import PLACES, script

WANTED: dict[tuple[str, ...], set[str]] = {
    ("",): set(COMMANDS),
    ("ru",): {"rules"},
    ("rules", ""): {"push", "pull", "list", "add", "remove", "test", "explain", "suggest", "trust"},
    ("rules", "add", "d"): {"deny"},
    ("rules", "add", "--pro"): {"--project"},
    ("lint", "--format", ""): {"text", "json", "sarif"},
    ("lint", "guard.py", "--fail-on", "h"): {"high"},
    ("install", "claude", "--fail"): {"--fail-closed"},
    ("log", "ver"): {"verify"},
    ("log", "--sin"): {"--since"},
    ("team", "keys", ""): {"use", "trust", "distrust"},
    ("orders", "hold"): {"hold-all"},
    ("completion", ""): {"bash", "zsh", "fish"},
    ("install", "--token-file", "a-f"): {"a-file"},
    ("doctor", "--project", "z-"): {"z-folder"},
}
"""What stands after `crabhook`, and what must be offered in its place, of that which begins so."""

_BASH = """
source "$1"; shift
COMP_WORDS=(crabhook "$@"); COMP_CWORD=$#
_crabhook
printf '%s\\n' "${COMPREPLY[@]}"
"""
_ZSH = """
compdef() { }
source "$1"; shift
_describe() { for one in "${(@P)2}"; do print -r -- "${one%%:*}"; done }
_files() { if [[ $1 == -/ ]]; then print -rl -- *(/); else print -rl -- *(.); fi }
_message() { }
compadd() { shift; print -rl -- "$@" }
words=(crabhook "$@"); CURRENT=$#words
_crabhook
"""
_FISH = """
source $argv[1]
complete -C "crabhook $(string join ' ' -- $argv[2..])" | string replace -r '\\t.*' ''
true
"""
SHELLS = {
    "bash": ["bash", "--norc", "-c", _BASH, "bash"],
    "zsh": ["zsh", "-f", "-c", _ZSH, "zsh"],
    "fish": ["fish", "--no-config", "-c", _FISH],
}
PRESENT = [shell for shell in SHELLS if shutil.which(shell)]


@pytest.fixture(params=PRESENT)
def offered(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., set[str]]:
    """Ask a real shell what it would offer for the last word."""
    read = tmp_path / "script"
    read.write_text(script(request.param), encoding="utf-8")
    folder = tmp_path / "here"
    (folder / "z-folder").mkdir(parents=True)
    (folder / "a-file").touch()

    def ask(*words: str) -> set[str]:
        done = subprocess.run(
            [*SHELLS[request.param], str(read), *words],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"},
        )
        assert not done.stderr
        lines = (line.strip().rstrip("/") for line in done.stdout.splitlines())
        return {line for line in lines if line.startswith(words[-1]) and line}

    return ask


def test_bash_is_here_to_be_asked() -> None:
    assert "bash" in PRESENT


@pytest.mark.process
def test_a_shell_offers_what_the_parsers_take(offered: Callable[..., set[str]]) -> None:
    for words, wanted in WANTED.items():
        assert offered(*words) == wanted, words


@pytest.mark.process
def test_an_option_without_known_values_offers_nothing(offered: Callable[..., set[str]]) -> None:
    assert offered("rules", "add", "allow", "--note", "Z") == set()


@pytest.mark.parametrize("shell", PLACES)
def test_the_script_says_where_it_goes_and_holds_every_option(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert f"crabhook completion {shell} > {PLACES[shell]}" in text
    assert "%(" not in text
    for word in (*COMMANDS, "take-back-ms", "supervisor-review", "ask-operator"):
        assert word in text
