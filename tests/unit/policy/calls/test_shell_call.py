"""The table of shell lines: a law beside it, a verdict for each, none of them made by the engine."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from crabhook.model.event import Event
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import RuleScope
from crabhook.policy.rulefile import read_rules
from tests.support.rows import every_row
from tests.unit.policy.law import (
    HOME,
    OPEN,
    PICTURES,
    allowing,
    bash,
    call,
    context,
    denying,
    policy,
    rule,
    verdict,
)

SAMPLES = Path(__file__).parents[3] / "samples" / "shell"


def _laws() -> dict[str, Policy]:
    laws = {
        path.stem: Policy([read_rules(path.read_text(), path.name)], Protected())
        for path in SAMPLES.glob("*.toml")
    }
    return laws | {"none": Policy([], Protected())}


def _table() -> dict[str, list[tuple[int, str, str, str]]]:
    """The rows by the heading above them."""
    found: dict[str, list[tuple[int, str, str, str]]] = defaultdict(list)
    heading = ""
    for number, row in enumerate((SAMPLES / "commands.tsv").read_text().split("\n"), 1):
        if row.startswith("# "):
            heading = row[2:]
        elif row:
            law, expected, command = row.split("\t")
            found[heading].append((number, law, expected, command.translate(PICTURES)))
    return found


TABLE, LAWS = _table(), _laws()


def test_the_table_is_as_long_as_it_is_said_to_be() -> None:
    rows = [row for rows in TABLE.values() for row in rows]
    assert len(rows) >= 1500
    assert len({(law, command) for _, law, _, command in rows}) == len(rows)


@pytest.mark.slow
@every_row("heading", TABLE)
def test_every_line_of_the_table_is_judged_as_it_says(heading: str) -> None:
    here, wrong = context(), []
    for number, law, expected, command in TABLE[heading]:
        ruling = LAWS[law].examine(bash(command), here)
        said = OPEN if ruling.verdict is None else str(ruling.verdict)
        if said != expected:
            wrong.append(f"{number}: {law}: {command!r} is {said}, not {expected}: {ruling.why}")
    assert not wrong, "\n".join(wrong)


def test_a_line_too_long_to_read_is_never_allowed() -> None:
    assert verdict(allowing("Bash"), bash("echo " + "a" * 8000)) == "allow"
    assert verdict(allowing("Bash"), bash("echo " + "a" * 9000)) == OPEN


def test_a_line_too_long_to_read_is_still_denied_by_its_text() -> None:
    assert verdict(denying("Bash(rm *)"), bash("echo " + "a" * 9000 + "; rm x")) == "deny"


def test_a_line_nested_too_deeply_is_never_allowed_and_still_denied() -> None:
    deep = "( " * 500 + "rm x" + " )" * 500
    assert verdict(allowing("Bash"), bash(deep.replace("rm", "ls"))) == OPEN
    assert verdict(denying("Bash(rm *)"), bash(deep)) == "deny"


def test_a_redirect_through_a_link_is_where_the_link_leads() -> None:
    law = allowing("Bash(ls *)", "Edit(./out/**)")
    assert verdict(law, bash("ls > out/x")) == "allow"
    assert verdict(law, bash("ls > out/x"), {"/work/app/out": "/etc"}) == OPEN
    assert verdict(law, bash("ls > out/x"), {"/work/app/out/x": "/etc/x"}) == OPEN


def test_a_link_does_not_hide_what_a_command_names() -> None:
    law = allowing("Bash")
    assert verdict(law, bash("cat notes/a")) == "allow"
    assert (
        verdict(law, bash("cat notes/a"), {"/work/app/notes": "/home/dev/.ssh"}) == "ask-operator"
    )


def test_no_command_at_all_needs_a_rule_for_the_whole_tool() -> None:
    assert verdict(allowing("Bash(ls *)"), bash("")) == OPEN
    assert verdict(allowing("Bash(ls *)"), bash("# nothing")) == OPEN
    assert verdict(allowing("Bash"), bash("# nothing")) == "allow"


def test_a_relative_working_directory_is_not_believed() -> None:
    assert (
        verdict(allowing("Bash(ls *)", "Edit(./out/**)"), bash("ls > out/x", cwd="..")) == "allow"
    )


@pytest.mark.parametrize(
    "line",
    ["cat < f", "n=$(( $(wc -l < f) + 1 ))", 'out=build; make > "$out/f"', "make 2>> build/err", "cat <> f", "make > /work/app/f"],
)  # fmt: skip
def test_a_bare_rule_covers_a_file_of_the_project_behind_a_redirect_as_it_does_in_a_word(
    line: str,
) -> None:
    law = allowing("Bash")
    assert verdict(law, bash("cat f")) == verdict(law, bash("tee f")) == "allow"
    assert verdict(law, bash(line)) == "allow"
    assert verdict(law, bash(line), {"/work/app/f": "/etc/f", "/work/app/build": "/etc"}) == OPEN
    assert verdict(law, bash(f"cd $x; {line}")) == OPEN or "/work/app" in line
    assert verdict(allowing("Bash(cat *)", "Bash(wc *)", "Bash(make *)"), bash(line)) == OPEN


@pytest.mark.parametrize("line", ["make > .env", "cat < .env", "make > .git/config", "cat < a.key"])
def test_what_is_denied_or_protected_is_so_behind_a_redirect_too(line: str) -> None:
    law = policy(rule("allow", "Bash"), rule("ask-operator", "Read(*.key)"))
    assert verdict(law, bash(line)) == "ask-operator"


def test_where_there_is_no_project_every_file_is_outside_and_a_denial_still_holds() -> None:
    home = replace(context(), project="")
    law = policy(
        rule("allow", "Bash(cat *)", "Bash(git *)", "Edit(/**)", "Bash(ls)", "Bash(make *)"),
        rule("deny", "Edit(/a)", scope=RuleScope(project=("~/",))),
    )

    def said(event: Event) -> str:
        ruling = law.judge(event, home)
        return OPEN if ruling is None else str(ruling.verdict)

    for cwd in (HOME, "/"):
        for line in ("cat a", "git status", "cat /srv/a", "make x > b"):
            assert said(bash(line, cwd)) == OPEN
        assert said(bash("ls", cwd)) == "allow"
        assert said(call("Write", cwd, file_path="b")) == OPEN
    assert said(call("Write", HOME, file_path="a")) == "deny"
