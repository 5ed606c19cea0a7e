"""The rule files in force: read when they change, kept when they break."""

from __future__ import annotations

import asyncio
import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crabhook.model.card import NO_RISK, UNTOLD
from crabhook.model.event import Event, ToolCall
from crabhook.policy.evaluate import Policy
from crabhook.policy.rule import Trust
from crabhook.rulebook.context import LOOK_AGAIN
from crabhook.rulebook.files import RuleFiles, Trusted, digest, write_text, write_trusted
from crabhook.server.core import rules_in_force as module
from crabhook.server.core.rules_in_force import RulesInForce

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.policy.rule import RuleSet

ALLOW = '[[rule]]\nverdict = "allow"\nmatch = "Bash(ls)"\n'
DENY = ALLOW.replace("allow", "deny")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_AGAIN", 0.0)


def event(cwd: Path, command: str = "ls") -> Event:
    return Event("claude", "PreToolUse", cwd=str(cwd), tool=ToolCall("Bash", {"command": command}))


async def said(law: RulesInForce, about: Event, *, long: bool = False) -> str | None:
    ruling = await law.judge(about, long=long)
    return ruling.verdict.value if ruling and ruling.verdict else None


def write(path: Path, text: str) -> None:
    """Write a file so that its change can be seen however coarse the clock is."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    whole = path.with_suffix(".new")  # put in place at once, so that none reads half of it
    whole.write_text(text, encoding="utf-8")
    os.utime(whole, ns=(before + 10**9, before + 10**9))
    whole.replace(path)


async def test_no_file_is_no_law(tmp_path: Path) -> None:
    assert await said(RulesInForce(RuleFiles(tmp_path)), event(tmp_path)) is None


async def test_a_file_counts_from_its_next_change_on(tmp_path: Path) -> None:
    files = RuleFiles(tmp_path)
    law = RulesInForce(files)
    for text, expected in ((ALLOW, "allow"), (DENY, "deny"), ("", None)):
        write(files.user, text)
        assert await said(law, event(tmp_path)) == expected


async def test_a_broken_file_keeps_the_rules_before_it_and_says_where_it_broke(
    tmp_path: Path,
) -> None:
    files, told = RuleFiles(tmp_path), list[str]()
    law = RulesInForce(files)
    law.listen(told.append, told.append)
    write(files.user, DENY)
    assert await said(law, event(tmp_path)) == "deny"
    write(files.user, "\nverdict =")
    assert await said(law, event(tmp_path)) == "deny"
    assert "line 2" in law.trouble
    assert told == [law.trouble]
    write(files.user, ALLOW)
    assert await said(law, event(tmp_path)) == "allow"
    assert law.trouble == ""
    assert len(told) == 2


async def test_a_file_that_is_broken_from_the_start_leaves_all_to_the_operator(
    tmp_path: Path,
) -> None:
    files = RuleFiles(tmp_path)
    write(files.user, "nonsense")
    law = RulesInForce(files)
    assert await said(law, event(tmp_path)) is None
    assert (
        await said(law, event(tmp_path, f"rm {files.user}")) == "ask-operator"
    )  # no order passes it


def test_a_file_that_is_broken_at_the_start_says_so_before_any_call_until_it_is_mended(
    tmp_path: Path,
) -> None:
    files, told = RuleFiles(tmp_path), list[str]()
    write(files.user, "nonsense")
    law = RulesInForce(files)
    law.listen(told.append, told.append)
    law.look()
    assert law.trouble.startswith(f"NO RULES ARE in force: {files.user}, line 1")
    assert told == [law.trouble]
    write(files.user, "nonsense\n" * 2)
    law.look()
    assert law.trouble.startswith("NO RULES ARE in force")  # none were ever read
    write(files.user, DENY)
    law.look()
    assert (law.trouble, told[-1]) == ("", "the rules are read again: 1 of yours are in force")


@pytest.mark.slow
async def test_a_changed_rule_file_is_announced_within_two_seconds_without_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_AGAIN", LOOK_AGAIN)
    files, told = RuleFiles(tmp_path / "mine"), asyncio.Queue[str]()
    theirs = trusted_project(files, tmp_path / "app")
    write(theirs, ALLOW)
    law = RulesInForce(files)
    law.listen(told.put_nowait, told.put_nowait)
    law.look()
    assert await said(law, event(tmp_path / "app")) is None
    watching = asyncio.ensure_future(law.watch())
    try:
        for path, text, news in (
            (files.user, DENY, "the rules have changed: 1 of yours are in force"),
            (files.user, "nonsense", "RULES NOT READ, the rules before stay in force"),
            (theirs, DENY, f"{theirs} has changed: 0 of its rules count"),
        ):
            write(path, text)
            async with asyncio.timeout(60):
                assert (await told.get()).startswith(news)
    finally:
        watching.cancel()
    assert told.empty()


async def test_a_change_of_our_own_is_told_by_who_made_it(tmp_path: Path) -> None:
    files, told = RuleFiles(tmp_path), list[str]()
    law = RulesInForce(files)
    law.listen(told.append, told.append)
    law.look()
    write(files.user, DENY)
    law.look_again()
    assert await said(law, event(tmp_path)) == "deny"
    write(files.user, ALLOW)
    law.look()
    assert told == ["the rules have changed: 1 of yours are in force"]


async def test_a_fault_in_judging_is_a_question_that_no_order_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(Policy, "judge", fail)
    assert await said(RulesInForce(RuleFiles(tmp_path)), event(tmp_path)) == "ask-operator"


async def test_a_projects_own_file_counts_for_nothing_until_it_is_trusted(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".crabhook").mkdir(parents=True)
    write(project / ".crabhook" / "rules.toml", DENY)
    assert await said(RulesInForce(RuleFiles(tmp_path)), event(project)) is None


async def test_an_event_without_a_tool_is_not_judged(tmp_path: Path) -> None:
    write(RuleFiles(tmp_path).user, DENY)
    assert await said(RulesInForce(RuleFiles(tmp_path)), Event("claude", "Stop", cwd="/")) is None


async def test_a_change_of_our_own_counts_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_AGAIN", 3600.0)
    files = RuleFiles(tmp_path)
    law = RulesInForce(files)
    write(files.user, ALLOW)
    assert await said(law, event(tmp_path)) == "allow"
    write(files.user, DENY)
    assert await said(law, event(tmp_path)) == "allow"
    law.look_again()
    assert await said(law, event(tmp_path)) == "deny"


async def test_an_edition_of_the_rules_lasts_until_one_of_them_may_have_changed(
    tmp_path: Path,
) -> None:
    files = RuleFiles(tmp_path / "own")
    (tmp_path / "own").mkdir()
    file = trusted_project(files, tmp_path / "project")
    law, about, elsewhere = RulesInForce(files), event(tmp_path / "project"), event(tmp_path)
    assert law.edition(about) != law.edition(about), "nothing was looked at"
    await said(law, about)
    editions = [law.edition(about)]
    await said(law, elsewhere)
    assert law.edition(about) == editions[0], "another project is no change"
    write(files.user, DENY)
    await said(law, elsewhere)
    editions.append(law.edition(about))
    law.look_again()
    editions.append(law.edition(about))
    write(file, ALLOW)
    await said(law, about)
    editions.append(law.edition(about))
    assert len(set(editions)) == 4
    assert law.edition(about) == editions[-1]


@pytest.mark.parametrize("long", [True, False])
async def test_what_is_judged_in_a_thread_is_judged_as_on_the_loop(
    tmp_path: Path, long: bool
) -> None:
    files = RuleFiles(tmp_path)
    write(files.user, DENY)
    law, asked = RulesInForce(files), event(tmp_path)
    assert await said(law, asked, long=long) == "deny"
    write(files.user, ALLOW)
    assert await said(law, asked, long=long) == "allow"


def trusted_project(files: RuleFiles, project: Path) -> Path:
    """Make a project whose rule file was trusted, as it was before; return the file's path."""
    (project / ".crabhook").mkdir(parents=True)
    write_text(files.trusted, write_trusted([Trusted(str(project), digest(ALLOW.encode()))]))
    return project / ".crabhook" / "rules.toml"


