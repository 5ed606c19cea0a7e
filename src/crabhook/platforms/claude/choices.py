"""What an event of Claude Code can be told: its row of the table, and what its tool makes of it."""

from crabhook.model.choices import Beside, Choices
from crabhook.model.decision import Verdict
from crabhook.model.event import Event
from crabhook.platforms.claude.events import PLAN_TOOL, UNASKED_MODE, Also, asks, rule_of

_BEFORE_A_CALL = frozenset({"PreToolUse", "PermissionRequest"})


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them.

    What goes with a verdict the event does not take is in vain, whatever it says here.
    """
    rule = rule_of(event)
    beside = Beside.NOTHING
    for part, can_be in (
        (Beside.NOTE, _takes_note(event)),
        (Beside.INPUT, event.name in _BEFORE_A_CALL and event.tool is not None),
        (Beside.PERMISSIONS, reaches_request(event)),
        (Beside.RULE, event.name in _BEFORE_A_CALL and event.tool is not None and not asks(event)),
        (Beside.OUTPUT, event.name == "PostToolUse"),
        (Beside.INTERRUPT, event.name == "PermissionRequest"),
        (Beside.HALT, Also.HALT in rule.also),
        (Beside.MESSAGE, Also.USER in rule.also),
    ):
        if can_be:
            beside |= part
    return Choices(frozenset({*rule.verdicts, Verdict.PASS}), beside)


def _takes_note(event: Event) -> bool:
    """Whether a note reaches the model: on this event, or with the result of its call."""
    return Also.CONTEXT in rule_of(event).also or event.name == "PermissionRequest"


def reaches_request(event: Event) -> bool:
    """Whether the decision can be given on PermissionRequest, now or when it follows."""
    if event.name == "PermissionRequest":
        return True
    is_plan = event.tool is not None and event.tool.name == PLAN_TOOL
    return event.name == "PreToolUse" and is_plan and event.permission_mode != UNASKED_MODE
