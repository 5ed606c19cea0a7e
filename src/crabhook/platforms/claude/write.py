"""Decisions in the words Claude Code reads, one writer per event that is held (section 3 to 6)."""

from collections.abc import Callable, Mapping

from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.jsontext import Value
from crabhook.model.reply import Reply
from crabhook.platforms.claude.events import PLAN_TOOL, rule_of

_Body = dict[str, Value]


def write(event: Event, decision: Decision) -> Reply:
    """Return the reply that tells Claude Code the decision.

    No opinion, and every event that is not held, is silence: exit code 0 and
    nothing on standard output.
    """
    writer = _WRITERS.get(event.name)
    body = writer(event, decision) if writer and decision.verdict is not Verdict.PASS else None
    if body is None:
        return Reply(stderr=_explain(decision))
    return Reply({"hookSpecificOutput": {"hookEventName": event.name, **body}})


def remark(event: Event, note: str) -> Reply | None:
    """Return a silent reply that carries `note` to the model, or None if the event takes none."""
    if not rule_of(event).takes_context:
        return None
    body: _Body = {"hookEventName": event.name, "additionalContext": note}
    return Reply({"hookSpecificOutput": body})


def _pre_tool_use(event: Event, decision: Decision) -> _Body:
    body: _Body = {"permissionDecision": decision.verdict.value}
    if decision.reason:
        body["permissionDecisionReason"] = decision.reason
    if (updated := _updated_input(event, decision)) is not None:
        body["updatedInput"] = updated
    if decision.note:
        body["additionalContext"] = decision.note
    return body


def _permission_request(event: Event, decision: Decision) -> _Body | None:
    if decision.verdict is Verdict.ASK:
        return None  # its own dialog is already there, or comes next
    body: _Body = {"behavior": decision.verdict.value}
    if decision.verdict is Verdict.DENY:
        body["message"] = decision.reason
    elif (updated := _updated_input(event, decision)) is not None:
        body["updatedInput"] = updated
    return {"decision": body}


_WRITERS: Mapping[str, Callable[[Event, Decision], _Body | None]] = {
    "PreToolUse": _pre_tool_use,
    "PermissionRequest": _permission_request,
}


def _updated_input(event: Event, decision: Decision) -> _Body | None:
    """Return the input to send back: the operator's, or a plan's own, which alone releases it."""
    if decision.updated_input is not None:
        return dict(decision.updated_input)
    if decision.verdict is Verdict.ALLOW and event.tool and event.tool.name == PLAN_TOOL:
        return event.tool.input if isinstance(event.tool.input, dict) else None
    return None


def _explain(decision: Decision) -> str:
    """Return the line for the agent's debug log that tells why crabhook has no opinion."""
    return f"crabhook: no opinion: {decision.reason}\n" if decision.reason else ""
