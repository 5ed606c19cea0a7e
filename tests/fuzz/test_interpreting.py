"""Beside a denial an interpreter runs a file that was there before, or a person is asked."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.running.cage import Cage
from tests.fuzz.running.interpreting import lines
from tests.fuzz.running.law import RuleFile, reads
from tests.support.examples import share

SEED, SOME = 29, 1_500
"""How many of the 110,000 lines the tests of a night try."""


RULES = RuleFile("code", (), ["zz *"], ("Read(//**)", "Edit(./**)"))
STARTING = (
    "python3 -c 'import os;os.system(\"z\"+\"z\")'", "perl -e 'system(\"z\".\"z\")'", "awk 'BEGIN{system(\"z\" \"z\")}'", "printf 'all:;z%s\\n' z | make -f -",
    "echo 'import os;os.system(\"z\"+\"z\")' | python3 /dev/stdin", "set -- '-cimport os;os.system(\"z\"+\"z\")'; python3 \"$@\"", "env python3 -c 'import os;os.system(\"z\"+\"z\")'",
    "printf 'import os;os.system(\"z\"+\"z\")' > m.py; python3 -m m", "printf 'all:;z%s\\n' z > Makefile; make", 'set -- -e "1e z""z" f; sed p "$@"',
)  # fmt: skip
USUAL = (
    "python3 x.py", "python3 x.py a -c b", "python3 -u -W ignore x.py", "timeout 5 python3 x.py > out/a.log", "env python3 x.py", "uv run python x.py", "perl x.pl", "bash x.sh", "sh -c 'python3 x.py'",
    "awk '{print $1}' f", "awk -f x.awk f", "sed -n 1,5p f", "make", "make -j4 all", "make -f other.mk", "make CC=gcc all", "python3 -m pytest -q", "node x.js", "npm test", "ls && python3 x.py | tail -5",
    "source x.sh && python3 x.py", "NODE_ENV=test node x.js", "cd out && python3 ../x.py", "git status && make test", "npm ci && npm test", 'python3 x.py "$1"', "node --test a.test.js",
)  # fmt: skip


def some() -> list[str]:
    every = sorted(set(lines()))
    return random.Random(SEED).sample(every, SOME)


@pytest.mark.process
def test_beside_a_denial_an_interpreter_starts_only_a_fixed_file_that_was_there_before(
    cage: Cage,
) -> None:
    tried = share(some(), 0)
    allowed = [line for line in tried if RULES.allows_line(line)]
    assert len(allowed) >= len(tried) // 50  # some name a file that is there, or start nothing
    broken = [
        (shell, line)
        for line in allowed
        for shell in cage.shells
        if reads(shell, line) and RULES.broken_by(shell, cage.run("code", shell, line))
    ]
    assert broken == []


@pytest.mark.process
@pytest.mark.parametrize("line", STARTING)
def test_what_is_refused_would_have_started_the_denied_program(cage: Cage, line: str) -> None:
    assert not RULES.allows_line(line)
    assert RULES.broken_by("bash", cage.run("code", "bash", line))


@pytest.mark.parametrize("line", USUAL)
def test_a_usual_line_of_an_interpreter_is_allowed_beside_a_denial(line: str) -> None:
    assert RULES.allows_line(line)
