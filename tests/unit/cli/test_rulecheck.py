"""What the rules make of a call."""

from pathlib import Path

from crabhook.cli.rules import explained, verdict_of
from crabhook.rulebook.context import context_here
from crabhook.rulebook.typed_call import event_of
from tests.unit.policy.law import allowing, denying


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
