"""Servers that share a record judge by the same rules, whichever of them writes it."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.integration.test_shared_record import ALLOW, RULES, asks, cluster, crabhook, said, url
from tests.support.service import CRABHOOK, Service
from tests.support.typist import Typist, agree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.cluster import Cluster

__all__ = ["cluster", "url"]  # the fixtures

DENY = '[[rule]]\nverdict = "deny"\nmatch = "Bash(ls *)"\n'


def machine(url: str, rules: str, *, waits: bool = True) -> Service:
    """A machine with rules of its own, whose settings name the record."""
    service = Service("--headless", rules=rules, waits=waits)
    settings = service.folder / ".config" / "crabhook" / "settings.toml"
    settings.write_text(f"[record]\nstore = {json.dumps(url)}\n", encoding="utf-8")
    return service


def own(service: Service) -> Path:
    return service.folder / ".config" / "crabhook" / "rules.toml"


def denied(hook: subprocess.Popen[str]) -> bool:
    decision = said(hook)
    return isinstance(decision, dict) and decision["behavior"] == "deny"


@pytest.mark.thorough
def test_the_next_server_judges_by_the_rules_of_the_first_and_says_that_its_own_are_not_used(
    url: str,
) -> None:
    with machine(url, RULES) as first:
        assert said(asks(first, "ls -a")) == ALLOW
        assert first.end() == 0
    with machine(url, DENY) as second:
        assert any("rules.toml is not used" in line for line in second.said), second.said
        assert said(asks(second, "ls -b")) == ALLOW
        listed = crabhook(second, "rules", "list")
        assert listed.stdout.startswith("rules in the shared record:"), listed.stderr
        assert "Bash(ls *)" in listed.stdout
        explained = crabhook(second, "rules", "explain", "ls -l").stdout
        assert explained.startswith("By the rules in the shared record:")
        assert "verdict: allow" in explained
        assert "the document rules was begun by the server on" in second.audit("--all-kinds")
        assert "as they were written" in second.audit("verify")


@pytest.mark.thorough
def test_before_the_first_server_the_files_are_what_commands_look_at(url: str) -> None:
    service = machine(url, RULES)  # it does not run yet
    assert crabhook(service, "rules", "add", "deny", "Bash(rm *)").returncode == 0
    assert "Bash(rm *)" in own(service).read_text()
    assert crabhook(service, "rules", "push").returncode == 1
    with service:
        listed = crabhook(service, "rules", "list").stdout
        assert listed.startswith("rules in the shared record:")
        assert "Bash(rm *)" in listed


@pytest.mark.thorough
def test_rules_are_pushed_after_a_look_at_the_difference_and_count_at_once(url: str) -> None:
    with machine(url, RULES) as service:
        own(service).write_text(DENY)
        assert said(asks(service, "ls -a")) == ALLOW
        alone = crabhook(service, "rules", "push", "--yes")
        assert alone.returncode == 1
        assert "no team is here" in alone.stderr
        with Typist([CRABHOOK, "rules", "push"], service.environment) as typist:
            typist.answer("for all its servers? [y/N] ", "n\n")
            assert typist.finish()[0] == 1
        assert said(asks(service, "ls -b", 2)) == ALLOW
        with Typist([CRABHOOK, "rules", "push"], service.environment) as typist:
            typist.answer("for all its servers? [y/N] ", "y\n")
            code, out, wrong = typist.finish()
        assert (code, wrong) == (0, "")
        assert '-verdict = "allow"' in out
        assert '+verdict = "deny"' in out
        assert "rules in the shared record is of version 2 now" in out
        assert denied(asks(service, "ls -c", 3))
        assert "there is nothing to do" in crabhook(service, "rules", "push").stdout
        add = [CRABHOOK, "rules", "add", "allow", "Bash(make *)"]
        code, out, shown = agree(add, service.environment)
        assert code == 0, shown
        assert out.startswith("Added to rules in the shared record")
        own(service).write_text("")
        assert crabhook(service, "rules", "pull", "--yes").returncode == 1
        assert own(service).read_text() == ""
        assert agree([CRABHOOK, "rules", "pull"], service.environment)[0] == 0
        assert own(service).read_text().startswith(DENY)
        assert "Bash(make *)" in own(service).read_text()
        assert "as they were written" in service.audit("verify")
        assert "the document rules was changed by" in service.audit()
        assert service.audit("replay").startswith("By the rules in the shared record:")


@pytest.mark.thorough
def test_rules_that_changed_meanwhile_and_rules_nobody_can_read_are_not_pushed(
    cluster: Cluster, url: str
) -> None:
    with machine(url, RULES) as service:
        own(service).write_text("nonsense")
        with Typist([CRABHOOK, "rules", "push"], service.environment) as typist:
            typist.answer("[y/N] ", "y\n")
            code, _, wrong = typist.finish()
        assert code == 1
        assert "line 1" in wrong
        own(service).write_text(DENY)
        with Typist([CRABHOOK, "rules", "push"], service.environment) as typist:
            typist.answer("[y/N] ", "")
            assert crabhook(service, "rules", "add", "deny", "Bash(make *)").returncode == 0
            typist.type(b"y\n")
            code, _, wrong = typist.finish()
        assert code == 1
        assert "is of version 2 by now" in wrong
        assert cluster.sql("SELECT 1 FROM crabhook.proposal") == []
        assert service.end() == 0
        assert crabhook(service, "rules", "list").returncode == 0


@pytest.mark.thorough
def test_rules_changed_in_the_database_by_hand_are_not_used(cluster: Cluster, url: str) -> None:
    with machine(url, DENY) as service:
        assert denied(asks(service, "ls -a"))
        assert service.end() == 0
    cluster.sql("UPDATE crabhook.document SET text = replace(text, 'deny', 'allow')")
    with machine(url, DENY, waits=False) as service:
        assert service.process.wait(60) == 2
        assert any("is not what was written here" in line for line in service.said)
        assert crabhook(service, "log", "verify").returncode == 1
