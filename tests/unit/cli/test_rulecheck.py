"""What the rules make of a call."""

from pathlib import Path

import pytest

from crabhook.cli.rules import event_of, explained, verdict_of
from crabhook.rulebook.context import context_here
from tests.unit.policy.law import allowing, denying


@pytest.mark.parametrize(
    ("tool", "key"),
    [
        ("Bash", "command"),
        ("Read", "file_path"),
        ("Write", "file_path"),
        ("NotebookEdit", "notebook_path"),
        ("Grep", "path"),
        ("WebFetch", "url"),
        ("Agent", "subagent_type"),
        ("Skill", "skill"),
        ("apply_patch", "command"),
    ],
)
def test_a_text_becomes_the_input_that_rules_look_at(tool: str, key: str, tmp_path: Path) -> None:
    event = event_of(tool, "x", tmp_path)
    assert event.tool is not None
    assert event.tool.input == {key: "x"}
    assert event.cwd == str(tmp_path)


def test_what_is_open_is_explained_too(tmp_path: Path) -> None:
    shown = explained(allowing("Bash(ls *)"), event_of("Bash", "ls; $x", tmp_path), tmp_path)
    assert "not to be allowed: what runs is only known when it runs" in shown
    assert shown.splitlines()[-2] == "verdict: open"


def test_a_verdict_is_told_as_tables_write_it(tmp_path: Path) -> None:
    event, here = event_of("Bash", "rm x", tmp_path), context_here(tmp_path)
    assert verdict_of(denying("Bash(rm *)").judge(event, here)) == "deny"
    assert verdict_of(allowing("Read").judge(event, here)) == "open"


def test_the_risk_of_a_call_is_told_before_the_verdict(tmp_path: Path) -> None:
    law = allowing("Bash(ls *)")
    shown = explained(law, event_of("Bash", "rm -rf /srv/x; frob", tmp_path), tmp_path)
    assert (
        "risk: danger\n  ▲▲ deletes /srv/x (OUTSIDE the project)\n   ? frob: not known here\n"
        in shown
    )
    shown = explained(law, event_of("Bash", "ls", tmp_path), tmp_path)
    assert "risk: none\n     no known risk\nverdict" in shown
