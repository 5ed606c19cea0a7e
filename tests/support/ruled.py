"""A judge as a server has one: rules written as in a file, over the real protected places."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crabhook.policy.context import Surroundings
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rulefile import read_rules

if TYPE_CHECKING:
    from crabhook.broker.law import Judge

NO_RM = '[[rule]]\nverdict = "deny"\nmatch = "Bash(rm *)"\nnote = "use trash"\n'
RM_DENIED = "rules.toml, line 1: deny Bash(rm *) (use trash): rm -rf build"


def judge_by(rules: str = NO_RM, project: str = "/p") -> Judge:
    """Return a judge for agents in one project."""
    policy = Policy([read_rules(rules, "rules.toml")], Protected(()))
    here = Surroundings(project, "/home/ann", datetime(2026, 11, 22, tzinfo=UTC), lambda path: path)
    return lambda event: policy.judge(event, here)
