"""The words that decide a card, and the decision of each word with its text.

The broker refuses a word that does not fit the event, and says which words do.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from difflib import unified_diff

from crabhook.datatypes import frozen
from crabhook.desk.acts import Act, Asked, Field, Taken, kind_of, offered
from crabhook.desk.updates import Offer, Offering
from crabhook.model.card import Card, State
from crabhook.model.decision import (
    MODES,
    PLACES,
    Decision,
    set_mode,
)
from crabhook.model.elicitation import read_fields
from crabhook.model.errors import CrabhookError, PayloadError, QuestionError
from crabhook.model.event import ToolCall
from crabhook.model.jsontext import Path, Value, parse_object, parse_value, pretty, put
from crabhook.model.order import CAP
from crabhook.model.question import merge_answers, read_questions
from crabhook.model.wording import plural
from crabhook.present.card import suggestions
from crabhook.present.safe import excerpt
from crabhook.present.summary import is_plan, is_question, summary
from crabhook.ui.commands.forms import accepting, example, read_answers, read_values
from crabhook.ui.commands.words import WORDS, LineError, Word
from crabhook.ui.text.rows import Row, bounded
from crabhook.vocabulary import vocabulary

_DIALOG = (
    "has questions: without answers the agent will show its own dialog, "
    "or deny the call where nobody can see it"
)
_COMPARED_LINES = 2_000  # of both sides; past these, comparing costs more than it tells
_LINES, _CHARACTERS = 200, 20_000  # of a difference that is printed
NO_REASON = "The operator denied this and gave no reason."
_TIMES = re.compile(r"times=(\S*)(?:\s+|$)")


@frozen
class LineDecision:
    """The decision of a line, and remarks to print first; `repeats`: for a standing order."""

    decision: Decision
    remarks: tuple[str, ...] = ()
    repeats: int = 0


class RewriteError(CrabhookError):
    """A change that cannot be made, in words for a person."""


def rewritten(tool: ToolCall, text: str, path: Path | None = None) -> dict[str, Value]:
    """Return the tool's whole input as changed by `text`; raises RewriteError.

    `text` replaces what is at `path`, by default the plan or command; or is the whole input in
    JSON.
    """
    if path is None:
        key = edited_field(tool)
        path = (key,) if key else ()
    changed = put(tool.input, path, text) if path else None
    if not isinstance(changed, dict):
        try:
            changed = parse_object(text.encode(errors="replace"))
        except PayloadError as error:
            wrong = f"the input is a JSON object, and what you wrote is not: {error}"
            raise RewriteError(wrong) from error
    if pretty(changed) == pretty(tool.input):
        raise RewriteError("that changes nothing")
    return changed


def edited_field(tool: ToolCall) -> str | None:
    """Return the input's field that is edited as text; None where all is edited as JSON."""
    key = "plan" if tool.name in vocabulary().plans else "command"
    if isinstance(tool.input, dict) and isinstance(tool.input.get(key), str):
        return key
    return None


def difference(tool: ToolCall, changed: Mapping[str, Value]) -> list[str]:
    """Return what an edit takes out and puts in, as the lines of a unified diff, indented."""
    key = edited_field(tool)
    before, after = (
        (str(value[key]) if key and isinstance(value, dict) else pretty(value)).split("\n")
        for value in (tool.input, dict(changed))
    )
    if len(before) + len(after) > _COMPARED_LINES:
        steps = [*("-" + line for line in before), *("+" + line for line in after)]
    else:  # the first two lines name files
        steps = [*unified_diff(before, after, lineterm="")][2:]
    rows = [Row(f"  the {key or 'input'} as it will be sent:"), *(Row("    ", s) for s in steps)]
    return [row.line for row in bounded(rows, _LINES, _CHARACTERS)]


def asked_by(card: Card) -> Asked:
    """Return what a card asks for, as far as acts depend on it."""
    questions, plan = _is_answerable(card), is_plan(card.event)
    kind = kind_of(card.choices, questions=questions, plan=plan)
    return Asked(card.choices, kind, bool(suggestions(card)), not card.went_on)


def _is_answerable(card: Card) -> bool:
    """Whether it asks readable questions; any other call can be allowed as it is."""
    if card.event.tool is None or not is_question(card.event):
        return False
    try:
        read_questions(card.event.tool.input)
    except QuestionError:
        return False
    return True


