"""Which words decide a card, and what decision each of them makes with what follows it.

A word that does not fit its event is let through to the broker, which refuses
the decision and says what the event can be told.  Only what cannot be made
into a decision at all is refused here.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from crabhook.broker.cards import Card, State
from crabhook.broker.orders import CAP
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.elicitation import read_fields
from crabhook.model.errors import PayloadError, QuestionError
from crabhook.model.event import ToolCall
from crabhook.model.jsontext import parse_value
from crabhook.model.question import merge_answers, read_questions
from crabhook.model.suggestion import MODES, PLACES, Suggestion, read_suggestions, set_mode
from crabhook.ui.cards.summary import is_plan, is_question
from crabhook.ui.commands.edit_input import RewriteError, difference, edited_field, rewritten
from crabhook.ui.commands.forms import accepting, example, read_answers, read_values
from crabhook.ui.commands.words import WORDS, LineError
from crabhook.ui.text.safe import excerpt

_Fits: TypeAlias = Callable[[Card], bool]


def fitting(card: Card) -> list[str]:
    """Return how each word that fits a waiting card is written; no words for an ended card."""
    if card.state is not State.WAITING:
        return []
    return [_usage(name, card) for name, fits in _FITS.items() if fits(card)]


def other_words(card: Card) -> str:
    """Return the words that fit a card, as the hint of a complaint about another word."""
    return " | ".join(fitting(card)) or WORDS["show"].usage(card.number)


def suggestions(card: Card) -> tuple[Suggestion, ...]:
    """Return what the card's agent suggests to allow from now on."""
    found = (read_suggestions(leg.event.fields) for leg in card.requests)
    return next((offered for offered in found if offered), ())


def _usage(name: str, card: Card) -> str:
    """Return how the word is written for this very card."""
    number, tool = card.number, card.event.tool
    if name == "answer" and tool is not None:
        return f"{number} answer {example(read_questions(tool.input))}"
    if name == "accept":
        return f"{number} {accepting(read_fields(card.event.fields))}"
    if name == "allow" and Beside.NOTE not in card.choices.beside:
        return f"{number} allow"
    return f"{number} {name}" if name == "remember" else WORDS[name].usage(number)


def _answerable(card: Card) -> bool:
    """Whether it asks questions that can be read; any other call is allowed as it is."""
    if card.event.tool is None or not is_question(card.event):
        return False
    try:
        read_questions(card.event.tool.input)
    except QuestionError:
        return False
    return Verdict.ALLOW in card.choices.verdicts


def _allowed_as_it_is(card: Card) -> bool:
    return Verdict.ALLOW in card.choices.verdicts and not _answerable(card)


def _takes(verdict: Verdict) -> _Fits:
    return lambda card: verdict in card.choices.verdicts


def _carries(part: Beside) -> _Fits:
    return lambda card: part in card.choices.beside


_sets_permissions = _carries(Beside.PERMISSIONS)

_WORD_IS_VERDICT = tuple(map(Verdict, ("retry", "deny", "decline", "cancel", "ask", "pass")))

# In the order in which they are offered.
_FITS: Mapping[str, _Fits] = {
    "answer": _answerable,
    "accept": _takes(Verdict.ACCEPT),
    "allow": _allowed_as_it_is,
    "keep-going": _takes(Verdict.KEEP_GOING),
    **{verdict.value: _takes(verdict) for verdict in _WORD_IS_VERDICT},
    "edit": lambda card: Beside.INPUT in card.choices.beside and _allowed_as_it_is(card),
    "mode": lambda card: is_plan(card.event) and _sets_permissions(card),
    "always": lambda card: bool(suggestions(card)) and _sets_permissions(card),
    "remember": _carries(Beside.RULE),
    "deny --interrupt": _carries(Beside.INTERRUPT),
    "output": _carries(Beside.OUTPUT),
    "defer": _takes(Verdict.DEFER),
    "halt": _carries(Beside.HALT),
    "tell": _carries(Beside.MESSAGE),
}


_DIALOG = (
    "has questions: without answers the agent will show its own dialog, "
    "or deny the call where nobody can see it"
)
_TIMES = re.compile(r"times=(\S*)(?:\s+|$)")


@dataclass(frozen=True, slots=True)
class LineDecision:
    """The decision that a line makes.

    `remarks` are printed before it is given; `repeats` is how often it is
    given again, by a standing order, without being asked for.
    """

    decision: Decision
    remarks: tuple[str, ...] = ()
    repeats: int = 0


Decide: TypeAlias = Callable[[Card, str], LineDecision]


def _gives(verdict: Verdict) -> Decide:
    """Return the word that gives a verdict; the reason is the text behind the word."""
    return lambda _card, rest: LineDecision(Decision(verdict, reason=rest))


def _allow(card: Card, note: str) -> LineDecision:
    remarks = (f"#{card.number} {_DIALOG}",) if is_question(card.event) else ()
    return LineDecision(Decision(Verdict.ALLOW, note=note), remarks)


def _answer(card: Card, rest: str) -> LineDecision:
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
    return LineDecision(Decision(Verdict.ALLOW, updated_input=merged))


