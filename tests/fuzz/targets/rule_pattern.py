"""One rule's text, and a call for it to speak about.

What can be written is read back as it was; a pattern that allows a call would also deny it; and
no pattern costs more than its length, whatever it is tried on.
"""

from __future__ import annotations

import contextlib

from crabhook.model.event import Event
from crabhook.policy.matcher import Matcher, parse_matcher
from crabhook.policy.rule import Rule, RuleVerdict
from crabhook.policy.rulefile import read_rules
from crabhook.rulebook.edit import written
from tests.fuzz.mutation import words
from tests.fuzz.target import Target
from tests.fuzz.text import text_of
from tests.unit.policy.law import bash, call, context, policy

HERE = context()


def law(data: bytes) -> None:
    """A pattern; behind a NUL what it is tried on."""
    pattern, _, tried = text_of(data).partition("\0")
    allowing, denying = _read(pattern, RuleVerdict.ALLOW), _read(pattern, RuleVerdict.DENY)
    assert denying is not None or allowing is None, "a denial may use all that an allow may"
    for rule in (allowing, denying):
        if rule is not None:
            (again,) = read_rules(written(rule), "again").rules
            assert (again.texts, again.matchers) == (rule.texts, rule.matchers)
    if denying is not None:
        for event in _calls(tried):
            _judged(event, allowing, denying)


def _read(pattern: str, verdict: RuleVerdict) -> Rule | None:
    matcher: Matcher | None = None
    with contextlib.suppress(ValueError):
        matcher = parse_matcher(pattern, restricts=verdict.restricts)
    return None if matcher is None else Rule(verdict, (pattern,), (matcher,))


def _calls(text: str) -> list[Event]:
    name = text[:40] or "T"
    return [
        bash(text), call("Read", file_path=text), call("Edit", file_path=f"/work/app/{text}"), call("Grep", path=text, pattern=text, glob=text), call("WebFetch", url=text),
        call("Agent", subagent_type=text), call("Skill", skill=name, args=text), call(name, key=text), call("apply_patch", "codex", command=text),
    ]  # fmt: skip


def _judged(event: Event, allowing: Rule | None, denying: Rule) -> None:
    denied = policy(denying).judge(event, HERE)
    assert denied is None or denied.verdict is not RuleVerdict.ALLOW
    if allowing is None:
        return
    allowed = policy(allowing).judge(event, HERE)
    if allowed is not None and allowed.verdict is RuleVerdict.ALLOW:
        assert denied is not None
        assert denied.verdict is RuleVerdict.DENY, (event, denying)
        both = policy(allowing, denying).judge(event, HERE)
        assert both is not None
        assert both.verdict is RuleVerdict.DENY


WORDS = (
    "Bash(", "Read(", "Edit(", "WebFetch(domain:", "Agent(", "Skill(", "mcp__s__t", "mcp__s", "Write(", "Grep", "Glob", ")", "*", "**", "/**", ":*", " *", "?", "[a-z]", "{a,b}", "!", "~/", "//", "./", "../", "/",
    "\\*", "\\", "\0", "ls", "git status", "npm run test", "&&", ";", "|", "a.b.c", "https://a.b:80/x", "user@", "[::1]", ".", "é", "\u202e", " ", "\n", "domain:", "file_path:", "run_in_background:true", "a*a*a*a*a*a*a*b", "a" * 60,
)  # fmt: skip


def seeds() -> list[bytes]:
    """Patterns of every kind, with something they speak of."""
    rows = ("Bash(ls *)\0ls -l", "Bash(npm run:*)\0npm run x", "Bash(git * main)\0git push main", "Read(~/s/**)\0/home/dev/s/a", "Edit(/src/**/*.py)\0src/a/b.py", "Edit(./a[b-c]?)\0ab1", "WebFetch(domain:*.a.com)\0https://x.a.com/y", "Agent(plan*)\0planner", "Skill(x:*)\0x y", "mcp__s__*\0mcp__s__t", "Grep\0a", "Bash(run_in_background:true)\0x", "Bash\0ls; rm x", "Edit(//**)\0*** Begin Patch\n*** Add File: a\n+x\n*** End Patch")  # fmt: skip
    return [row.encode() for row in rows]


TARGET = Target(law, words.of(WORDS, (("Bash(", ")"), ("Edit(", ")"))), seeds, longest=1024)