async def test_a_projects_file_that_cannot_be_read_leaves_the_owners_rules_in_force(
    tmp_path: Path,
) -> None:
    files, told = RuleFiles(tmp_path / "mine"), list[str]()
    os.mkfifo(trusted_project(files, tmp_path / "app"))
    write(files.user, DENY)
    law = RulesInForce(files)
    law.listen(told.append, told.append)
    asked = event(tmp_path / "app")
    async with asyncio.timeout(60):  # a pipe that is waited on waits for ever
        await law.judge(asked, long=False)
    assert await said(law, asked) == "deny"
    assert await said(law, event(tmp_path / "app")) == "deny"
    assert ["not a regular file" in one for one in told] == [True]
    assert law.trouble == ""


async def test_a_broken_file_keeps_the_rules_before_it_for_a_project_met_later(
    tmp_path: Path,
) -> None:
    files = RuleFiles(tmp_path)
    law = RulesInForce(files)
    write(files.user, DENY)
    assert await said(law, event(tmp_path)) == "deny"
    write(files.user, "nonsense")
    assert await said(law, event(tmp_path / "another")) == "deny"


async def test_the_files_are_looked_at_beside_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, release = RuleFiles(tmp_path), threading.Event()
    write(files.user, DENY)
    law, read = RulesInForce(files), RuleFiles.user_rules

    def slowly(self: RuleFiles) -> RuleSet:
        release.wait(60)
        return read(self)

    monkeypatch.setattr(RuleFiles, "user_rules", slowly)
    asked = [event(tmp_path) for _ in range(3)]
    studies = [asyncio.ensure_future(law.judge(one, long=False)) for one in asked]
    await asyncio.sleep(0.05)  # the loop runs meanwhile
    studies[0].cancel()  # whoever leaves takes the look from nobody
    release.set()
    async with asyncio.timeout(60):
        await asyncio.gather(*studies[1:])
    assert [await said(law, one) for one in asked[1:]] == ["deny", "deny"]
    assert law._looking == {}


