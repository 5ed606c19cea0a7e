"""What each deciding word of the plain desk makes of a card and what follows the word.

A word that does not fit its event is let through to the broker, which refuses
the decision and says what the event can be told; here is refused only what
cannot be made into a decision at all.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from crabhook.broker.card import Card
from crabhook.broker.stops import CAP
from crabhook.model.choices import Beside
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import PayloadError, QuestionError
from crabhook.model.event import ToolCall
from crabhook.model.jsontext import parse_value
from crabhook.model.question import merge_answers, read_questions
from crabhook.model.suggestion import MODES, PLACES, set_mode
from crabhook.ui.answer_line import read_answers
from crabhook.ui.fitting import other_words, suggestions
from crabhook.ui.form_line import read_values
from crabhook.ui.rewrite import RewriteError, difference, edited_field, rewritten
from crabhook.ui.safe import safe
from crabhook.ui.summary import is_question
from crabhook.ui.words import WORDS, LineError

_DIALOG = (
    "has questions: without answers the agent will show its own dialog, "
    "or deny the call where nobody can see it"
)
_QUOTED = 40  # letters of what cannot be read that are repeated
_TIMES = re.compile(r"times=(\S*)(?:\s+|$)")


@dataclass(frozen=True, slots=True)
class Given:
    """A decision, what to print before it is given, and how often it repeats by itself after."""

    decision: Decision
    remarks: tuple[str, ...] = ()
    repeats: int = 0


Decide: TypeAlias = Callable[[Card, str], Given]


def _plainly(verdict: Verdict) -> Decide:
    """Return the word that gives a verdict, and takes nothing more."""
    return lambda _card, _rest: Given(Decision(verdict))


def _with_reason(verdict: Verdict, *, interrupt: bool = False) -> Decide:
    """Return the word that gives a verdict with a reason."""
    return lambda _card, rest: Given(Decision(verdict, reason=rest, interrupt=interrupt))


def _allow(card: Card, note: str) -> Given:
    remarks = (f"#{card.number} {_DIALOG}",) if is_question(card.event) else ()
    return Given(Decision(Verdict.ALLOW, note=note), remarks)


def _answer(card: Card, rest: str) -> Given:
    number, event = card.number, card.event
    if event.tool is None or not is_question(event):
        raise LineError(f"#{number} asks no questions", other_words(card))
    try:
        questions = read_questions(event.tool.input)
        answers = read_answers(rest, questions, number)
        merged = merge_answers(event.tool.input, answers)
    except QuestionError as error:
        wrong = f"#{number} cannot be answered: {error}"
        raise LineError(wrong, f"{number} allow, or {number} deny …") from error
    return Given(Decision(Verdict.ALLOW, updated_input=merged))


def _edit(card: Card, text: str) -> Given:
    tool = _tool(card)
    try:
        changed = rewritten(tool, _plan_text(tool, text))
    except RewriteError as error:
        raise LineError(str(error), WORDS["edit"].usage(card.number)) from error
    remark = "\n".join(difference(tool, changed))
    return Given(Decision(Verdict.ALLOW, updated_input=changed), (remark,))


def _plan_text(tool: ToolCall, text: str) -> str:
    """Return a plan that was written as a JSON string, so that it could have several lines."""
    if edited_field(tool) != "plan" or not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text


def _always(card: Card, rest: str) -> Given:
    usage = WORDS["always"].usage(card.number)
    offered = suggestions(card)
    if not offered:
        raise LineError(f"#{card.number} suggests nothing to keep", other_words(card))
    place, *where = rest.split()
    if not re.fullmatch("[0-9]{1,3}", place) or not 0 < int(place) <= len(offered):
        wrong = f"#{card.number} has no suggestion {safe(place[:_QUOTED])}"
        raise LineError(f"{wrong}, only 1 to {len(offered)}", usage)
    if len(where) > 1 or (where and where[0].lower() not in PLACES):
        wrong = f'"{safe(" ".join(where)[:_QUOTED])}" is no place to keep it'
        raise LineError(f"{wrong}: session, local, project or user", usage)
    update = offered[int(place) - 1].kept(where[0].lower() if where else "")
    return Given(Decision(Verdict.ALLOW, permissions=(update,)))


def _mode(card: Card, rest: str) -> Given:
    mode = next((mode for mode in MODES if mode.lower() == rest.lower()), None)
    if mode is None:
        wrong = f'"{safe(rest[:_QUOTED])}" is no permission mode'
        usage = f"{card.number} {WORDS['mode'].name} {'|'.join(MODES)}"
        raise LineError(wrong, usage)
    return Given(Decision(Verdict.ALLOW, permissions=(set_mode(mode),)))


def _keep_going(card: Card, rest: str) -> Given:
    usage = WORDS["keep-going"].usage(card.number)
    found = _TIMES.match(rest)
    if found is None:
        return Given(Decision(Verdict.KEEP_GOING, reason=rest))
    left = max(CAP - card.kept_going, 1)
    if not re.fullmatch("[0-9]{1,3}", found[1]) or not 0 < int(found[1]) <= left:
        wrong = f"#{card.number} was kept going {card.kept_going} times in a row already"
        raise LineError(f"times is a number from 1 to {left}: {wrong}", usage)
    if not card.event.session:  # an order about no session would be one about all
        raise LineError(f"#{card.number} names no session to be told again", usage)
    words = rest[found.end() :]
    return Given(Decision(Verdict.KEEP_GOING, reason=words), repeats=int(found[1]) - 1)


def _accept(card: Card, rest: str) -> Given:
    fields = card.event.fields
    content = read_values(rest, fields, card.number) if rest else None
    if content is None and isinstance(fields.get("requested_schema"), dict):
        content = {}
    return Given(Decision(Verdict.ACCEPT, content=content))


def _output(card: Card, rest: str) -> Given:
    """Replace the tool's output: a text by a text, anything else by JSON."""
    if isinstance(card.event.fields.get("tool_response"), str):
        return Given(Decision(Verdict.ALLOW, output=rest))
    try:
        output = parse_value(rest.encode(errors="replace"))
    except PayloadError as error:
        wrong = f"the output is JSON, and what you wrote cannot be read: {error}"
        raise LineError(wrong, WORDS["output"].usage(card.number)) from error
    return Given(Decision(Verdict.ALLOW, output=output))


