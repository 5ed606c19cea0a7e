"""Decisions in the words Claude Code reads: one writer for each way (sections 2 to 8).

An HTTP hook has no exit code and no standard error (section 9).  Nothing is
lost on that way: what blocks by the exit code, on the two events that know no
other (`Way.EXIT`), blocks as well by a top-level decision, which Claude Code
2.1.330 makes the same of on every event.  What else stands on standard error is
a word for a debug log.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, canonical, compact
from crabhook.model.reply import Reply
from crabhook.platforms.claude.events import ASKING_TOOLS, PLAN_TOOL, QUESTION_TOOL, Way, row_of
from crabhook.platforms.rows import Also

_Body = dict[str, Value]

LARGEST_ECHO = 16 << 20  # bytes of an input that is sent back just as it came
PATH = "/hooks/claude"
"""Where a server takes HTTP hooks in."""
STANCE = "X-Crabhook-Stance"
WAIT = "X-Crabhook-Wait"
"""The headers in which our entries say how they were installed, and how many seconds they wait."""
BLOCKED = 2  # the exit code that blocks; the reason is read from standard error


@dataclass(slots=True)
class _Words:
    """A reply in the making: the top level, hookSpecificOutput, and how the hook ends."""

    top: _Body = field(default_factory=dict)
    specific: _Body = field(default_factory=dict)
    stderr: str = ""
    exit_code: int = 0


def write(event: Event, decision: Decision) -> Reply:
    """Return the reply that tells Claude Code the decision.

    No opinion is silence: exit code 0 and nothing on standard output.
    """
    row, words = row_of(event), _Words()
    way = row.verdicts.get(decision.verdict, Way.SILENCE)
    if left_to_request(event, decision):
        way = Way.SILENCE
    _WRITERS[way](words, event, decision)
    if decision.note and Also.CONTEXT in row.also:
        words.specific["additionalContext"] = decision.note
    if decision.output is not None:
        words.specific["updatedToolOutput"] = decision.output
    if decision.halt and way is not Way.DECISION:  # which says it by interrupting
        words.top |= {"continue": False, "stopReason": decision.halt}
    if decision.user_message:
        words.top["systemMessage"] = decision.user_message
    if decision.suppress_output:
        words.top["suppressOutput"] = True
    return _reply(event, words)


def remark(event: Event, note: str) -> Reply | None:
    """Return a silent reply that carries `note` to the model, or None if the event takes none."""
    if Also.CONTEXT not in row_of(event).also:
        return None
    return _reply(event, _Words(specific={"additionalContext": note}))


def left_to_request(event: Event, decision: Decision) -> bool:
    """Whether PreToolUse must stay silent so that the PermissionRequest that follows can carry it.

    A changed plan is ignored on PreToolUse, and permission updates have no
    place there (sections 5 and 6); a plan that nobody has approved yet is
    always asked about again.
    """
    if event.name != "PreToolUse" or event.tool is None or event.tool.name != PLAN_TOOL:
        return False
    changed = decision.updated_input is not None and decision.updated_input != event.tool.input
    return decision.verdict is Verdict.ALLOW and (changed or bool(decision.permissions))


def _reply(event: Event, words: _Words) -> Reply:
    output = dict(words.top)
    if words.specific:
        output["hookSpecificOutput"] = {"hookEventName": event.name, **words.specific}
    return Reply(output or None, words.stderr, words.exit_code)


def _silence(words: _Words, _: Event, decision: Decision) -> None:
    if decision.verdict is Verdict.PASS and decision.reason:
        words.stderr = f"crabhook: no opinion: {decision.reason}\n"  # for the agent's debug log


def _permission(words: _Words, event: Event, decision: Decision) -> None:
    words.specific["permissionDecision"] = decision.verdict.value
    if decision.reason:
        words.specific["permissionDecisionReason"] = decision.reason
    if (updated := _updated_input(event, decision)) is not None:
        words.specific["updatedInput"] = updated


def _decision(words: _Words, event: Event, decision: Decision) -> None:
    body: _Body = {"behavior": decision.verdict.value}
    if decision.verdict is Verdict.DENY:
        body["message"] = decision.reason
        if decision.interrupt or decision.halt:
            body["interrupt"] = True
    updated = _updated_input(event, decision)
    if updated is not None and not _is_as_asked(event, updated):
        body["updatedInput"] = updated
    if decision.permissions:
        body["updatedPermissions"] = [dict(update) for update in decision.permissions]
    words.specific["decision"] = body


def _is_as_asked(event: Event, updated: _Body) -> bool:
    """Whether an input need not be sent back on PermissionRequest, and so must not be.

    The first hook to decide is the one that counts there, so no other's rewriting is undone
    by it.  An input that is sent back is held against the agent's ask rules once more, and
    one of them would ask again about what was just allowed (seen with 2.1.330).  Questions
    and plans are released by their input alone.
    """
    tool = event.tool
    if tool is None or tool.name in ASKING_TOOLS or updated != tool.input:
        return False
    return canonical(updated) == canonical(tool.input)  # to Python 1 and true are equal


def _block(words: _Words, _: Event, decision: Decision) -> None:
    words.top |= {"decision": "block", "reason": decision.reason}


def _exit(words: _Words, _: Event, decision: Decision) -> None:
    words.stderr, words.exit_code = f"{decision.reason}\n", BLOCKED


def _action(words: _Words, _: Event, decision: Decision) -> None:
    words.specific["action"] = decision.verdict.value
    if decision.content is not None:
        words.specific["content"] = dict(decision.content)


def _retry(words: _Words, _: Event, __: Decision) -> None:
    words.specific["retry"] = True


_WRITERS: Mapping[Way, Callable[[_Words, Event, Decision], None]] = {
    Way.SILENCE: _silence,
    Way.PERMISSION: _permission,
    Way.DECISION: _decision,
    Way.BLOCK: _block,
    Way.EXIT: _exit,
    Way.ACTION: _action,
    Way.RETRY: _retry,
}


def _updated_input(event: Event, decision: Decision) -> _Body | None:
    """Return the input to send back: the operator's, or with any other allow the call's own.

    Another hook may rewrite the input of the same call, and of several that do
    the last to end wins (seen with 2.1.330): an allow that sends nothing back
    would approve whatever that hook made of it.  Two exceptions: questions
    without answers, which would count as left unanswered, and an input too
    large for an answer.
    """
    if decision.updated_input is not None:
        return dict(decision.updated_input)
    tool = event.tool
    if decision.verdict is not Verdict.ALLOW or tool is None or tool.name == QUESTION_TOOL:
        return None
    if not isinstance(tool.input, dict):
        return None
    too_large = tool.name != PLAN_TOOL and len(compact(tool.input)) > LARGEST_ECHO
    return None if too_large else tool.input


def body(reply: Reply) -> bytes:
    """Return a reply as the body that answers an HTTP hook; an empty one is no opinion."""
    output = dict(reply.output or {})
    if reply.exit_code == BLOCKED:
        output |= {"decision": "block", "reason": reply.stderr.strip()}
    return compact(output).encode("ascii") if output else b""
