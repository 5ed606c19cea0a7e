"""What is allowed is run: the law on new lines and on those that once broke it, and the cage's own."""

from __future__ import annotations

import os
import re
import socket
import time
from itertools import islice

import pytest

from tests.fuzz.running.cage import Cage
from tests.fuzz.running.evaluating import (
    SHAPES,
    Varied,
    here,
    pairs,
    places,
    setters,
    written,
)
from tests.fuzz.running.hunt import Hole, Hunt
from tests.fuzz.running.inside import ROOTS
from tests.fuzz.running.law import RULES, RuleFile
from tests.fuzz.running.making import Maker, grammar, kinds, known, pictured, plain
from tests.support.examples import part, share

SEED, LINES, VARIED = 73, 800, 2000
"""The lines that the tests of a night try; `.ci/night` has five minutes of others beside them."""
BOMB = "f() { f & f; }; f"


class Everything(RuleFile):
    """Rules that allow what they do not say: so a hole is sure to be there."""

    def allows_line(self, line: str) -> bool:
        return bool(line)


@pytest.mark.process
def test_no_line_that_once_broke_the_law_breaks_it(cage: Cage) -> None:
    told: list[Hole] = []
    assert Hunt(cage, told.append).lines(known()).judged >= len(kinds())
    assert not told, "\n".join(map(str, told))


@pytest.mark.process
def test_what_rules_allow_of_new_lines_runs_nothing_else(cage: Cage) -> None:
    told: list[Hole] = []
    hunt = Hunt(cage, told.append, most_told=3)
    hunt.thorough = False
    assert hunt.lines(islice(Maker(SEED).lines(), part(LINES))).run
    assert not told, "\n".join(map(str, told))


@pytest.mark.process
def test_no_way_to_set_a_variable_and_no_place_that_evaluates_it_make_a_hole(cage: Cage) -> None:
    """Each way in some places and each place after some ways; `--pairs` tries every pair."""
    told: list[Hole] = []
    hunt = Hunt(cage, told.append, most_told=3)
    hunt.thorough, hunt.only_read = False, True
    count = max(len(setters()), len(places()))
    for run in ("zz", "z${q}z"):
        every = list(pairs(run))
        hunt.lines(every[(at * len(places()) + at) % len(every)] for at in range(count))
    assert hunt.lines(islice(Varied(SEED).lines(), part(VARIED))).judged > 2 * count
    assert not told, "\n".join(map(str, told))


@pytest.mark.process
def test_each_way_to_set_and_each_place_that_evaluates_is_seen_to_run_a_text(cage: Cage) -> None:
    """So that no row of the tables is a dead letter, which would try nothing."""
    rows = [(row, ["echo $((x))", "echo $((x[0]))"], SHAPES[:1]) for row in share(setters(), 0)]
    rows += [("x=⟨v⟩; ⟨e⟩", [row], SHAPES[:5]) for row in share(here(), 0)]
    dead = [
        (setter, inner)
        for setter, inner, shapes in rows
        if not any(
            name == "zz"
            for root in ("narrow", "open")
            for shape in shapes
            for place in inner
            for shell in cage.shells
            for name, *_ in cage.run(root, shell, written(setter, place, shape.format("zz")))
        )
    ]
    if cage.missing:
        return
    assert not dead


@pytest.mark.process
@pytest.mark.parametrize("kind", share(kinds(), 0))
def test_a_line_of_each_kind_is_seen_to_run_what_it_should_not(cage: Cage, kind: str) -> None:
    line = grammar()[kind][0]
    against = [one.broken_by("bash", cage.run(one.root(line), "bash", line)) for one in RULES]
    assert any(against), line


@pytest.mark.process
def test_a_hole_is_found_and_made_as_short_as_it_can_be(cage: Cage) -> None:
    told: list[Hole] = []
    rules = Everything("everything", ["echo *"])
    tally = Hunt(cage, told.append, [rules]).lines(["echo a", 'echo "a b"; ls | echo `ls c`'])
    assert tally.broken == len(told) == 1
    assert told[0].line == "ls"
    assert told[0].ran == ("'ls'",)


