"""What an event of OpenCode can be told, and the JSON that our plugin reads.

A request is answered with `once` or `reject`, never with `always`: that would allow later calls in
the whole server, of any session. A rejection without words ends the turn, so each has words.
"""

from collections.abc import Mapping

from crabhook.model.decision import Beside, Choices, Decision, Reply, Verdict
from crabhook.model.errors import PayloadError, QuestionError
from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import Value, compact, object_at, parse_value
from crabhook.model.question import Question, quote_label, read_questions
from crabhook.platforms import common
from crabhook.platforms.event_table import Also, Phase
from crabhook.platforms.opencode import events
from crabhook.platforms.opencode.events import Way

_REFUSES = "(The person refuses to answer, and says: {})"


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them.

    By default OpenCode asks nobody, so a call without an opinion may run.
    """
    row = events.EVENTS[event.name]
    asks, has_tool = events.asks(event), event.tool is not None
    is_call = row.phase is Phase.BEFORE and has_tool and not asks
    is_request = row.phase is Phase.ASKING and has_tool
    by_mode = common.runs(event, row, (), events.QUESTION_TOOL)
    return common.offering(
        row,
        # A note reaches the model on this event, or with the result of its call.
        (Beside.NOTE, Also.CONTEXT in row.also or is_call or (is_request and not asks)),
        (Beside.INPUT, is_call or (is_request and asks)),
        (Beside.RULE, is_call or (is_request and not asks)),
        runs=by_mode | common.NO_OPINION if is_call else by_mode,
    )


_ASKED_SELDOM = (
    "OpenCode asks about little by itself: passed, this runs unless its own settings ask or deny."
)
_DIALOG_STANDS = "OpenCode's own dialog stands beside, and the first answer counts."
_EDITORS_STANDS = (
    "The editor's own dialog stays open after an answer from here, and does nothing then."
)
_OTHERS_GO = (
    "A denial here rejects all that this session asks at the moment, without words. Where more "
    "than this waits, its turn ends."
)
_INPUT_STAYS = "The input cannot be changed here: deny it, saying what to do instead."
_REFUSED_IN_ANSWERS = "A denial goes to the model as the answer to each question."
ACP = "acp"


def limits(event: Event) -> tuple[str, ...]:
    """Return what a decision on the event will not bring about, a sentence each."""
    row = events.EVENTS[event.name]
    if row.phase is Phase.BEFORE and event.tool is not None and not events.asks(event):
        return (_ASKED_SELDOM,)
    if row.phase is not Phase.ASKING:
        return ()
    dialog = _EDITORS_STANDS if event.text("started_as") == ACP else _DIALOG_STANDS
    if events.asks(event):
        return dialog, _REFUSED_IN_ANSWERS
    return dialog, _OTHERS_GO, _INPUT_STAYS


_LIMITS: common.Limits = common.LIMITS | {
    "content": ((), "takes no form's values"),
    "updated_input": (common.ALLOWS, "takes no changed input: only tool.execute.before does"),
}


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    row = events.EVENTS[event.name]
    common.check(f"OpenCode's {event.name}", row, decision, choices(event), _LIMITS)
    if row.verdicts.get(decision.verdict) is Way.ANSWERS:
        common.check_answers(lambda: any(_answers(event, decision)))


def write(event: Event, decision: Decision) -> Reply:
    """Return the reply that tells our plugin the decision; no opinion is silence."""
    row, words = events.EVENTS[event.name], common.ReplyDraft()
    match row.verdicts.get(decision.verdict, Way.SILENCE):
        case Way.DECISION if decision.verdict is Verdict.DENY:
            words.top |= {"decision": "deny", "reason": common.in_words(decision.reason)}
        case Way.DECISION:
            words.top["decision"] = "allow"
            if decision.updated_input is not None and common.is_changed(event, decision):
                words.top["input"] = dict(decision.updated_input)
        case Way.REPLY if decision.verdict is Verdict.DENY:
            words.top |= {"reply": "reject", "message": common.in_words(decision.reason)}
        case Way.REPLY if not common.is_changed(event, decision):
            words.top["reply"] = "once"
        case Way.ANSWERS:
            words.top |= _answered(event, decision)
        case _:
            words.pass_on(decision)
    if decision.note and Also.CONTEXT in row.also:
        words.top["note"] = decision.note
    return words.reply(event)


def compared(tool: ToolCall) -> Mapping[str, Value] | None:
    """Return the questions alone of the tool that asks them: its input never has the answers."""
    if tool.name != events.QUESTION_TOOL or not isinstance(tool.input, dict):
        return None
    return {"questions": tool.input.get("questions")}


def body(reply: Reply) -> bytes:
    """Return a reply as the body that answers our plugin; an empty body is no opinion."""
    return compact(reply.output).encode("ascii") if reply.output else b""


def _answered(event: Event, decision: Decision) -> common.Body:
    """Return the answers to all questions; nothing where there are none, as the dialog stands."""
    try:
        answers = _answers(event, decision)
    except QuestionError:
        return {}
    if not any(answers):
        return {}
    refused: common.Body = {"refused": True} if decision.verdict is Verdict.DENY else {}
    return {"answers": list(answers), **refused}


def _answers(event: Event, decision: Decision) -> list[Value]:
    """Return a list of answers for each question, in order. Raises QuestionError."""
    questions = read_questions(event.tool.input if event.tool else None)
    if decision.verdict is Verdict.DENY:
        return [[_REFUSES.format(common.in_words(decision.reason))] for _ in questions]
    given_back = dict(decision.updated_input or {})
    read_questions(given_back)
    answers, notes = object_at(given_back, "answers"), object_at(given_back, "annotations")
    every: list[Value] = []
    for question in questions:
        answer = answers.get(question.text)
        chosen = _chosen(question, answer) if isinstance(answer, str) and answer else []
        note = object_at(notes, question.text).get("notes")
        every.append([*chosen, *([note] if isinstance(note, str) and note else [])])
    return every


def _chosen(question: Question, answer: str) -> list[Value]:
    """Return an answer's labels and own words, of a question that takes several.

    Where they cannot be told apart the whole answer is one, which the model reads the same.
    """
    if not question.several:
        return [answer]
    rest, chosen = answer, list[Value]()
    labels = {quote_label(option.label): option.label for option in question.options}
    while written := next((w for w in labels if f"{rest}, ".startswith(f"{w}, ")), ""):
        chosen.append(labels.pop(written))
        rest = rest[len(written) + 2 :]
        if not rest:
            return chosen
    return [*chosen, _unquoted(rest)]


def _unquoted(words: str) -> str:
    """Return own words as they were before `quote_label`."""
    try:
        value = parse_value(words.encode()) if words.startswith('"') else words
    except PayloadError:
        value = words
    return value if isinstance(value, str) else words
