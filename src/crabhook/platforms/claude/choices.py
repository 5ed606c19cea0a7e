"""What an event of Claude Code can be told: its row of the table, and what its tool makes of it."""

from functools import lru_cache

from crabhook.model.choices import Beside, Choices
from crabhook.model.decision import Verdict
from crabhook.model.event import Event
from crabhook.platforms.claude.events import EVENTS, PLAN_TOOL, UNASKED_MODE, Also, asks, rule_named

_BEFORE_A_CALL = frozenset({"PreToolUse", "PermissionRequest"})


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them.

    What goes with a verdict the event does not take is in vain, whatever it says here.
    """
    name = event.name if event.name in EVENTS else ""
    return _choices(name, event.tool is not None, asks(event), reaches_request(event))


@lru_cache  # an arrival asks two or three times, and there are not sixty answers
def _choices(name: str, calls: bool, asking: bool, reaches: bool) -> Choices:  # noqa: FBT001 - a key
    rule = rule_named(name)
    before = name in _BEFORE_A_CALL and calls
    beside = Beside.NOTHING
    for part, can_be in (
        # A note reaches the model on this event, or with the result of its call.
        (Beside.NOTE, Also.CONTEXT in rule.also or name == "PermissionRequest"),
        (Beside.INPUT, before),
        (Beside.PERMISSIONS, reaches),
        (Beside.RULE, before and not asking),
        (Beside.OUTPUT, name == "PostToolUse"),
        (Beside.INTERRUPT, name == "PermissionRequest"),
        (Beside.HALT, Also.HALT in rule.also),
        (Beside.MESSAGE, Also.USER in rule.also),
        (Beside.SUPPRESS, Also.USER in rule.also),
    ):
        if can_be:
            beside |= part
    return Choices(frozenset({*rule.verdicts, Verdict.PASS}), beside)


def reaches_request(event: Event) -> bool:
    """Whether the decision can be given on PermissionRequest, now or when it follows."""
    if event.name == "PermissionRequest":
        return True
    is_plan = event.tool is not None and event.tool.name == PLAN_TOOL
    return event.name == "PreToolUse" and is_plan and event.permission_mode != UNASKED_MODE
