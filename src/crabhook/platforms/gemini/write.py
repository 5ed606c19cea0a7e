"""Decisions in the words Gemini CLI reads: always one JSON object, and exit code 0.

Gemini takes silence and a crash for an allow, so an object is always printed, with known keys only.
Answers to ask_user go in a denial's reason, and begin with words that nothing failed, since Gemini
reports a denial.
"""

from collections.abc import Mapping

from crabhook.model.decision import Decision, Reply, Verdict
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact, object_at
from crabhook.platforms.common import Body, ReplyDraft
from crabhook.platforms.event_table import Also
from crabhook.platforms.gemini.events import EVENTS, QUESTION_TOOL, Way, is_call_of

_OPENING = (
    "this is no failure: the user was asked elsewhere and has answered. "
    "Take what follows as the result of ask_user, and do not ask the same again."
)


def write(event: Event, decision: Decision) -> Reply:
    """Return the reply that tells Gemini CLI the decision; no opinion is an empty object."""
    row, words = EVENTS[event.name], ReplyDraft()
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
    specific: Body = {"hookSpecificOutput": words.specific} if words.specific else {}
    return Reply({**words.top, **specific})


def _deny(words: ReplyDraft, reason: str) -> None:
    words.top |= {"decision": "deny", "reason": reason}


def _changed(words: ReplyDraft, event: Event, decision: Decision) -> None:
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
