"""Which words fit a card: those its event can be told, and its tool gives a sense to."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from crabhook.broker.card import Card
from crabhook.broker.states import State
from crabhook.model.choices import Beside
from crabhook.model.decision import Verdict
from crabhook.model.elicitation import read_fields
from crabhook.model.errors import QuestionError
from crabhook.model.question import read_questions
from crabhook.model.suggestion import Suggestion, read_suggestions
from crabhook.ui.answer_line import example
from crabhook.ui.form_line import accepting
from crabhook.ui.summary import is_plan, is_question
from crabhook.ui.words import WORDS

_Fits: TypeAlias = Callable[[Card], bool]


def fitting(card: Card) -> list[str]:
    """Return how the words that fit a card which waits are written; nothing for one that ended."""
    if card.state is not State.WAITING:
        return []
    return [_usage(name, card) for name, fits in _FITS.items() if fits(card)]


def other_words(card: Card) -> str:
    """Return what can be written about a card where something else could not."""
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


def _edits(card: Card) -> bool:
    return Beside.INPUT in card.choices.beside and _allowed_as_it_is(card)


def _suggests(card: Card) -> bool:
    return bool(suggestions(card)) and Beside.PERMISSIONS in card.choices.beside


def _sets_mode(card: Card) -> bool:
    return is_plan(card.event) and Beside.PERMISSIONS in card.choices.beside


# In the order in which they are offered.
_FITS: Mapping[str, _Fits] = {
    "answer": _answerable,
    "accept": _takes(Verdict.ACCEPT),
    "allow": _allowed_as_it_is,
    "keep-going": _takes(Verdict.KEEP_GOING),
    "retry": _takes(Verdict.RETRY),
    "deny": _takes(Verdict.DENY),
    "decline": _takes(Verdict.DECLINE),
    "cancel": _takes(Verdict.CANCEL),
    "ask": _takes(Verdict.ASK),
    "pass": _takes(Verdict.PASS),
    "edit": _edits,
    "mode": _sets_mode,
    "always": _suggests,
    "remember": _carries(Beside.RULE),
    "deny --interrupt": _carries(Beside.INTERRUPT),
    "output": _carries(Beside.OUTPUT),
    "defer": _takes(Verdict.DEFER),
    "halt": _carries(Beside.HALT),
    "tell": _carries(Beside.MESSAGE),
}
