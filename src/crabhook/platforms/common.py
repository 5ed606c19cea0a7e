"""What the agents' dialects have in common: how an input is read, and what a decision may carry."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from crabhook.model.decision import Beside, Choices, Decision, Reply, Verdict
from crabhook.model.errors import DecisionError, PayloadError, QuestionError
from crabhook.model.event import Event, How, ShownField, ToolCall
from crabhook.model.jsontext import (
    Value,
    canonical,
    compact,
    literal,
    object_at,
    parse_object,
    text_at,
)
from crabhook.model.question import read_questions
from crabhook.platforms.event_table import Also, EventRow, EventTable, Phase

EVENT = "hook_event_name"

# The fields that tell most of events that several agents have, in the order of a screen.
TELLS_RESULT: Mapping[str, ShownField] = {"tool_response": ShownField("the tool gave", How.RESULT)}
TELLS_TIME: Mapping[str, ShownField] = {"duration_ms": ShownField("milliseconds it took")}
TELLS_FAILURE: Mapping[str, ShownField] = {
    "error": ShownField("the tool failed", How.PROSE),
    "is_interrupt": ShownField(
        "interrupted", How.FLAG, yes="it was interrupted", no="it was not interrupted"
    ),
    **TELLS_TIME,
}
TELLS_PROMPT: Mapping[str, ShownField] = {"prompt": ShownField("the prompt", How.PROSE)}
TELLS_AGENT: Mapping[str, ShownField] = {"agent_type": ShownField("the subagent")}
TELLS_SESSION: Mapping[str, ShownField] = {
    "source": ShownField("started by"),
    "model": ShownField("model", How.MODEL),
}
TELLS_COMPACTING: Mapping[str, ShownField] = {
    "trigger": ShownField("compacting, asked for"),
    "custom_instructions": ShownField("instructions", How.PROSE),
}
STOP_ACTIVE = ShownField(
    "stop_hook_active", How.FLAG, yes="it goes on already because a hook told it to"
)
TELLS_STOP: Mapping[str, ShownField] = {
    "last_assistant_message": ShownField("the agent's last message", How.MARKDOWN),
    "background_tasks": ShownField("background tasks", How.SEVERAL),
    "session_crons": ShownField("scheduled wake-ups", How.SEVERAL),
    "stop_hook_active": STOP_ACTIVE,
}


def tool_of(fields: Mapping[str, Value]) -> ToolCall | None:
    """Return the call that an input is about, if it is about one."""
    name, use_id = text_at(fields, "tool_name"), text_at(fields, "tool_use_id")
    return ToolCall(name, fields.get("tool_input"), use_id) if name else None


def reader(
    platform: str,
    rows: EventTable[Any],
    tool: Callable[[Mapping[str, Value]], ToolCall | None] = tool_of,
    named: Callable[[Mapping[str, Value]], Mapping[str, Value]] = lambda fields: fields,
) -> Callable[[bytes], Event]:
    """Return a reader of an agent's hook input.

    `rows`: its events. `tool` finds the call. `named` returns the fields by the names they have
    here, of an agent that spells some of them otherwise.
    """

    def read_event(payload: bytes) -> Event:
        """Return the event in a hook's standard input, known or not.

        Only its name is required; other fields that are missing or of a wrong type read as empty,
        and `fields` keeps them as sent. Raises PayloadError.
        """
        fields = named(parse_object(payload))
        name = text_at(fields, EVENT)
        if not name:
            raise PayloadError(f'it has no text "{EVENT}"')
        return Event(
            platform=platform,
            name=name,
            session=text_at(fields, "session_id"),
            cwd=text_at(fields, "cwd"),
            permission_mode=text_at(fields, "permission_mode"),
            agent_id=text_at(fields, "agent_id"),
            agent_type=text_at(fields, "agent_type"),
            tool=tool(fields),
            fields=fields,
            tells=rows[name].tells,
        )

    return read_event


Body: TypeAlias = dict[str, Value]
"""A JSON object that an agent reads, in the making."""


@dataclass(slots=True)
class ReplyDraft:
    """A reply in the making: the top level, hookSpecificOutput, and how the hook ends."""

    top: Body = field(default_factory=dict)
    specific: Body = field(default_factory=dict)
    stderr: str = ""
    exit_code: int = 0

    def halt(self, reason: str) -> None:
        """Have the agent end its turn."""
        self.top |= {"continue": False, "stopReason": reason}

    def pass_on(self, decision: Decision) -> None:
        """Say nothing to the agent; why there is no opinion is for its debug log."""
        if decision.verdict is Verdict.PASS and decision.reason:
            self.stderr = f"crabhook: no opinion: {decision.reason}\n"

    def permission(self, word: str, reason: str) -> None:
        """Say before a call what is to become of it."""
        self.specific["permissionDecision"] = word
        if reason:
            self.specific["permissionDecisionReason"] = reason

    def reply(self, event: Event) -> Reply:
        """Return the reply, with the event's name where hookSpecificOutput has to bear it."""
        if self.specific:
            self.top["hookSpecificOutput"] = {"hookEventName": event.name, **self.specific}
        return Reply(self.top or None, self.stderr, self.exit_code)