async def test_who_asks_after_a_change_of_our_own_waits_for_a_new_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, begun, release = RuleFiles(tmp_path), threading.Event(), threading.Event()
    write(files.user, ALLOW)
    law, read = RulesInForce(files), RuleFiles.user_rules

    def slowly(self: RuleFiles) -> RuleSet:
        found = read(self)
        begun.set()
        release.wait(60)
        return found

    monkeypatch.setattr(RuleFiles, "user_rules", slowly)
    before, after = event(tmp_path), event(tmp_path)
    first = asyncio.ensure_future(law.judge(before, long=False))
    await asyncio.to_thread(begun.wait, 10)
    write(files.user, DENY)
    law.look_again()
    second = asyncio.ensure_future(law.judge(after, long=False))
    await asyncio.sleep(0)
    release.set()
    await asyncio.gather(first, second)
    assert await said(law, after) == "deny"


async def test_a_folder_with_a_name_past_all_bounds_costs_nothing(tmp_path: Path) -> None:
    files = RuleFiles(tmp_path)
    write(files.user, DENY)
    law, asked = RulesInForce(files), replace(event(tmp_path), cwd="/x" * 1_000_000)
    await law.judge(asked, long=False)
    assert await said(law, asked) == "deny"
    assert list(law._by_folder) == ["/"]


