"""Anybody's hook scripts and configurations before the linter: read, judged, and never run."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from random import Random

from crabhook.lint.linting import lint
from crabhook.lint.rules import STANDARD, TODAY
from tests.fuzz.folder import own_folder
from tests.fuzz.mutation import plain, values, words
from tests.fuzz.target import Target

SAMPLES = Path(__file__).parents[2] / "samples" / "hooks"
NAMES = ("hook.py", "hook.sh", "settings.json", "config.toml")


def law(data: bytes) -> None:
    """Byte 0: what the file is called; the rest is in it."""
    path = own_folder() / NAMES[data[0] % len(NAMES) if data else 0]
    path.write_bytes(data[1:])
    lines = data.count(b"\n") + data.count(b"\r") + data.count(b"\f") + 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # which Python has of the script
            for profile in (TODAY, STANDARD):
                report = lint([path], profile)
                assert len(report.files) + len(report.unread) == 1
                for finding in report.findings:
                    assert 1 <= finding.place.line <= lines + 1, finding
                    assert finding.message
    finally:
        path.unlink()


_WORDS = {
    "hook.py": words.of(["import", "json", "sys", "print(", ")", "sys.exit(", "2", "0", "json.dumps(", "{", "}", "'", '"', '"""', ":", "\n", "    ", "\t", "def f():", "f()", "return", "if", "else", "try:", "except Exception:", "while True:", "lambda", "f'{", "time.sleep(", "*", "**", "(", "[", "]", "#", "\\", "permissionDecision", "allow", "\ufeff", "\0", "async", "await", "match x:", "case", "# crabhook: ignore[CH003] x"]),
    "hook.sh": words.of(["#!/bin/sh", "exit", "2", "echo", "'", '"', "{", "}", "$(", ")", "`", "cat <<EOF\n", "\nEOF\n", "if", "then", "fi", "case", "esac", "f() {", "jq -n", "|", "&&", ";", "\n", "\\", "read", "sleep 99", ">&2", "exec", "trap", "#", "permissionDecision", "\0", "\ud800"]),
    "config.toml": words.of(["[hooks]", "[[hooks.PreToolUse]]", "[[hooks.PreToolUse.hooks]]", "matcher = ", "command = ", "timeout = ", '"', "'", '"""', "[", "]", "{", "}", "\n", ".", "=", "9e99", "nan", "true", "1979-05-27", "#"]),
}  # fmt: skip
_TREE = values.of(
    timeout=(0, -1, 1e9, "x"), matcher=("(", "*", "a|b", "["), command=("./hook.py", "exit 0;", "")
)


def mutated(data: bytes, chance: Random) -> bytes:
    """Vary the file by what it is."""
    if not data or chance.random() < 0.1:
        return plain.mutated(data, chance)
    name = NAMES[data[0] % len(NAMES)]
    return data[:1] + _WORDS.get(name, _TREE)(data[1:], chance)


@cache
def seeds() -> tuple[bytes, ...]:
    """The linter's own cases."""
    kinds = {".py": 0, ".sh": 1, ".json": 2, ".toml": 3}
    paths = sorted(path for path in SAMPLES.rglob("*") if path.suffix in kinds)
    return tuple(bytes((kinds[path.suffix],)) + path.read_bytes() for path in paths)


TARGET = Target(law, mutated, seeds)
