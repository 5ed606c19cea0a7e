"""What our rules decide of the same calls, in the same folders."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crabhook.model.event import Event, ToolCall
from crabhook.policy.context import Context
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import RuleVerdict
from crabhook.policy.rulefile import read_rules
from crabhook.rulebook.context import look

if TYPE_CHECKING:
    from tests.agreement.pairs import Group
    from tests.agreement.scene import Scene

VERDICTS = {"deny": RuleVerdict.DENY, "ask": RuleVerdict.ASK_OPERATOR, "allow": RuleVerdict.ALLOW}
SAID = {RuleVerdict.ALLOW: "allow", RuleVerdict.DENY: "deny"}
"""Whatever else comes of a rule, a person is asked."""


def policy_of(group: Group, scene: Scene) -> Policy:
    """Return the group's rules as ours, written down and read as a rule file is."""
    rules = "\n".join(
        f"[[rule]]\nverdict = {json.dumps(VERDICTS[sentence])}\nmatch = {json.dumps(list(texts))}"
        for sentence, texts in scene.fill(group.rules).items()
        if texts
    )
    folder = str(scene.project) if group.of_project else ""
    return Policy([read_rules(rules, "rules.toml", folder)], Protected())


def we_say(policy: Policy, tool: str, inputs: Mapping[str, Any], scene: Scene) -> str:
    """Return allow, deny or ask for a call with this input, as a hook was told it."""
    project = str(scene.project)
    event = Event("claude", "PreToolUse", "s", project, "default", tool=ToolCall(tool, inputs))
    here = Context(project, str(scene.home), datetime.now(UTC), os.path.realpath, look)
    ruling = policy.judge(event, here)
    return "ask" if ruling is None or ruling.verdict is None else SAID.get(ruling.verdict, "ask")