async def test_a_folder_is_looked_into_ahead_and_never_where_others_wait(tmp_path: Path) -> None:
    files, project = RuleFiles(tmp_path / "rules"), tmp_path / "project"
    files.folder.mkdir()
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").touch()
    write(files.user, '[[rule]]\nverdict = "allow"\nmatch = "Read(./**)"\n')
    law = RulesInForce(files)
    grep = Event("claude", "PreToolUse", cwd=str(project), tool=ToolCall("Grep", {"pattern": "x"}))
    assert await said(law, grep) == "ask-operator"  # nobody has looked
    assert await said(law, grep, long=True) == "allow"
    (project / ".env").touch()
    assert await said(law, grep) == "allow"  # by what was seen a moment ago
    other = RulesInForce(files)
    assert await said(other, grep, long=True) == "ask-operator"


async def test_the_risk_of_a_search_is_told_by_a_look_that_is_never_taken_where_others_wait(
    tmp_path: Path,
) -> None:
    files, project = RuleFiles(tmp_path / "rules"), tmp_path / "project"
    project.mkdir()
    (project / ".env").touch()
    grep = event(project, "grep -r token .")
    law = RulesInForce(files)
    await law.judge(grep, long=False)
    await law.risk(grep, long=True)  # the first reads the table, and looks as well
    law._looks._known.clear()
    seen = [
        [one.kind for one in (await law.risk(grep, long=long)).effects]
        for long in (False, True, False)
    ]
    assert seen == [["unlooked"], ["reads-secrets"], ["reads-secrets"]]


async def test_a_search_by_an_agent_on_another_machine_is_asked_about(tmp_path: Path) -> None:
    files = RuleFiles(tmp_path)
    write(files.user, '[[rule]]\nverdict = "allow"\nmatch = "Read(//**)"\n')
    law = RulesInForce(files)
    grep = Event(
        "claude", "PreToolUse", cwd="/nowhere/app", tool=ToolCall("Grep", {"pattern": "x"})
    )
    assert await said(law, grep, long=True) == "ask-operator"


@pytest.mark.parametrize("long", [True, False])
async def test_a_folder_of_the_same_name_here_says_nothing_of_another_machines(
    tmp_path: Path, *, long: bool
) -> None:
    files, project = RuleFiles(tmp_path / "rules"), tmp_path / "project"
    project.mkdir()
    files.folder.mkdir()
    write(files.user, '[[rule]]\nverdict = "allow"\nmatch = "Read(./**)"\n')
    law = RulesInForce(files)
    grep = Event("claude", "PreToolUse", cwd=str(project), tool=ToolCall("Grep", {"pattern": "x"}))
    assert await said(law, grep, long=True) == "allow"
    assert await said(law, grep, long=long) == "allow"
    assert await said(law, replace(grep, machine="build1"), long=long) == "ask-operator"
    searches = replace(event(project, "grep -r token ."), machine="build1")
    assert [one.kind for one in (await law.risk(searches, long=True)).effects] == ["unlooked"]


@pytest.mark.parametrize("cwd", ["/" + "x" * 300, "/a\0b", "/\ud800", "relative", ""])
async def test_the_owners_rules_hold_in_a_folder_that_cannot_be_looked_at(
    tmp_path: Path, cwd: str
) -> None:
    files = RuleFiles(tmp_path)
    write(files.user, DENY)
    law, asked = RulesInForce(files), replace(event(tmp_path), cwd=cwd)
    await law.judge(asked, long=False)
    assert await said(law, asked) == "deny"


@pytest.mark.parametrize("letter", ["\0", "\udcff"])
@pytest.mark.parametrize(
    "command", ["pwd a{}", "pwd; cd '{}/b'; pwd", "pwd > {}", "pwd; rg x '{}'"]
)
async def test_no_name_in_a_command_makes_a_denied_call_a_question(
    tmp_path: Path, letter: str, command: str
) -> None:
    files = RuleFiles(tmp_path)
    write(files.user, '[[rule]]\nverdict = "deny"\nmatch = "Bash(pwd *)"\n')
    law, asked = RulesInForce(files), event(tmp_path, command.format(letter))
    assert await said(law, asked) == "deny"
    assert await law.risk(asked, long=True) != UNTOLD