def _halt(card: Card, reason: str) -> Given:
    """End the turn; what has not happened yet is refused besides, so that nothing slips through."""
    before = Beside.INPUT in card.choices.beside
    verdict = Verdict.DENY if before else Verdict.PASS
    return Given(Decision(verdict, reason=reason if before else "", halt=reason))


def _tell(_card: Card, message: str) -> Given:
    return Given(Decision(Verdict.PASS, user_message=message))


def _tool(card: Card) -> ToolCall:
    """Return the call as it was asked about last: an earlier leg may carry less of a plan."""
    tools = [leg.event.tool for leg in card.requests if leg.event.tool is not None]
    if not tools:
        raise LineError(f"#{card.number} is about no tool", other_words(card))
    return tools[-1]


DECIDING: Mapping[str, Decide] = {
    "allow": _allow,
    "deny": _with_reason(Verdict.DENY),
    "deny --interrupt": _with_reason(Verdict.DENY, interrupt=True),
    "ask": _plainly(Verdict.ASK),
    "pass": _plainly(Verdict.PASS),
    "answer": _answer,
    "accept": _accept,
    "decline": _plainly(Verdict.DECLINE),
    "cancel": _plainly(Verdict.CANCEL),
    "edit": _edit,
    "always": _always,
    "mode": _mode,
    "keep-going": _keep_going,
    "retry": _plainly(Verdict.RETRY),
    "output": _output,
    "halt": _halt,
    "tell": _tell,
    "defer": _plainly(Verdict.DEFER),
}
