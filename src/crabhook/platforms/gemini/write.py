"""Decisions in the words Gemini CLI reads: always one JSON object, and exit code 0.

Gemini takes silence and a crash for an allow, so an object is always printed, with known keys only.
Answers to ask_user go in a denial's reason, and begin with words that nothing failed, since Gemini
reports a denial.
"""

from collections.abc import Mapping, Sequence

from crabhook.model.decision import Beside, Choices, Decision, Reply, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact, object_at
from crabhook.platforms import common
from crabhook.platforms.event_table import Also
from crabhook.platforms.gemini.events import (
    EVENTS,
    PLAN_TOOL,
    QUESTION_TOOL,
    Way,
    asks,
    is_call_of,
)


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them.

    No input tells the mode, so no opinion may always let a call run, as it does in yolo.
    """
    row = EVENTS[event.name]
    is_call = event.name == "BeforeTool" and event.tool is not None
    runs = common.runs(event, row, (), QUESTION_TOOL)
    if is_call and not asks(event):
        runs |= common.NO_OPINION
    return common.offering(
        row,
        (Beside.NOTE, takes_note(event)),
        (Beside.INPUT, is_call and not is_call_of(event, PLAN_TOOL)),
        (Beside.RULE, is_call and not asks(event)),
        (Beside.OUTPUT, event.name == "AfterTool"),
        (Beside.INTERRUPT, Also.HALT in row.also and Verdict.DENY in row.verdicts),
        (Beside.SUPPRESS, Also.USER in row.also),
        runs=runs,
    )


def takes_note(event: Event) -> bool:
    """Whether a note reaches the model: on this event, or with the result of its call.

    Questions answered here have no result, and their answers have notes.
    """
    on_result = event.name == "BeforeTool" and not is_call_of(event, QUESTION_TOOL)
    return Also.CONTEXT in EVENTS[event.name].also or on_result


_OF_CALLS = (
    "Gemini CLI asks its own user as well after an allow, unless it runs with "
    "--approval-mode yolo. There a call without an opinion simply runs"
)
_OF_QUESTIONS = (
    "Gemini CLI takes no answers from a hook: yours go to the model in a denial that states "
    "them. An allow without answers opens the agent's own dialog"
)
_OF_PLANS = (
    "an allow opens Gemini CLI's own dialog, and only there a plan is approved. "
    "A denial takes your changes to the model"
)
_OF_RESULTS = "another output reaches the model as the tool's error, which is all Gemini CLI takes"


def limits(event: Event) -> Sequence[str]:
    """Return what a decision on this event will not bring about, a sentence each."""
    if event.name == "AfterTool":
        return (_OF_RESULTS,)
    if event.name != "BeforeTool":
        return ()
    name = event.tool.name if event.tool else ""
    return ({QUESTION_TOOL: _OF_QUESTIONS, PLAN_TOOL: _OF_PLANS}.get(name, _OF_CALLS),)


_LIMITS: common.Limits = common.LIMITS | {
    "halt": (common.ANY, "stops no agent"),
    "permissions": (
        common.ALLOWS,
        "takes no permissions: Gemini CLI keeps none that a hook gives it",
    ),
    "content": ((), "takes no form's values"),
}


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    common.check(event.name, EVENTS[event.name], decision, choices(event), _LIMITS)
    updated = decision.updated_input
    if updated is not None and is_call_of(event, QUESTION_TOOL) and "questions" not in updated:
        raise DecisionError("the questions must be sent back with their answers")


_OPENING = (
    "this is no failure: the user was asked elsewhere and has answered. "
    "Take what follows as the result of ask_user, and do not ask the same again."
)


def write(event: Event, decision: Decision) -> Reply:
    """Return the reply that tells Gemini CLI the decision; no opinion is an empty object."""
    row, words = EVENTS[event.name], common.ReplyDraft()
    way = row.verdicts.get(decision.verdict, Way.NOTHING)
    if way is Way.DENY:
        _deny(words, decision.reason)
    elif way is not Way.NOTHING:
        words.top["decision"] = "allow"
    _changed(words, event, decision)
    if decision.note and Also.CONTEXT in row.also:
        words.specific["additionalContext"] = decision.note
    if Also.HALT in row.also and (decision.halt or decision.interrupt):
        words.halt(decision.halt or decision.reason)
    if decision.user_message and Also.USER in row.also:
        words.top["systemMessage"] = decision.user_message
    if decision.suppress_output and Also.USER in row.also:
        words.top["suppressOutput"] = True
    # hookSpecificOutput bears no event's name here.
    specific: common.Body = {"hookSpecificOutput": words.specific} if words.specific else {}
    return Reply({**words.top, **specific})


def _deny(words: common.ReplyDraft, reason: str) -> None:
    words.top |= {"decision": "deny", "reason": reason}


def _changed(words: common.ReplyDraft, event: Event, decision: Decision) -> None:
    """Write what an allow changes."""
    if decision.verdict is not Verdict.ALLOW:
        return
    if decision.output is not None and event.name == "AfterTool":
        # All of the output, or the part of it that Gemini would show the model.
        output = decision.output
        shown = output.get("llmContent") if isinstance(output, dict) else output
        _deny(words, shown if isinstance(shown, str) else compact(output))
    if decision.updated_input is None or event.name != "BeforeTool":
        return
    if is_call_of(event, QUESTION_TOOL) and (answers := stated(decision.updated_input)):
        _deny(words, answers)
    else:  # the whole arguments: Gemini replaces them
        words.specific["tool_input"] = dict(decision.updated_input)


def stated(updated: Mapping[str, Value]) -> str:
    """Return the answers in a changed input of ask_user, in words; or nothing.

    As in the tool's own result, each question has its index and its words.
    """
    answers, remarks = object_at(updated, "answers"), object_at(updated, "annotations")
    if not answers and not remarks:
        return ""
    asked = updated.get("questions")
    lines = [_OPENING]
    for index, item in enumerate(asked if isinstance(asked, list) else []):
        question = item.get("question") if isinstance(item, dict) else None
        if isinstance(question, str):
            lines.append(f"{index}. {question}")
            answer, note = answers.get(question), object_at(remarks, question).get("notes")
            lines.append(
                "   Left unanswered." if answer is None else f"   Answer: {_set_in(answer)}"
            )
            lines += [] if note is None else [f"   The user adds: {_set_in(note)}"]
    return "\n".join(lines)


def _set_in(value: Value) -> str:
    """Return a text with later lines indented, so that none looks like ours."""
    return value.replace("\n", "\n     ") if isinstance(value, str) else compact(value)