_NOTHING, NO_OPINION = frozenset[Verdict](), frozenset({Verdict.PASS, Verdict.DEFER})
UNASKED: Mapping[str, frozenset[Verdict]] = {
    "auto": NO_OPINION,
    "dontAsk": NO_OPINION,
    "bypassPermissions": NO_OPINION | {Verdict.ASK},
    "yolo": NO_OPINION | {Verdict.ASK},
}
"""The modes in which an agent asks its user seldom or never, and what then may let a call happen.

Agents take over each other's names for modes.
"""
_EDITS_MODE = "acceptEdits"


def runs(
    event: Event, row: EventRow[Any], edits: Collection[str], question: str
) -> frozenset[Verdict]:
    """Return what lets an event's call run without a person, by its mode (`Choices.runs`).

    `edits`: tools that the mode for edits allows. `question`: the tool that asks a person, in any
    mode. Where an agent asks in a mode that asks nobody, no opinion may let the call run too.
    """
    mode = event.permission_mode
    if event.tool is None or event.tool.name == question:
        return _NOTHING
    if row.phase is Phase.PART:  # the agent's own rules have let it before the hook was asked
        return NO_OPINION
    if row.phase is Phase.BEFORE:
        edits_unasked = mode == _EDITS_MODE and event.tool.name in edits
        return UNASKED.get(mode, NO_OPINION if edits_unasked else _NOTHING)
    return NO_OPINION if row.phase is Phase.ASKING and mode in UNASKED else _NOTHING


def offering(
    row: EventRow[Any],
    *parts: tuple[Beside, bool],
    runs: frozenset[Verdict] = frozenset(),
) -> Choices:
    """Return the verdicts of a row, and the true parts that may go with them.

    A part for a missing verdict has no effect.
    """
    beside = Beside.NOTHING
    common = ((Beside.HALT, Also.HALT in row.also), (Beside.MESSAGE, Also.USER in row.also))
    for part, can_be in (*common, *parts):
        beside |= part if can_be else Beside.NOTHING
    return Choices(frozenset({*row.verdicts, Verdict.PASS}), beside, runs)


Limits: TypeAlias = dict[str, tuple[Collection[Verdict], str]]
"""A part of a Decision -> the verdicts it goes with, and the words that refuse it elsewhere."""

ANY = frozenset(Verdict)
ALLOWS = frozenset({Verdict.ALLOW})
DENIES = frozenset({Verdict.DENY})
NEEDS_REASON = frozenset({Verdict.DENY, Verdict.KEEP_GOING})

LIMITS: Limits = {
    "halt": (ANY, "stops no session"),
    "user_message": (ANY, "shows its user no message"),
    "suppress_output": (ANY, "has no output to suppress"),
    "note": (ALLOWS, "takes no note"),
    "interrupt": (DENIES, "has nothing to interrupt"),
    "permissions": (ALLOWS, "takes no permissions"),
    "output": (ALLOWS, "has no output to replace"),
    "content": (ANY, "takes no form's values"),
    "updated_input": (ALLOWS, "takes no changed input"),
}
"""What holds for an agent that says nothing else."""

PARTS: Mapping[str, Beside] = {
    "halt": Beside.HALT,
    "user_message": Beside.MESSAGE,
    "suppress_output": Beside.SUPPRESS,
    "note": Beside.NOTE,
    "interrupt": Beside.INTERRUPT,
    "permissions": Beside.PERMISSIONS,
    "output": Beside.OUTPUT,
    "content": Beside.NOTHING,  # a form's values go with the verdict itself
    "updated_input": Beside.INPUT,
}
"""What an event has to offer for each part to be carried."""

_BARE = Decision(Verdict.PASS)