def _edit(card: Card, text: str) -> LineDecision:
    tool = _tool(card)
    try:
        changed = rewritten(tool, _plan_text(tool, text))
    except RewriteError as error:
        raise LineError(str(error), WORDS["edit"].usage(card.number)) from error
    remark = "\n".join(difference(tool, changed))
    return LineDecision(Decision(Verdict.ALLOW, updated_input=changed), (remark,))


def _plan_text(tool: ToolCall, text: str) -> str:
    """Return a plan that was written as a JSON string, so that it could have several lines."""
    if edited_field(tool) != "plan" or not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text


def _always(card: Card, rest: str) -> LineDecision:
    usage = WORDS["always"].usage(card.number)
    offered = suggestions(card)
    if not offered:
        raise LineError(f"#{card.number} suggests nothing to keep", other_words(card))
    place, *where = rest.split()
    if not re.fullmatch("[0-9]{1,3}", place) or not 0 < int(place) <= len(offered):
        wrong = f"#{card.number} has no suggestion {excerpt(place)}"
        raise LineError(f"{wrong}, only 1 to {len(offered)}", usage)
    if len(where) > 1 or (where and where[0].lower() not in PLACES):
        wrong = f'"{excerpt(" ".join(where))}" is no place to keep it'
        raise LineError(f"{wrong}: session, local, project or user", usage)
    update = offered[int(place) - 1].kept(where[0].lower() if where else "")
    return LineDecision(Decision(Verdict.ALLOW, permissions=(update,)))


def _mode(card: Card, rest: str) -> LineDecision:
    mode = next((mode for mode in MODES if mode.lower() == rest.lower()), None)
    if mode is None:
        wrong = f'"{excerpt(rest)}" is no permission mode'
        usage = f"{card.number} {WORDS['mode'].name} {'|'.join(MODES)}"
        raise LineError(wrong, usage)
    return LineDecision(Decision(Verdict.ALLOW, permissions=(set_mode(mode),)))


def _keep_going(card: Card, rest: str) -> LineDecision:
    usage = WORDS["keep-going"].usage(card.number)
    found = _TIMES.match(rest)
    if found is None:
        return LineDecision(Decision(Verdict.KEEP_GOING, reason=rest))
    left = max(CAP - card.kept_going, 1)
    if not re.fullmatch("[0-9]{1,3}", found[1]) or not 0 < int(found[1]) <= left:
        wrong = f"#{card.number} was kept going {card.kept_going} times in a row already"
        raise LineError(f"times is a number from 1 to {left}: {wrong}", usage)
    if not card.event.session:  # an order about no session would be one about all
        raise LineError(f"#{card.number} names no session to be told again", usage)
    words = rest[found.end() :]
    return LineDecision(Decision(Verdict.KEEP_GOING, reason=words), repeats=int(found[1]) - 1)


def _accept(card: Card, rest: str) -> LineDecision:
    fields = card.event.fields
    content = read_values(rest, fields, card.number) if rest else None
    if content is None and isinstance(fields.get("requested_schema"), dict):
        content = {}
    return LineDecision(Decision(Verdict.ACCEPT, content=content))


def _output(card: Card, rest: str) -> LineDecision:
    """Replace the tool's output: a text by a text, anything else by JSON."""
    if isinstance(card.event.fields.get("tool_response"), str):
        return LineDecision(Decision(Verdict.ALLOW, output=rest))
    try:
        output = parse_value(rest.encode(errors="replace"))
    except PayloadError as error:
        wrong = f"the output is JSON, and what you wrote cannot be read: {error}"
        raise LineError(wrong, WORDS["output"].usage(card.number)) from error
    return LineDecision(Decision(Verdict.ALLOW, output=output))


def _halt(card: Card, reason: str) -> LineDecision:
    """End the turn; what has not happened yet is refused besides, so that nothing slips through."""
    before = Beside.INPUT in card.choices.beside
    verdict = Verdict.DENY if before else Verdict.PASS
    return LineDecision(Decision(verdict, reason=reason if before else "", halt=reason))


def _tool(card: Card) -> ToolCall:
    """Return the call as it was asked about last: an earlier leg may carry less of a plan."""
    tools = [leg.event.tool for leg in card.requests if leg.event.tool is not None]
    if not tools:
        raise LineError(f"#{card.number} is about no tool", other_words(card))
    return tools[-1]


DECIDING: Mapping[str, Decide] = {
    **{verdict.value: _gives(verdict) for verdict in (*_WORD_IS_VERDICT, Verdict.DEFER)},
    "allow": _allow,
    "deny --interrupt": lambda _card, reason: LineDecision(
        Decision(Verdict.DENY, reason=reason, interrupt=True)
    ),
    "answer": _answer,
    "accept": _accept,
    "edit": _edit,
    "always": _always,
    "mode": _mode,
    "keep-going": _keep_going,
    "output": _output,
    "halt": _halt,
    "tell": lambda _card, text: LineDecision(Decision(Verdict.PASS, user_message=text)),
}