def fitting(card: Card, *, newer: bool = False, role: str = "") -> list[str]:
    """Return how each word that fits a waiting card is written; no words for an ended card.

    `newer`: with the words of which programs are not told. `role` is that of who decides.
    """
    if card.state is not State.WAITING:
        return []
    taken = (Taken.LISTED, Taken.UNLISTED) if newer else (Taken.LISTED,)
    return [_usage(act, card) for act in offered(asked_by(card), role) if act.taken in taken]


def other_words(card: Card) -> str:
    """Return the words that fit a card, as the hint of a complaint about another word."""
    return " | ".join(fitting(card)) or WORDS["show"].usage(card.number)


def _usage(act: Act, card: Card) -> str:
    number, tool, word = card.number, card.event.tool, Word(act)
    if act.field is Field.ANSWERS and tool is not None:
        return f"{number} {word.name} {example(read_questions(tool.input))}"
    if act.field is Field.CONTENT:
        return f"{number} {accepting(read_fields(card.event.fields))}"
    if act.field is Field.RULE or act.field_at(card.choices) is not act.field:
        return f"{number} {word.name}"
    return word.usage(number)


# What is typed behind a word, as its act's field takes it.


@frozen
class _Typed:
    """A value for an act's field; the rest is as in `LineDecision`."""

    value: object
    remarks: tuple[str, ...] = ()
    repeats: int = 0


def _note(card: Card, note: str) -> _Typed:
    return _Typed(note, (f"#{card.number} {_DIALOG}",) if is_question(card.event) else ())


def _answers(card: Card, rest: str) -> _Typed:
    number, event = card.number, card.event
    if event.tool is None or not is_question(event):
        raise LineError(f"#{number} asks no questions", other_words(card))
    try:
        questions = read_questions(event.tool.input)
        answers = read_answers(rest, questions, number)
        return _Typed(merge_answers(event.tool.input, answers))
    except QuestionError as error:
        wrong = f"#{number} cannot be answered: {error}"
        raise LineError(wrong, f"{number} allow, or {number} deny …") from error


def _input(card: Card, text: str) -> _Typed:
    """Change the last version of the call: an earlier leg may have less of a plan."""
    tools = [leg.event.tool for leg in card.requests if leg.event.tool is not None]
    if not tools:
        raise LineError(f"#{card.number} is about no tool", other_words(card))
    if edited_field(tools[-1]) == "plan" and text.startswith('"'):
        with suppress(ValueError):  # a JSON string, so that it can have several lines
            text = str(json.loads(text))
    try:
        changed = rewritten(tools[-1], text)
    except RewriteError as error:
        raise LineError(str(error), WORDS["edit"].usage(card.number)) from error
    return _Typed(changed, ("\n".join(difference(tools[-1], changed)),))


def _suggestion(card: Card, rest: str) -> _Typed:
    usage = WORDS["always"].usage(card.number)
    suggested = suggestions(card)
    if not suggested:
        raise LineError(f"#{card.number} suggests nothing to keep", other_words(card))
    place, *where = rest.split()
    if not re.fullmatch("[0-9]{1,3}", place) or not 0 < int(place) <= len(suggested):
        wrong = f"#{card.number} has no suggestion {excerpt(place)}"
        raise LineError(f"{wrong}, only 1 to {len(suggested)}", usage)
    if len(where) > 1 or (where and where[0].lower() not in PLACES):
        wrong = f'"{excerpt(" ".join(where))}" is no place to keep it'
        raise LineError(f"{wrong}: session, local, project or user", usage)
    return _Typed(suggested[int(place) - 1].kept(where[0].lower() if where else ""))


def _mode(card: Card, rest: str) -> _Typed:
    mode = next((mode for mode in MODES if mode.lower() == rest.lower()), None)
    if mode is None:
        wrong = f'"{excerpt(rest)}" is no permission mode'
        usage = f"{card.number} {WORDS['mode'].name} {'|'.join(MODES)}"
        raise LineError(wrong, usage)
    return _Typed(set_mode(mode))