@pytest.mark.process
def test_a_program_is_covered_only_under_its_own_name_and_place(cage: Cage) -> None:
    rules = Everything("everything", ["ls *", "git status *"])
    for line in ("ls a", "git status -s", "timeout 5 ls", "ls > out/a", "/usr/bin/ls"):
        assert not rules.broken_by("bash", cage.run("narrow", "bash", line)), line
    for line in (
        "git log",
        "./ls",
        "PATH=.; ls",
        "ls > a",
        "LD_PRELOAD=./x.so ls",
        "timeout 5 cat",
    ):
        assert rules.broken_by("bash", cage.run("narrow", "bash", line)), line


@pytest.mark.process
def test_a_line_reaches_no_file_and_no_port_of_this_machine(cage: Cage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for root in ("narrow", "open", "git"):
            assert cage.run(root, "bash", f"[ -e {__file__} ] && zz") == ()
            assert cage.run(root, "bash", f"(: > /dev/tcp/127.0.0.1/{port}) && zz") == ()
            assert cage.run(root, "bash", "(: > /usr/lib/made) && zz; (: > /bin/zz) && zz") == ()
            assert cage.run(root, "bash", f"kill -0 {os.getpid()} && zz") == ()


@pytest.mark.process
def test_a_line_is_no_root_and_changes_neither_the_programs_nor_the_cage(cage: Cage) -> None:
    for root in ROOTS:
        assert cage.run(root, "bash", "[ $UID = 0 ] && zz") == ()
        for change in ("> /bin/zz", "> /bin/new", "> /.cage/real/new", "> /work/new", "> /new"):
            assert cage.run(root, "bash", f"(: {change}) && zz") == (), change
        cage.run(root, "bash", "for of in INT TERM HUP USR1 KILL; do kill -$of 1; done")
        assert [name for name, *_ in cage.run(root, "bash", "zz")] == ["zz"]


@pytest.mark.process
def test_the_processes_of_one_cage_take_none_from_another(cage: Cage) -> None:
    with Cage() as other:
        other.send("narrow", "bash", BOMB)
        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            assert [name for name, *_ in cage.run("narrow", "bash", "(zz); :")] == ["zz"]
        assert other.receive() == ()


@pytest.mark.process
@pytest.mark.parametrize(
    "line",
    share(
        [
            "while :; do :; done",
            BOMB,
            "sh -c 'while :; do :; done' &",
            "echo <(while :; do :; done)",
            "x=a; while :; do x=$x$x; done",
            "while :; do echo a; done > out/a",
            "trap '' TERM INT HUP; read < /dev/zero",
        ],
        0,
    ),
)
def test_a_line_has_its_time_and_leaves_nothing_behind(cage: Cage, line: str) -> None:
    began = time.monotonic()
    cage.run("narrow", "bash", line)
    assert time.monotonic() - began < 20
    assert [name for name, *_ in cage.run("narrow", "bash", "zz; echo out/*")] == ["zz"]
    assert cage.run("narrow", "bash", "[ -e out/a ] && zz") == ()


@pytest.mark.process
def test_what_a_line_changes_is_seen_and_gone_before_the_next(cage: Cage) -> None:
    wrote = cage.run("narrow", "bash", "echo a > made; echo b >> f")
    assert [(name, path) for name, path, *_ in wrote] == [
        (">", "/work/app/f"),
        (">", "/work/app/made"),
    ]
    assert cage.run("narrow", "bash", "[ -e made ] && zz; read x < f; [ $x = one ] || zz") == ()


def test_the_same_seed_makes_the_same_lines_and_another_one_others() -> None:
    first, again, other = (list(islice(Maker(seed).lines(), 200)) for seed in (1, 1, 2))
    assert first == again
    assert len(set(first) & set(other)) < 100


def test_what_the_grammar_names_is_there_and_every_kind_has_lines_of_its_own() -> None:
    named = {
        name for rows in grammar().values() for row in rows for name in re.findall("⟨(.+?)⟩", row)
    }
    assert named <= set(grammar())
    assert all("⟨" not in grammar()[kind][0] for kind in kinds())


def test_a_line_is_read_back_from_its_row() -> None:
    for line in ("a", " a\n\tb\r ", "cat <<E\n \nE ", "\n"):
        assert plain(pictured(line)) == line
        assert "\n" not in pictured(line)
