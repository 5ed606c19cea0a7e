"""What an event of Codex can be told: its row of the table, and what its tool makes of it."""

from crabhook.model.choices import Beside, Choices
from crabhook.model.decision import Verdict
from crabhook.model.event import Event
from crabhook.platforms.codex.events import Also, asks, rule_of

_BEFORE_A_CALL = frozenset({"PreToolUse", "PermissionRequest"})


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them.

    What goes with a verdict the event does not take is in vain, whatever it says here.
    """
    rule = rule_of(event)
    has_tool = event.tool is not None
    beside = Beside.NOTHING
    for part, can_be in (
        (Beside.NOTE, Also.CONTEXT in rule.also or event.name == "PermissionRequest"),
        (Beside.INPUT, event.name == "PreToolUse" and has_tool),
        (Beside.RULE, event.name in _BEFORE_A_CALL and has_tool and not asks(event)),
        (Beside.HALT, Also.HALT in rule.also),
        (Beside.MESSAGE, Also.USER in rule.also),
    ):
        if can_be:
            beside |= part
    return Choices(frozenset({*rule.verdicts, Verdict.PASS}), beside)
