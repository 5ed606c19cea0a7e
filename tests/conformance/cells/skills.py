"""Cells of PreSkillShellCommand: a line of a skill, before a shell runs it."""

from __future__ import annotations

from crabhook.model.decision import Decision, Verdict
from tests.conformance.cell import Cell, Drive, Fact
from tests.conformance.cells.calls import HALTED, REASON
from tests.conformance.facts import did_not_run, fact, fired, model_read, ran
from tests.support.probe_skill import PATH, SKILL
from tests.support.turns import Text, ToolUse

FILES = {PATH: SKILL}
TYPED = Drive(((Text("All said."),),), prompt="/probe", files=FILES)
CALLED = Drive(((ToolUse("Skill", {"skill": "probe"}),), (Text("All said."),)), files=FILES)
BY_USER = fired("PreSkillShellCommand", "its user had started the skill", invoked_by="user")
BY_CLAUDE = fired("PreSkillShellCommand", "Claude had started the skill", invoked_by="claude")
JOINED = fact(
    "its id began with the Skill call's own",
    lambda seen: any(
        str(line.event["tool_use_id"]).startswith(f"{call.event['tool_use_id']}:preamble-")
        for line in seen.heard
        if line.name == "PreSkillShellCommand"
        for call in seen.heard
        if call.name == "PreToolUse"
    ),
)
NO_CALL = fact(
    "no PreToolUse and no PermissionRequest came",
    lambda seen: not any(one.name in ("PreToolUse", "PermissionRequest") for one in seen.heard),
)
RAN = (ran(words="the line ran"), model_read("as-the-line-said-it", "the model read what it said"))
NOT_RUN = did_not_run(words="the line did not run")


def _cell(title: str, decision: Decision, *facts: Fact, drive: Drive) -> Cell:
    return Cell("PreSkillShellCommand", title, decision, drive, facts)


_DENY = Decision(Verdict.DENY, reason=REASON)
_REFUSED = f"[not run: blocked by hook: {REASON}]"
CELLS = (
    _cell(
        "started by its user: allow", Decision(Verdict.ALLOW), BY_USER, NO_CALL, *RAN, drive=TYPED
    ),
    _cell("started by its user: pass", Decision(Verdict.PASS), BY_USER, NO_CALL, *RAN, drive=TYPED),
    _cell(
        "started by its user: deny",
        _DENY,
        BY_USER,
        NO_CALL,
        NOT_RUN,
        model_read(_REFUSED, "the model read the reason in its place"),
        drive=TYPED,
    ),
    _cell(
        "started by Claude: allow", Decision(Verdict.ALLOW), BY_CLAUDE, JOINED, *RAN, drive=CALLED
    ),
    _cell(
        "started by Claude: deny",
        _DENY,
        BY_CLAUDE,
        JOINED,
        NOT_RUN,
        model_read(_REFUSED, "the model read the reason in its place"),
        drive=CALLED,
    ),
    _cell(
        "deny, and stop the session",
        Decision(Verdict.DENY, reason=REASON, halt=HALTED),
        BY_USER,
        NOT_RUN,
        fact("the turn ended there: the model was not asked", lambda seen: seen.turns() == 0),
        drive=TYPED,
    ),
)