async def test_a_file_system_that_hangs_keeps_nobody_waiting_and_the_owners_rules_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, release, look = RuleFiles(tmp_path), threading.Event(), module.project_of
    write(files.user, DENY)
    law = RulesInForce(files)
    law.look()

    def hanging(cwd: str) -> Path:
        if "stuck" in cwd:
            release.wait(60)
        return look(cwd)

    monkeypatch.setattr(module, "project_of", hanging)
    monkeypatch.setattr(module, "LOOK_WITHIN", 0.1)
    hung = [event(tmp_path / f"stuck{number}") for number in range(3)]
    try:
        async with asyncio.timeout(60):
            await asyncio.gather(*(law.judge(one, long=False) for one in hung))
            monkeypatch.setattr(module, "LOOK_WITHIN", 60.0)  # who asks there again waits no more
            hung.append(event(tmp_path / "stuck0"))
            await law.judge(hung[-1], long=False)
            other = event(tmp_path / "another")
            await law.judge(other, long=False)
    finally:
        release.set()
    assert [await said(law, one) for one in (*hung, other)] == ["deny"] * 5


async def test_the_risk_of_a_call_is_told_by_the_rules_of_its_last_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = RuleFiles(tmp_path)
    law, about = RulesInForce(files), event(tmp_path, "deploy")
    assert await law.risk(about, long=False) == UNTOLD  # nobody has looked yet
    write(files.user, "[[risk]]\nmatch = 'Bash(deploy *)'\nlevel = 2\nwords = 'deploys'\n")
    await law.judge(about, long=False)
    for long in (False, True, False):
        risk = await law.risk(about, long=long)
        assert [one.words for one in risk.effects] == ["deploys"]
    assert await law.risk(replace(about, tool=None), long=False) == NO_RISK

    def fault(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(Policy, "risk", fault)
    assert await law.risk(about, long=False) == UNTOLD


TESTED = f'{ALLOW}{DENY.replace("ls", "rm")}[[test]]\ndeny = ["rm", "ls"]\n'


async def test_where_tests_fail_the_newer_rules_stand_but_for_those_that_open(
    tmp_path: Path,
) -> None:
    files, told, alarms = RuleFiles(tmp_path), list[str](), list[str]()
    law = RulesInForce(files)
    law.listen(told.append, alarms.append)
    write(files.user, ALLOW)
    assert await said(law, event(tmp_path)) == "allow"
    write(files.user, TESTED)
    assert await said(law, event(tmp_path)) is None
    assert await said(law, event(tmp_path, "rm")) == "deny"
    assert (law.trouble, law.unread, law.state()) == (law.failing, "", "rules 2 WRONG")
    assert alarms == [law.failing]
    assert "1 OF 2 TESTS" in law.failing
    assert told == ["the rules have changed: 1 of yours are in force"]
    write(files.user, TESTED.replace(', "ls"', ""))
    assert await said(law, event(tmp_path)) == "allow"
    assert (law.trouble, len(alarms)) == ("", 1)


async def test_a_project_whose_tests_fail_is_told_once(tmp_path: Path) -> None:
    files, told, alarms = RuleFiles(tmp_path / "mine"), list[str](), list[str]()
    theirs, law = trusted_project(files, tmp_path / "app"), RulesInForce(files)
    law.listen(told.append, alarms.append)
    write(theirs, TESTED)
    trust = Trusted(str(tmp_path / "app"), digest(TESTED.encode()), Trust.FULL)
    write_text(files.trusted, write_trusted([trust]))
    for _ in range(2):
        assert await said(law, event(tmp_path / "app")) is None
    assert await said(law, event(tmp_path / "app", "rm")) == "deny"
    assert (len(alarms), law.trouble) == (1, "")
    assert str(theirs) in alarms[0]


async def test_a_tested_rule_is_judged_from_the_cache_like_any_other(tmp_path: Path) -> None:
    files = RuleFiles(tmp_path)
    write(files.user, ALLOW + '[[test]]\nallow = "ls"\n')
    assert files.user_rules() is files.user_rules()
