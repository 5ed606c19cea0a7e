"""What an event of Gemini CLI can be told, and what it cannot, in words for the operator."""

from collections.abc import Sequence

from crabhook.model.choices import Beside, Choices
from crabhook.model.decision import Verdict
from crabhook.model.event import Event
from crabhook.platforms.gemini.events import (
    ASKING_TOOLS,
    PLAN_TOOL,
    QUESTION_TOOL,
    Also,
    asks,
    is_call_of,
    rule_of,
)


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them."""
    rule = rule_of(event)
    is_call = event.name == "BeforeTool" and event.tool is not None
    halts = Also.HALT in rule.also
    beside = Beside.NOTHING
    for part, can_be in (
        (Beside.NOTE, takes_note(event)),
        (Beside.INPUT, is_call and not is_call_of(event, PLAN_TOOL)),
        (Beside.RULE, is_call and not asks(event)),
        (Beside.OUTPUT, event.name == "AfterTool"),
        (Beside.INTERRUPT, halts and Verdict.DENY in rule.verdicts),
        (Beside.HALT, halts),
        (Beside.MESSAGE, Also.USER in rule.also),
        (Beside.SUPPRESS, Also.USER in rule.also),
    ):
        if can_be:
            beside |= part
    return Choices(frozenset({*rule.verdicts, Verdict.PASS}), beside)


def takes_note(event: Event) -> bool:
    """Whether a note reaches the model: on this event, or with the result of its call.

    Questions have no result once they are answered from here, and answers have notes of their own.
    """
    on_result = event.name == "BeforeTool" and not is_call_of(event, QUESTION_TOOL)
    return Also.CONTEXT in rule_of(event).also or on_result


_OF_CALLS = (
    "Gemini CLI asks its own user as well after an allow, unless it runs with "
    "--approval-mode yolo; there a call without an opinion simply runs"
)
_OF_QUESTIONS = (
    "Gemini CLI takes no answers from a hook: yours go to the model in a denial that states "
    "them; an allow without answers opens the agent's own dialog"
)
_OF_PLANS = (
    "an allow opens Gemini CLI's own dialog, and only there a plan is approved; "
    "a denial takes your changes to the model"
)
_OF_RESULTS = "another output reaches the model as the tool's error, which is all Gemini CLI takes"


def limits(event: Event) -> Sequence[str]:
    """Return what a decision on this event will not bring about, a sentence each."""
    for told, holds in (
        (_OF_QUESTIONS, is_call_of(event, QUESTION_TOOL)),
        (_OF_PLANS, is_call_of(event, PLAN_TOOL)),
        (_OF_CALLS, event.name == "BeforeTool" and not is_call_of(event, *ASKING_TOOLS)),
        (_OF_RESULTS, event.name == "AfterTool"),
    ):
        if holds:
            return (told,)
    return ()
