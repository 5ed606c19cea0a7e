"""A judge as a server has one: rules written as in a file, over the real protected places."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

from crabhook.model.card import Risk
from crabhook.model.event import Event
from crabhook.policy.context import Context
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import Rule, Ruling
from crabhook.policy.rulefile import read_rules
from crabhook.rulebook.edit import drafted_without
from crabhook.rulebook.files import RULES, RuleFiles

Judge: TypeAlias = Callable[[Event], Ruling | None]

NO_RM = '[[rule]]\nverdict = "deny"\nmatch = "Bash(rm *)"\nnote = "use trash"\n'
RM_DENIED = "rules.toml, line 1: deny Bash(rm *) (use trash): rm -rf build"


def cut(files: RuleFiles, number: int) -> Rule:
    """Cut a rule out of the user's file as `crabhook rules remove` does; return the rule."""
    text, rule = drafted_without(files, number)
    files.write(RULES, text)
    return rule


def no_rules(_: Event) -> None:
    """Say nothing of any event."""


_RISKS: dict[tuple[object, ...], Risk] = {}


def risk_of(event: Event) -> Risk:
    """Return what an event's call may do, of an agent whose project is its folder."""
    tool = event.tool
    called = None if tool is None else (tool.name, tool.fingerprint)
    key = event.platform, event.name, event.cwd, called
    if called is None or (risk := _RISKS.get(key)) is None:
        now = datetime(2026, 11, 22, tzinfo=UTC)
        here = Context(event.cwd, "/home/ann", now, lambda path: path)
        risk = Policy([], Protected()).risk(event, here)
        if called is not None:
            _RISKS[key] = risk
    return risk


def judge_by(rules: str = NO_RM, project: str = "/p") -> Judge:
    """Return a judge for agents in one project."""
    policy = Policy([read_rules(rules, "rules.toml")], Protected(()))
    here = Context(project, "/home/ann", datetime(2026, 11, 22, tzinfo=UTC), lambda path: path)
    return lambda event: policy.judge(event, here)
