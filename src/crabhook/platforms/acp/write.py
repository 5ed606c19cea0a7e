"""What an ACP request can be told, and the result that answers it.

ACP has no place for a changed input, a reason or a note. An allow is the request's only option of
the kind allow_once, a denial its only reject_once. An "always" is never chosen: it would write
rules of the agent's own.
"""

from crabhook.model.decision import PASS_ALONE, Beside, Choices, Decision, Reply, Verdict
from crabhook.model.elicitation import check_content
from crabhook.model.errors import DecisionError, QuestionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, object_at, text_at
from crabhook.model.question import read_questions
from crabhook.platforms import common
from crabhook.platforms.acp import calls, events
from crabhook.platforms.acp.events import EVENTS, Way

_QWENS = "user_question"
"""What Qwen Code calls a request that asks questions, and takes their answers in its result."""


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them."""
    row = EVENTS[event.name]
    if event.name != events.ASKED:
        return common.offering(row) if row.verdicts else PASS_ALONE
    can = {
        Verdict.ALLOW: events.can_allow(event),
        Verdict.DENY: bool(events.one_option(event, "reject_once")),
    }
    offered = common.offering(
        row,
        (Beside.WORDLESS, True),
        (Beside.RULE, event.tool is not None and not events.asks(event)),
        (Beside.INPUT, takes_answers(event)),
        runs=common.runs(event, row, (), ""),
    )
    out = {verdict for verdict, possible in can.items() if not possible}
    return Choices(offered.verdicts - out, offered.beside, offered.runs)


def takes_answers(event: Event) -> bool:
    """Whether the request asks questions and its result can hold their answers."""
    meta = object_at(object_at(event.fields, "tool_call"), "_meta")
    asked = text_at(meta, "qwenInteractionKind") == _QWENS
    return asked and event.calls(*events.QUESTIONS)


_BOTH = "The editor asks as well. Whoever answers first decides."
_CUT = (
    "The request is {} MiB long, and this card has its beginning alone. Allow it in the editor, "
    "or deny it here."
)
_SEVERAL = "It can be allowed in several ways ({}). Choose one of them in the editor."
_NEVER_ONCE = "It offers no way to allow this once. Only the editor can allow it."


def limits(event: Event) -> tuple[str, ...]:
    """Return what a decision on the event will not bring about, a sentence each."""
    if event.name == events.FORM:
        return (_BOTH,)
    if event.name != events.ASKED:
        return ()
    ways = [text_at(option, "name") for option in calls.options_of(event.fields, "allow_once")]
    if events.is_cut(event):
        size = object_at(event.fields, "cut").get("bytes")
        return _BOTH, _CUT.format(size >> 20 if isinstance(size, int) else "many")
    if len(ways) > 1:
        return _BOTH, _SEVERAL.format(", ".join(ways))
    return (_BOTH,) if ways else (_BOTH, _NEVER_ONCE)


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    offered = choices(event)
    common.check_verdict(event.name, decision.verdict, offered, EVENTS[event.name].verdicts)
    common.check_parts(event.name, decision, offered, _LIMITS)
    if decision.verdict is Verdict.ACCEPT:
        check_content(event.fields, decision.content)
    if decision.verdict is Verdict.ALLOW and takes_answers(event):
        try:
            answered = _answers(event, decision)
        except QuestionError as error:
            raise DecisionError(f"the questions cannot be answered so: {error}") from error
        if not answered:
            raise DecisionError("answer the questions, or leave them to the editor")


_LIMITS: common.Limits = common.LIMITS | {
    "content": (frozenset({Verdict.ACCEPT}), "takes no form's values"),
}


def write(event: Event, decision: Decision) -> Reply:
    """Return the result of the agent's request; no opinion is silence, and the editor decides."""
    match EVENTS[event.name].verdicts.get(decision.verdict, Way.SILENCE):
        case Way.OUTCOME:
            return _outcome(event, decision)
        case Way.ACTION:
            content = {} if decision.content is None else {"content": dict(decision.content)}
            return Reply({"action": decision.verdict.value, **content})
    return Reply()


def _outcome(event: Event, decision: Decision) -> Reply:
    allows = decision.verdict is Verdict.ALLOW
    if allows and not events.can_allow(event):
        return Reply()
    option = events.one_option(event, "allow_once" if allows else "reject_once")
    if not option:
        return Reply()
    result: dict[str, Value] = {"outcome": {"outcome": "selected", "optionId": option}}
    if allows and takes_answers(event):
        if not (answers := _answers(event, decision)):
            return Reply()
        result["answers"] = answers
    return Reply(result)


def _answers(event: Event, decision: Decision) -> dict[str, Value]:
    """Return the answers of an allowed question, each by its question's place from 0."""
    updated = dict(decision.updated_input or {})
    answers = object_at(updated, "answers")
    questions = read_questions(event.tool.input if event.tool else None)
    return {
        str(place): answers[question.text]
        for place, question in enumerate(questions)
        if question.text in answers
    }
