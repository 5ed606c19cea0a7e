"""The rule files in force: read when they change, kept when they break."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from crabhook.model.event import Event, ToolCall
from crabhook.policy.engine import Policy
from crabhook.rulebook.files import RuleFiles
from crabhook.server import law as module
from crabhook.server.law import Law

if TYPE_CHECKING:
    from pathlib import Path

ALLOW = '[[rule]]\nverdict = "allow"\nmatch = "Bash(ls)"\n'
DENY = ALLOW.replace("allow", "deny")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_AGAIN", 0.0)


def event(cwd: Path, command: str = "ls") -> Event:
    return Event("claude", "PreToolUse", cwd=str(cwd), tool=ToolCall("Bash", {"command": command}))


def said(law: Law, about: Event) -> str | None:
    ruling = law.judge(about)
    return ruling.verdict.value if ruling and ruling.verdict else None


def write(path: Path, text: str) -> None:
    """Write a file so that its change can be seen however coarse the clock is."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_no_file_is_no_law(tmp_path: Path) -> None:
    assert said(Law(RuleFiles(tmp_path)), event(tmp_path)) is None


def test_a_file_counts_from_its_next_change_on(tmp_path: Path) -> None:
    files = RuleFiles(tmp_path)
    law = Law(files)
    for text, expected in ((ALLOW, "allow"), (DENY, "deny"), ("", None)):
        write(files.user, text)
        assert said(law, event(tmp_path)) == expected


def test_a_broken_file_keeps_the_rules_before_it_and_says_where_it_broke(tmp_path: Path) -> None:
    files, told = RuleFiles(tmp_path), list[str]()
    law = Law(files)
    law.changed = told.append
    write(files.user, DENY)
    assert said(law, event(tmp_path)) == "deny"
    write(files.user, "\nverdict =")
    assert said(law, event(tmp_path)) == "deny"
    assert "line 2" in law.trouble
    assert told == [law.trouble]
    write(files.user, ALLOW)
    assert said(law, event(tmp_path)) == "allow"
    assert law.trouble == ""
    assert len(told) == 2


def test_a_file_that_is_broken_from_the_start_leaves_all_to_the_operator(tmp_path: Path) -> None:
    files = RuleFiles(tmp_path)
    write(files.user, "nonsense")
    law = Law(files)
    assert said(law, event(tmp_path)) is None
    assert said(law, event(tmp_path, f"rm {files.user}")) == "ask-operator"  # no order passes it


def test_a_fault_in_judging_is_a_question_that_no_order_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(Policy, "judge", fail)
    assert said(Law(RuleFiles(tmp_path)), event(tmp_path)) == "ask-operator"


def test_a_projects_own_file_counts_for_nothing_until_it_is_trusted(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".crabhook").mkdir(parents=True)
    write(project / ".crabhook" / "rules.toml", DENY)
    assert said(Law(RuleFiles(tmp_path)), event(project)) is None


def test_an_event_without_a_tool_is_not_judged(tmp_path: Path) -> None:
    write(RuleFiles(tmp_path).user, DENY)
    assert Law(RuleFiles(tmp_path)).judge(Event("claude", "Stop", cwd="/")) is None


def test_a_change_of_our_own_counts_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_AGAIN", 3600.0)
    files = RuleFiles(tmp_path)
    law = Law(files)
    write(files.user, ALLOW)
    assert said(law, event(tmp_path)) == "allow"
    write(files.user, DENY)
    assert said(law, event(tmp_path)) == "allow"
    law.look_again()
    assert said(law, event(tmp_path)) == "deny"


async def test_a_ruling_made_ahead_is_the_one_given_and_only_once(tmp_path: Path) -> None:
    files = RuleFiles(tmp_path)
    write(files.user, DENY)
    law, asked = Law(files), event(tmp_path)
    await law.study(asked)
    write(files.user, ALLOW)
    assert said(law, asked) == "deny"
    assert said(law, asked) == "allow"
    assert said(law, event(tmp_path)) == "allow"


async def test_what_was_studied_and_never_asked_about_is_forgotten(tmp_path: Path) -> None:
    law = Law(RuleFiles(tmp_path))
    for number in range(module.STUDIED_KEPT + 5):
        await law.study(event(tmp_path, f"ls {number}"))
    assert len(law._studied) == module.STUDIED_KEPT
    await law.study(Event("claude", "Stop", cwd="/"))
    assert len(law._studied) == module.STUDIED_KEPT
