"""Rulings that are told again: never another one than judging anew would give."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from crabhook.model.event import Event, ToolCall
from crabhook.policy.context import Context, not_looked
from crabhook.policy.evaluate import Policy
from crabhook.policy.rule import RuleScope, RuleVerdict
from crabhook.rulebook.rulings import RULINGS_KEPT, RememberedRulings
from tests.unit.policy.law import NOW, PROJECT, bash, call, context, policy, rule

SHELL = Path(__file__).parents[2] / "samples" / "shell"
LINES = [
    line.replace("\u2424", "\n")
    for line in (SHELL / "everyday.txt").read_text().splitlines()[1:]
    if line.strip()
]
CALLS = [
    call("Read", file_path="src/a.py"),
    call("Read", file_path="/work/app/link/a.py"),
    call("Read", file_path="/work/app/.env"),
    call("Edit", file_path="src/a.py", old_string="a", new_string="b"),
    call("Edit", file_path="link/a.py", old_string="a", new_string="b"),
    call("Grep", pattern="x", path="src"),
    call("Grep", pattern="x", path=".", glob="*.py"),
    call("WebFetch", url="https://example.com/a"),
    call("mcp__deploy__release", version="1"),
    call("mcp__deploy__release", version=1),
    call("mcp__deploy__release", version=True),
    *map(bash, ("cat src/a.py", "cat link/a.py", "grep -r x src", "cat src/*", "git push -f")),
]
LINKS = ({}, {"/work/app/link": "/etc"}, {"/work/app/src": "/work/app/.git"})
FILES = ((), ("/work/app/src/a.py",), ("/work/app/src/.env", "/work/app/src/b.key"))
SOON, LATER = NOW + timedelta(minutes=1), NOW + timedelta(minutes=2)
LAWS = (
    policy(rule("allow", "Bash", "Read(./**)", "Edit(/src/**)", "Grep")),
    policy(
        rule("allow", "Bash", "Read(//**)", "Edit(//**)", "WebFetch", "mcp__deploy__release"),
        rule("deny", "Bash(git push *)", "Edit(//etc/**)", expires=SOON),
        rule("ask-operator", "Read(*.key)", expires=LATER),
    ),
    policy(
        rule("allow", "Bash(cat *)", "Read", scope=RuleScope(session=("s1",))),
        rule("deny", "Read", "Bash(cat *)", scope=RuleScope(agent_type=("explorer",))),
        rule("deny", "Bash", scope=RuleScope(mode=("plan",))),
        rule("allow", "Bash", "WebFetch", scope=RuleScope(platform=("gemini",)), expires=SOON),
    ),
    policy(rule("deny", "mcp__deploy__release"), rule("allow", "Bash(git *)")),
)


def anew(law: Policy, event: Event, there: Context) -> object:
    return law.judge(event, there)


def asked(random: Random, calls: list[Event]) -> Event:
    """One of a few calls, by one of a few agents, in words of its own that no rule reads."""
    event = random.choice(calls)
    assert event.tool is not None
    server = random.choice(
        [{}, {}, {"mcp_context": {"server_name": "deploy", "tool_name": "release"}}]
    )
    return replace(
        event,
        tool=replace(event.tool, use_id=random.choice("abc")),
        platform=random.choice(["claude", "gemini", "codex"]),
        session=random.choice(["s1", "s2"]),
        cwd=random.choice([PROJECT, f"{PROJECT}/src", "/"]),
        permission_mode=random.choice(["default", "plan"]),
        agent_type=random.choice(["", "explorer"]),
        agent_id=random.choice(["", "a1"]),
        fields={"tool_use_id": random.choice("abc"), **server},
    )


def moments(random: Random) -> Iterator[Context]:
    """The machine as it is, and as it becomes: links, files and the clock change."""
    while True:
        now = random.choice([NOW, SOON - timedelta(microseconds=1), SOON, LATER])
        there = context(random.choice(LINKS), now, random.choice(FILES))
        there = replace(there, project=random.choice([PROJECT, PROJECT, ""]))
        there = replace(there, below=not_looked) if random.random() < 0.2 else there
        for _ in range(random.randrange(1, 4)):
            yield there


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(2, 9))]
)
def test_what_is_remembered_is_what_judging_anew_would_say(seed: int) -> None:
    random, rulings = Random(seed), RememberedRulings()
    calls = [*CALLS, *map(bash, random.sample(LINES, 5))]
    seen = set()
    for _, there in zip(range(400), moments(random), strict=False):
        event, law = asked(random, calls), random.choice(LAWS)
        said = rulings.judge(law, event, there)
        assert said == anew(law, event, there)
        seen.add(said.verdict if said else None)
    assert seen >= {None, RuleVerdict.ALLOW, RuleVerdict.DENY, RuleVerdict.ASK_OPERATOR}


@pytest.mark.thorough
def test_every_line_of_the_corpora_is_judged_the_same_when_it_comes_again() -> None:
    rulings = RememberedRulings()
    for law in LAWS:
        for line in LINES:
            for links in LINKS[:2]:
                there = context(links, files=FILES[2])
                first, again = (rulings.judge(law, bash(line), there) for _ in range(2))
                assert first == again == anew(law, bash(line), there), line


def test_a_call_that_comes_again_is_not_judged_again() -> None:
    rulings, there = RememberedRulings(), context()
    first = rulings.judge(LAWS[0], bash("pytest -q"), there)
    again = rulings.judge(LAWS[0], bash("pytest -q"), there)
    assert first is again is not None
    other = replace(bash("pytest -q"), session="s2")
    assert rulings.judge(LAWS[0], other, there) is not first


COMMENTS = frozenset({"command"})
PATHS: dict[str, Any] = {"a": "b", "/.env": 1}


def commented(command: str) -> Event:
    return replace(bash(command), tool=ToolCall("Bash", {"command": command}, "", COMMENTS))


@pytest.mark.parametrize(
    "calls",
    [
        (commented("git push"), commented("ls")),  # which the call's fingerprint takes for the same
        tuple(
            call("Read", file_path="a", path=dict(one))
            for one in (PATHS.items(), reversed(PATHS.items()))
        ),
    ],
)
def test_calls_that_are_nearly_the_same_are_each_told_what_is_theirs(calls: tuple[Event]) -> None:
    for law in (*LAWS, policy(rule("deny", "Read"))):
        rulings = RememberedRulings()
        for one in calls:
            assert rulings.judge(law, one, context()) == anew(law, one, context())


def test_other_rules_are_another_law() -> None:
    rulings, there = RememberedRulings(), context()
    for law in (LAWS[0], policy(rule("deny", "Bash")), LAWS[0], policy()):
        assert rulings.judge(law, bash("ls"), there) == anew(law, bash("ls"), there)


def test_a_link_that_leads_elsewhere_now_is_seen_at_once() -> None:
    rulings, law = RememberedRulings(), policy(rule("allow", "Read(//work/app/**)"))
    event = call("Read", file_path="/work/app/link/shadow")
    inside, outside = {"/work/app/link": "/work/app/src"}, {"/work/app/link": "/srv"}
    said = [rulings.judge(law, event, context(links)) for links in (inside, outside, inside)]
    assert [one and str(one.verdict) for one in said] == ["allow", None, "allow"]


def test_a_rule_ends_to_the_moment_and_counts_again_where_the_clock_was_set_back() -> None:
    rulings, law = RememberedRulings(), policy(rule("allow", "Bash(ls)", expires=SOON))
    before = SOON - timedelta(microseconds=1)
    said = [rulings.judge(law, bash("ls"), context(now=now)) for now in (before, SOON, before)]
    assert [one is not None for one in said] == [True, False, True]


def test_only_so_many_rulings_are_kept() -> None:
    rulings, there = RememberedRulings(), context()
    first = rulings.judge(LAWS[0], bash("ls 0"), there)
    for number in range(1, RULINGS_KEPT + 1):
        rulings.judge(LAWS[0], call("Skill", skill=str(number)), there)
    assert rulings.judge(LAWS[0], bash("ls 0"), there) is not first


def test_an_input_without_a_tool_is_judged_as_it_is() -> None:
    event = Event("claude", "Stop", "s1", PROJECT)
    assert RememberedRulings().judge(LAWS[0], event, context()) is None
    bare = replace(event, tool=ToolCall("Bash", None))
    assert RememberedRulings().judge(LAWS[0], bare, context()) == anew(LAWS[0], bare, context())
