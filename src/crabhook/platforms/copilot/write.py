"""What an event of GitHub Copilot CLI can be told, and its JSON.

A reply is always JSON with exit code 0, or silence: any other exit code denies the call, without
the operator's words. PermissionRequest reads a flat answer. It runs the original where an allow
brings another input, so such an allow is a denial. A note stands in hookSpecificOutput on
PreToolUse alone, and at the top level elsewhere.
"""

from dataclasses import replace

from crabhook.model.decision import Beside, Choices, Decision, Reply, Verdict
from crabhook.model.event import Event
from crabhook.platforms import common
from crabhook.platforms.copilot import events
from crabhook.platforms.copilot.events import Way
from crabhook.platforms.event_table import Also, Phase


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them.

    No hook approves a plan. No input tells the mode, so no opinion may always let a call run.
    Copilot's own options may allow what it requests.
    """
    row = events.EVENTS[event.name]
    is_request = row.phase is Phase.ASKING and event.tool is not None
    is_call = row.phase is Phase.BEFORE and event.tool is not None
    asks, is_plan = events.asks(event), event.calls(events.PLAN_TOOL)
    may_run = (is_request or is_call) and not asks
    runs = common.runs(event, row, (), events.QUESTION_TOOL)
    if may_run:
        runs |= common.NO_OPINION | ({Verdict.ASK} if is_request else set())
    offered = common.offering(
        row,
        # A note reaches the model on this event, or with the result of its call.
        (Beside.NOTE, (Also.CONTEXT in row.also and not asks) or may_run),
        (Beside.INPUT, is_call and not is_plan),
        (Beside.RULE, may_run),
        (Beside.INTERRUPT, is_request),
        runs=runs,
    )
    if is_call and is_plan:
        return replace(offered, verdicts=offered.verdicts - {Verdict.ALLOW})
    return offered


_OTHERS_WAIT = (
    "Others of this session wait behind this one: Copilot asks about a turn's calls one by one."
)
_LATE = "Without an answer in time Copilot goes on by its own rules."
_DEAD = "If this hook dies, Copilot denies the call."
_HANDED_BACK = "Handed back, only a session in a terminal asks its user. `-p` and `--acp` deny it."
_DIALOG_WAITS = "Copilot shows its own dialog only when this is passed or handed back."
_NO_DIALOG = "Passed or handed back, `-p` denies it, and `--allow-all-tools` runs it."
_INPUT_STAYS = "The input cannot be changed here: deny it, saying what to do instead."
_ANSWERED_BY_REFUSAL = (
    "Copilot takes no answers from a hook: yours reach the model as a refusal that states them."
)
_FORM_THERE = "Handed back, its form is shown at the agent."
_PLAN_APPROVED_THERE = (
    "A plan is approved in Copilot's own dialog alone, which opens when this is handed back."
)
_PLAN_DENIED = "A denial takes your changes to the model."


def limits(event: Event) -> tuple[str, ...]:
    """Return what a decision on the event will not bring about, a sentence each."""
    match events.EVENTS[event.name].phase:
        case Phase.BEFORE if event.calls(events.QUESTION_TOOL):
            return _ANSWERED_BY_REFUSAL, _FORM_THERE, _OTHERS_WAIT
        case Phase.BEFORE if event.calls(events.PLAN_TOOL):
            return _PLAN_APPROVED_THERE, _PLAN_DENIED, _OTHERS_WAIT
        case Phase.BEFORE:
            return _OTHERS_WAIT, _HANDED_BACK, _LATE, _DEAD
        case Phase.ASKING:
            return _DIALOG_WAITS, _NO_DIALOG, _INPUT_STAYS, _LATE, _DEAD
        case _:
            return ()


_LIMITS: common.Limits = common.LIMITS | {
    "content": ((), "takes no form's values"),
    "updated_input": (
        common.ALLOWS,
        "takes no changed input: only the allow of a PreToolUse does",
    ),
    "note": (common.ALLOWS | {Verdict.PASS}, "takes no note"),
}


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    row = events.EVENTS[event.name]
    asks = event.calls(events.QUESTION_TOOL) and row.phase is Phase.BEFORE
    common.check(f"Copilot's {event.name}", row, decision, choices(event), _LIMITS, asks=asks)


def write(event: Event, decision: Decision) -> Reply:
    """Return the reply that tells Copilot the decision; no opinion is silence."""
    row, words = events.EVENTS[event.name], common.ReplyDraft()
    match row.verdicts.get(decision.verdict, Way.SILENCE):
        case Way.PERMISSION:
            _decide_call(words, event, decision)
        case Way.BEHAVIOR:
            _decide_request(words, event, decision)
        case Way.BLOCK:
            words.top |= {"decision": "block", "reason": common.in_words(decision.reason)}
        case Way.SILENCE:
            pass
    if decision.note and Also.CONTEXT in row.also:
        place = words.specific if row.phase is Phase.BEFORE else words.top
        place["additionalContext"] = decision.note
    return words.reply(event)


def _decide_call(words: common.ReplyDraft, event: Event, decision: Decision) -> None:
    """Write the decision about a call. Silence opens the form or the plan at the agent."""
    if decision.verdict is Verdict.DENY:
        words.permission("deny", common.in_words(decision.reason))
    elif event.calls(events.QUESTION_TOOL):
        allows = decision.verdict is Verdict.ALLOW
        if allows and (answers := common.refusal_with_answers(decision)):
            words.permission("deny", answers)
    elif event.calls(events.PLAN_TOOL):
        pass
    elif decision.verdict is Verdict.ASK:
        words.permission("ask", decision.reason)
    else:
        words.permission("allow", decision.reason)
        if decision.updated_input is not None:
            words.specific["updatedInput"] = dict(decision.updated_input)


def _decide_request(words: common.ReplyDraft, event: Event, decision: Decision) -> None:
    """Write the decision about a request."""
    if decision.verdict is Verdict.DENY:
        words.top |= {"behavior": "deny", "message": common.in_words(decision.reason)}
        words.top |= {"interrupt": True} if decision.interrupt else {}
    elif common.is_changed(event, decision):
        words.top |= {"behavior": "deny", "message": common.CHANGED.format("Copilot")}
    else:
        words.top["behavior"] = "allow"