def _instruction(card: Card, rest: str) -> _Typed:
    usage = WORDS["keep-going"].usage(card.number)
    match = _TIMES.match(rest)
    if match is None:
        return _Typed(rest)
    left = max(CAP - card.kept_going, 1)
    if not re.fullmatch("[0-9]{1,3}", match[1]) or not 0 < int(match[1]) <= left:
        wrong = f"#{card.number} was kept going {card.kept_going} times in a row already"
        raise LineError(f"times is a number from 1 to {left}: {wrong}", usage)
    if not card.event.session:  # an order about no session would be one about all
        raise LineError(f"#{card.number} names no session to be told again", usage)
    return _Typed(rest[match.end() :], repeats=int(match[1]) - 1)


def _content(card: Card, rest: str) -> _Typed:
    fields = card.event.fields
    content = read_values(rest, fields, card.number) if rest else None
    if content is None and isinstance(fields.get("requested_schema"), dict):
        content = {}
    return _Typed(content)


def _output(card: Card, rest: str) -> _Typed:
    """Replace the tool's output: a text by a text, anything else by JSON."""
    if isinstance(card.event.fields.get("tool_response"), str):
        return _Typed(rest)
    try:
        return _Typed(parse_value(rest.encode(errors="replace")))
    except PayloadError as error:
        wrong = f"the output is JSON, and what you wrote cannot be read: {error}"
        raise LineError(wrong, WORDS["output"].usage(card.number)) from error


_READERS: Mapping[Field, Callable[[Card, str], _Typed]] = {
    Field.NOTE: _note,
    Field.ANSWERS: _answers,
    Field.INPUT: _input,
    Field.SUGGESTION: _suggestion,
    Field.MODE: _mode,
    Field.INSTRUCTION: _instruction,
    Field.CONTENT: _content,
    Field.OUTPUT: _output,
}
"""How the fields are read that are more than the text as it was typed."""


def line_decision(act: Act, card: Card, rest: str) -> LineDecision:
    """Return the decision of an act, with what is typed behind its word; raises LineError."""
    if not rest and act.field_at(card.choices) is Field.REASON:
        word = Word(act)
        raise LineError(f'"{word.name}" needs something after it', word.usage(card.number))
    read = _READERS.get(act.field)
    typed = _Typed(rest) if read is None else read(card, rest)
    decision = act.decision(typed.value, card.choices)
    return LineDecision(decision, typed.remarks, typed.repeats)


# What the rules of "always allow" and "always deny" would have done, in words that the caller makes
# safe to show.


def tried(offering: Offering) -> str:
    """Return on what the rules were tried."""
    if offering.tried_on is None:
        return "there is no record that they could be tried on"
    return f"tried on the last {plural(offering.tried_on, 'call')} of this kind on record"


def covered(offer: Offer) -> str:
    """Return how many past calls the rule would have decided."""
    return f"would have denied {offer.covered}" if offer.denies else f"covers {offer.covered}"


def undoing(offer: Offer) -> str:
    """Return how many past decisions the rule would have turned round; empty for none."""
    if not offer.undone:
        return ""
    were = "call that was" if offer.undone == 1 else "calls that were"
    if offer.denies:
        return f"would have denied {offer.undone} {were} ALLOWED"
    return f"would have let through {offer.undone} {were} DENIED"


def undone(offer: Offer, most: int) -> tuple[Sequence[str], str]:
    """Return the calls that the rule would have decided otherwise, newest first, each once.

    At most `most` are named; the text counts the rest.
    """
    calls: Counter[str] = Counter()
    for event, times in offer.undoes:
        calls[summary(event, str)] += times
    shown = list(calls.items())[:most]
    more = offer.undone - sum(times for _, times in shown)
    lines = [what if times == 1 else f"{what}  ({times} times)" for what, times in shown]
    return lines, f"… and {more} more" if more else ""


def end_of(life: timedelta | None) -> datetime | None:
    """Return when a rule ends that lives so long from now on; None if it never ends."""
    return None if life is None else (datetime.now(UTC) + life).replace(microsecond=0)


LIVES: Mapping[str, Callable[[Offer], datetime | None]] = {
    "offered": lambda offer: offer.expires,
    "day": lambda _: end_of(timedelta(days=1)),
    "forever": lambda _: None,
}
"""How long a rule can be made to hold, by a word for it; first as it is offered."""
