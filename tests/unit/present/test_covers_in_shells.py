"""Shells judge the covers: what a shell runs was never covered, however a line is put together."""

from __future__ import annotations

import random
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from crabhook.present.cover import masked

if TYPE_CHECKING:
    from pathlib import Path

LINES = 1500
HIDDEN = "probe"
PIECES = [
    *('TOKEN="x probe 7"', "TOKEN='x probe 7'", "TOKEN=probe", 'TOKEN= "probe" 7', "TOKEN= probe"),
    *('-u "a:x probe 7"', "-u 'a:b; probe 7'", '-p"x probe 7"', "--password 'x probe 7'"),
    *("curl", "export", "env", "eval", "nohup", "local", "sh -c", "bash -c", "ssh host", "declare"),
    *("A=1", "A=", "A='it", 'A="', "B=$A", '"$A"', "$A", "$TOKEN", "$_", "${TOKEN}", "x", "-c"),
    *(";", "&&", "|", "||", "\n", "&", "(", ")", "{", "}", "!", "<<E\n", "\nE\n", "# it's", "\\\n"),
    *("'", '"', "`", "\\", "$'", "\\'", '\\"', "#", "=", ">", ">|", "2>&1", "<", ">x", "$(", "''"),
    *("function curl", "curl()", "{ $2; }", "alias curl=eval", "trap eval DEBUG", "| sh", "<<<"),
]
STANDS_FOR = {
    "curl": "exit 0",
    "ssh": 'shift; exec sh -c "$*"',
    "nohup": 'exec "$@"',
    HIDDEN: f'echo x >> "{{here}}/{HIDDEN}.ran"',
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the only programs there are: real shells, `env`, and stand-ins."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("sh", "bash", "env"):
        (folder / name).symlink_to(shutil.which(name) or "/bin/sh")
    for name, does in STANDS_FOR.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\n{does.format(here=folder)}\n")
        program.chmod(0o700)
    return folder


def lines(seed: int) -> list[str]:
    """Lines made of pieces at random, with and without blanks between them."""
    chance = random.Random(seed)
    return [
        "".join(
            chance.choice(PIECES) + chance.choice(("", " ", " ", " "))
            for _ in range(chance.randint(2, 7))
        )
        for _ in range(LINES)
    ]


@pytest.mark.process
@pytest.mark.parametrize("seed", range(4))
def test_what_a_shell_runs_was_not_covered(programs: Path, seed: int, tmp_path: Path) -> None:
    ran, covered = programs / f"{HIDDEN}.ran", 0
    for line in lines(seed):
        if HIDDEN not in line or masked(line).count(HIDDEN) == line.count(HIDDEN):
            continue  # nothing of it is covered
        covered += 1
        ran.unlink(missing_ok=True)
        subprocess.run(
            ["bash", "-c", line],
            cwd=tmp_path,
            env={"PATH": str(programs)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
        if ran.exists():
            assert HIDDEN in masked(line), line
    assert covered > LINES / 50
