"""What a script's facts have in common with a registered command's."""

import shlex
from pathlib import Path

import pytest

from crabhook.lint.configuration.command import own_wait
from crabhook.lint.configuration.read import Handler, read_json
from crabhook.lint.script import waited
from crabhook.lint.shell import read_shell


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("sleep 5", 5),
        ("timeout -k 3 2m ./hook", 120),
        ("timeout --signal KILL 90 ./hook", 90),
        ("/usr/bin/timeout --kill-after=3 1h ./hook", 3600),
        ("curl -s -m 7 https://example.com", 7),
        ("curl --max-time=8 https://example.com", 8),
        ("curl https://example.com", None),
        ("grep sleep", None),
    ],
)
def test_a_wait_is_read_alike_in_a_script_and_in_a_registered_command(
    line: str, seconds: float | None
) -> None:
    program, *words = shlex.split(line)
    found = waited(program, words)
    assert (found[0] if found else None) == seconds
    script = read_shell(f"#!/bin/sh\n{line}\n").longest_wait()
    assert (script.seconds if script else None) == seconds
    item = read_json(f'{{"type": "command", "command": "{line}"}}')
    registered = own_wait(Handler("PreToolUse", None, item))
    if Path(program).name != "grep":  # of a registered command any word may be the waiter
        assert (registered[0] if registered else None) == seconds
