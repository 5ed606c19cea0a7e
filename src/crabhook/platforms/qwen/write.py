"""What an event of Qwen Code can be told, and its JSON.

Four of its habits let a call run, and none of them can be met from here. An input changed on
PreToolUse is ignored, so such an allow is a denial. Exit code 2 without words denies nothing, so a
reply is always JSON with exit code 0, and a denial always has a reason. PermissionRequest comes
first, so only it grants. `settings.py` sees to the fourth, the timeouts.
"""

from dataclasses import replace

from crabhook.model.decision import Beside, Choices, Decision, Reply, Verdict
from crabhook.model.event import Event
from crabhook.platforms import common
from crabhook.platforms.event_table import Also, Phase
from crabhook.platforms.qwen import events
from crabhook.platforms.qwen.events import Way


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them.

    No hook approves a plan. Before a call its dialog, if any, is over: no opinion lets it run.
    """
    row = events.EVENTS[event.name]
    is_request = row.phase is Phase.ASKING and event.tool is not None
    is_call = row.phase is Phase.BEFORE and event.tool is not None
    asks, is_plan = events.asks(event), event.calls(events.PLAN_TOOL)
    may_run = (is_request or is_call) and not asks
    by_mode = common.runs(event, row, (), events.QUESTION_TOOL)
    offered = common.offering(
        row,
        # A note reaches the model on this event, or with the result of its call.
        (Beside.NOTE, Also.CONTEXT in row.also or may_run),
        (Beside.INPUT, is_request and not is_plan),
        (Beside.RULE, may_run),
        runs=common.NO_OPINION | by_mode if is_call and not asks else by_mode,
    )
    if is_request and is_plan:
        return replace(offered, verdicts=offered.verdicts - {Verdict.ALLOW})
    return offered


_DIALOG_WAITS = "Qwen Code shows its own dialog only when this is passed or handed back."
_ANSWERED_BY_REFUSAL = (
    "Qwen Code takes no answers from a hook: yours reach the model as a refusal that states them. "
    "Handed back, the questions are asked at the agent."
)
_PLAN_APPROVED_THERE = (
    "A plan is approved in Qwen Code's own dialog alone, which opens when this is handed back; a "
    "denial takes your changes to the model."
)
_INPUT_STAYS = (
    "The input cannot be changed here, as Qwen Code would run the original: deny it, saying what "
    "to do instead."
)


def limits(event: Event) -> tuple[str, ...]:
    """Return what a decision on the event will not bring about, a sentence each."""
    match events.EVENTS[event.name].phase:
        case Phase.ASKING if event.calls(events.QUESTION_TOOL):
            return (_ANSWERED_BY_REFUSAL,)
        case Phase.ASKING if event.calls(events.PLAN_TOOL):
            return (_PLAN_APPROVED_THERE,)
        case Phase.ASKING:
            return (_DIALOG_WAITS,)
        case Phase.BEFORE:
            return (_INPUT_STAYS,)
        case _:
            return ()


_LIMITS: common.Limits = common.LIMITS | {
    "content": ((), "takes no form's values"),
    "updated_input": (
        common.ALLOWS,
        "takes no changed input: only the allow of a PermissionRequest does",
    ),
}


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    row = events.EVENTS[event.name]
    asks = event.calls(events.QUESTION_TOOL) and row.phase is Phase.ASKING
    common.check(f"Qwen Code's {event.name}", row, decision, choices(event), _LIMITS, asks=asks)


def write(event: Event, decision: Decision) -> Reply:
    """Return the reply that tells Qwen Code the decision; no opinion is silence."""
    row, words = events.EVENTS[event.name], common.ReplyDraft()
    match row.verdicts.get(decision.verdict, Way.SILENCE):
        case Way.PERMISSION:
            words.permission("deny", common.in_words(decision.reason))
        case Way.DECISION:
            _decide_request(words, event, decision)
        case Way.BLOCK:
            words.top |= {"decision": "block", "reason": common.in_words(decision.reason)}
        case Way.SILENCE if row.phase is Phase.BEFORE and common.is_changed(event, decision):
            words.permission("deny", common.CHANGED.format("Qwen Code"))
        case Way.SILENCE:
            pass
    if decision.note and Also.CONTEXT in row.also:
        words.specific["additionalContext"] = decision.note
    return words.reply(event)


def _decide_request(words: common.ReplyDraft, event: Event, decision: Decision) -> None:
    """Write the decision about a request; silence opens the agent's own dialog."""
    if decision.verdict is Verdict.DENY:
        words.specific["decision"] = {
            "behavior": "deny",
            "message": common.in_words(decision.reason),
        }
    elif not events.asks(event):
        changed = decision.updated_input if common.is_changed(event, decision) else None
        edit: common.Body = {} if changed is None else {"updatedInput": dict(changed)}
        words.specific["decision"] = {"behavior": "allow", **edit}
    elif event.calls(events.QUESTION_TOOL) and (answers := common.refusal_with_answers(decision)):
        words.specific["decision"] = {"behavior": "deny", "message": answers}