def check_json(what: str, value: Value | Mapping[str, Value]) -> None:
    """Raise DecisionError for a value that cannot be written."""
    try:
        compact(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise DecisionError(f"the {what} cannot be written as JSON: {error}") from error


def check_verdict(
    who: str, verdict: Verdict, offered: Choices, in_order: Collection[Verdict]
) -> None:
    """Raise DecisionError for a verdict that is not offered; `in_order`: those to name instead."""
    if verdict not in offered.verdicts:
        can = ", ".join([*in_order, Verdict.PASS])
        raise DecisionError(f"{who} cannot be answered with {verdict}; it can with: {can}")


def check_reason(decision: Decision, beside: str = "") -> None:
    """Raise DecisionError for a verdict that comes without the reason it needs."""
    if decision.verdict in NEEDS_REASON and not decision.reason.strip():
        denied = decision.verdict is Verdict.DENY
        what = "a denial needs a reason" if denied else "say how to go on"
        raise DecisionError(f"{what}: the model reads it{beside}")


def check_parts(who: str, decision: Decision, offered: Choices, limits: Limits) -> None:
    """Raise DecisionError for the first part of the decision that would be lost."""
    for part, beside in PARTS.items():
        if getattr(decision, part) == getattr(_BARE, part):
            continue
        verdicts, what = limits[part]
        if decision.verdict not in verdicts or beside not in offered.beside:
            raise DecisionError(f"{who}, answered with {decision.verdict}, {what}")


def check(  # noqa: PLR0913 - one decision, and all that it is held against
    who: str,
    row: EventRow[Any],
    decision: Decision,
    offered: Choices,
    limits: Limits,
    *,
    asks: bool = False,
) -> None:
    """Raise DecisionError, saying why, for what an event cannot carry by its row and `limits`.

    `who` names the event. A part that is JSON must be such that it can be written. `asks`: it asks
    questions, so that an allow has to bring their answers.
    """
    check_verdict(who, decision.verdict, offered, row.verdicts)
    check_reason(decision)
    check_parts(who, decision, offered, limits)
    check_json("output", decision.output)
    check_json("changed input", decision.updated_input)
    if asks and decision.verdict is Verdict.ALLOW:
        check_answers(lambda: refusal_with_answers(decision))


def stated(tool_input: Value, opening: str) -> str:
    """Return in words the answers that `merge_answers` has set in an input; empty if none.

    They go to a model whose agent takes no answers from a hook; `opening` tells it what follows.
    Raises QuestionError for an input without questions.
    """
    questions = read_questions(tool_input)
    fields = tool_input if isinstance(tool_input, dict) else {}
    answers, annotations = object_at(fields, "answers"), object_at(fields, "annotations")
    lines, answered = [], False
    for question in questions:
        answer = answers.get(question.text)
        note = text_at(object_at(annotations, question.text), "notes")
        answer_text = literal(answer) if isinstance(answer, str) else "(not answered)"
        lines.append(f"{literal(question.text)} = {answer_text}")
        lines += [f"  note: {literal(note)}"] if note else []
        answered = answered or isinstance(answer, str) or bool(note)
    return "\n".join([opening, *lines]) if answered else ""


def answers_in(decision: Decision, opening: str) -> str:
    """Return the answers of allowed questions in words, as `stated` does; empty if none."""
    if decision.updated_input is None:
        return ""
    return stated(dict(decision.updated_input), opening)


TAKEN = (
    "This is no refusal: the person answered at another terminal, so the questions are not shown "
    "here. Go on with these answers and do not ask again."
)
"""How answers begin that reach a model as a refusal."""
CHANGED = (
    "The crabhook operator allowed this with another input, which {} cannot run here. "
    "Call the tool anew."
)


def refusal_with_answers(decision: Decision) -> str:
    """Return the refusal that gives a model a person's answers and note; empty if no answers."""
    answers = answers_in(decision, TAKEN)
    return "\n".join(filter(None, (answers, decision.note))) if answers else ""


def check_answers(answers: Callable[[], object]) -> None:
    """Raise DecisionError for an answer to questions that has no answers: it changes nothing.

    `answers` returns those of the decision, or raises QuestionError.
    """
    try:
        answered = bool(answers())
    except QuestionError as error:
        raise DecisionError(f"the questions must be sent back with their answers: {error}") from (
            error
        )
    if not answered:
        raise DecisionError("answer the questions, or hand them back to the agent's own dialog")


_UNSAID = "The crabhook operator denied this."


def in_words(reason: str) -> str:
    """Return a reason, or words in its place: a refusal without any does not refuse everywhere."""
    return reason if reason.strip() else _UNSAID


def is_changed(event: Event, decision: Decision) -> bool:
    """Whether an allow is for another input than the event's."""
    if decision.verdict is not Verdict.ALLOW or decision.updated_input is None:
        return False
    asked = event.tool.input if event.tool else None
    return canonical(dict(decision.updated_input)) != canonical(asked)
