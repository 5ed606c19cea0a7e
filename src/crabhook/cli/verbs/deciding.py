"""The verbs that decide cards: those of the table of acts that are a verb.

Each looks at the cards first, with the key that lies open, and decides then.
"""

import argparse
import asyncio
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial
from itertools import takewhile

from crabhook.cli.commands import CHANGED, COUNTED, DONE, FAILED, NOT_ALLOWED, TOO_LATE, Subcommand
from crabhook.cli.team.asking import opening_keys
from crabhook.cli.terminal import ask
from crabhook.cli.verbs.attached import (
    Attached,
    Teller,
    at_desk_of,
    command,
    folder_of,
    looking_keys,
    name_of,
    seen,
)
from crabhook.datatypes import frozen
from crabhook.desk import commands
from crabhook.desk.acts import ACTS, OFFERED, Act, Field
from crabhook.model.card import Card, State
from crabhook.model.errors import CrabhookError
from crabhook.model.jsontext import Value
from crabhook.model.statements import WHO_SIGNS, is_strict
from crabhook.present.document import NOTHING_RISKY
from crabhook.present.phrases import ago
from crabhook.present.safe import safe
from crabhook.present.sentence import MARKS, sentence
from crabhook.present.summary import agent_name, place
from crabhook.ui.commands.decide import line_decision
from crabhook.ui.commands.words import LineError
from crabhook.ui.console import say, say_json

TO_THE_MODEL = "What you say goes to the model"

_OPTIONS: Mapping[Field, tuple[str, ...]] = {
    Field.NOTHING: ("several",),
    Field.NOTE: ("several", "allow"),
    Field.REASON: ("deny",),
    Field.ANSWERS: ("one", "answer"),
    Field.INPUT: ("one", "edit"),
}
"""What a verb takes for the field of its act; any other is a text about one card."""

CODES: Mapping[type[commands.Outcome], int] = {
    commands.Done: DONE,
    commands.TooLate: TOO_LATE,
    commands.Stale: CHANGED,
    commands.Refused: FAILED,
    commands.NotAllowed: NOT_ALLOWED,
}
RESULTS = {
    DONE: "done",
    COUNTED: "counted",
    TOO_LATE: "too-late",
    CHANGED: "changed",
    NOT_ALLOWED: "not-allowed",
}
"""The codes as `--json` names them; any other is "refused"."""


@frozen
class Wish:
    """A verb's decision for cards.

    `rest` follows the plain desk's word; `seen` names the revision looked at, or is empty.
    """

    verb: str
    rest: str = ""
    seen: str = ""

    @property
    def act(self) -> Act:
        """The act that the verb is."""
        return ACTS[self.verb]


@frozen
class CardResult:
    """The result of a card, in words for a person, with its exit code.

    `ended`: how the card ended, as in JSON; empty if it waits or is unknown.
    """

    number: int
    words: str
    code: int
    ended: Mapping[str, Value] = field(default_factory=dict, compare=False)

    @property
    def data(self) -> dict[str, Value]:
        """Return the result for `--json`."""
        result = RESULTS.get(self.code, "refused")
        return {"number": self.number, "result": result, "words": self.words, **self.ended}


def answers(words: Sequence[str]) -> str:
    """Return the answers of a command line as the plain desk writes them.

    The shell took the quotes off: a word that is no list of option numbers is own words.
    """
    written = []
    for word in words:
        place, equals, text = word.partition("=")
        if equals and not re.fullmatch(r"[0-9]+(,[0-9]+)*", text):
            escaped = text.replace("\\", "\\\\").replace('"', '\\"')
            written.append(f'{place}="{escaped}"')
        else:
            written.append(word)
    return " ".join(written)


def denied(words: Sequence[str], reason: str) -> tuple[tuple[int, ...], str]:
    """Return the cards that a denial names first, and the words behind them; raises LineError."""
    numbers = tuple(int(word) for word in takewhile(re.compile(r"[0-9]{1,18}").fullmatch, words))
    if not numbers:
        raise LineError(f"{words[0]!r} is no card's number", "crabhook deny 1 WHY")
    why = " ".join(words[len(numbers) :])
    if why and reason:
        raise LineError("a denial has one reason", "the words behind the number, or --reason")
    return numbers, why or reason


_BARE = "nobody signs a denial without words, so its hook denies in its own fixed words"


def described(card: Card) -> str:
    """Return a card on one line for a person: who wants what, and how much can go wrong."""
    risk = "; ".join(effect.words for effect in card.risk.effects) or NOTHING_RISKY
    mark = MARKS[card.risk.level][1]
    who_asks = f"{agent_name(card.event)} · {place(card.event)}"
    risk_shown = f"{mark} {risk}".lstrip()
    return f"#{card.number} {who_asks} {sentence(card).whole}  [{risk_shown}]"


def looked_at(wish: Wish, number: int, here: Attached) -> Card | CardResult:
    """Return a card, or why it cannot be decided as it was seen."""
    card = here.replica.card(number)
    if card is None:
        return CardResult(number, f"there is no #{number}: see `crabhook pending`", FAILED)
    if card.state is not State.WAITING:
        return _told(card, f"#{number} has ended: {_ending(card, here)}", TOO_LATE, here)
    if wish.seen and not seen(card).startswith(wish.seen):
        words = f"#{number} is not what was seen: look again with: crabhook pending {number} --json"
        return CardResult(number, words, CHANGED)
    return card


def _ending(card: Card, here: Attached) -> str:
    """Return how a card ended, by whom and at which device, and how long ago."""
    by = f" by {name_of(card.decided.by)}" if card.decided else ""
    return f"{card.outcome}{by}, {ago(here.replica.now() - card.ended_at)} ago"


def _told(card: Card, words: str, code: int, here: Attached) -> CardResult:
    teller = Teller(here.replica.now, here.replica.looking)
    return CardResult(card.number, words, code, teller.ended(card))


async def decide(wish: Wish, number: int, here: Attached) -> CardResult:
    """Decide one card; raises CrabhookError."""
    card = looked_at(wish, number, here)
    if isinstance(card, CardResult):
        return card
    if wish.act.field_at(card.choices) is Field.REASON and not wish.rest:
        raise LineError(f"#{card.number}: a denial has a reason", "--reason TEXT")
    decision = line_decision(wish.act, card, wish.rest).decision
    if wish.act.field is Field.INPUT:
        await here.submit(commands.AskObjections(card.number, decision))
        if objections := here.replica.objections(card.number, decision):
            words = f"#{number} cannot be changed so from here: {'; '.join(objections)}"
            return CardResult(number, f"{words}: decide it at a desk", FAILED)
    outcome = await here.submit(commands.Decide(card.number, card.revision, decision))
    card, code = here.replica.card(number) or card, CODES[type(outcome)]
    if isinstance(outcome, commands.Done) and card.still_needs:
        return _told(card, f"#{number}: {card.still_needs}", COUNTED, here)
    if isinstance(outcome, commands.Done):
        return _told(card, f"#{number} {decision.verdict.done}", code, here)
    words = f"#{number}: {outcome.why}"
    if isinstance(outcome, commands.TooLate) and card.state is not State.WAITING:
        words = f"#{number} has ended: {_ending(card, here)}, this answer changed nothing"
    return _told(card, words, code, here)


def _deciding(verb: str, arguments: argparse.Namespace) -> int:
    with asyncio.Runner() as loop:  # one for both: gRPC goes on calling the one that it began with
        return _decided(loop, verb, arguments)


def _decided(loop: asyncio.Runner, verb: str, arguments: argparse.Namespace) -> int:
    folder = folder_of(arguments)
    act = ACTS[verb]
    numbers, rest = _written(act, arguments)
    wish = Wish(verb, rest, arguments.seen)
    keys = looking_keys(folder)
    fit, results = loop.run(at_desk_of(folder, keys, partial(_look, wish, numbers)))
    if not fit:
        return _said(results, json=arguments.json)
    many = len(fit) > 1
    shown = sys.stderr if arguments.json else sys.stdout
    if many or not act.closes:
        shown.writelines(f"{safe(described(card))}\n" for card in fit)
    if any(map(is_strict, fit)):
        bare = act.closes and rest in ("", commands.BARE_DENIAL)
        shown.write(f"{_BARE if bare else WHO_SIGNS}.\n")
    shown.flush()
    if not act.closes:  # to pass or to hand back lets a call run where the mode asks nobody
        keys = opening_keys(folder, f"This may let {'them' if many else 'it'} happen")
    elif rest not in ("", commands.BARE_DENIAL):
        keys = opening_keys(folder, TO_THE_MODEL)
    elif many and not arguments.yes:
        meant = ask(f"{act.name} these {len(fit)}? [y/N] ", shown=True)
        if meant.strip().lower() != "y":
            raise CrabhookError("nothing was decided")

    async def decide_all(here: Attached) -> None:
        for card in fit:
            as_seen = Wish(verb, rest, seen(card))
            results.append(await decide(as_seen, card.number, here))

    loop.run(at_desk_of(folder, keys, decide_all))
    return _said(results, json=arguments.json)


def _written(act: Act, arguments: argparse.Namespace) -> tuple[tuple[int, ...], str]:
    """Return the cards that a command line names, and what it says for the field of the act."""
    rest: str = getattr(arguments, "rest", "")
    if act.field is Field.REASON:
        numbers, rest = denied(arguments.words, rest)
        return numbers, rest or commands.BARE_DENIAL
    if act.field is Field.ANSWERS:
        rest = answers(arguments.answers)
    return tuple(getattr(arguments, "numbers", ()) or (arguments.number,)), rest


async def _look(
    wish: Wish, numbers: Sequence[int], here: Attached
) -> tuple[list[Card], list[CardResult]]:
    """Return the cards that can be decided, and why each other cannot."""
    fit, results = list[Card](), list[CardResult]()
    for number in dict.fromkeys(numbers):
        looked = looked_at(wish, number, here)
        if isinstance(looked, Card):
            fit.append(looked)
        else:
            results.append(looked)
    return fit, results


def _said(results: Sequence[CardResult], *, json: bool) -> int:
    """Print the result of each card; return the worst exit code."""
    for result in sorted(results, key=lambda result: result.number):
        say_json(result.data) if json else say(result.words)
    return max((result.code for result in results), default=DONE)


def _decider(act: Act) -> Subcommand:
    tables = _OPTIONS.get(act.field, ("one", "text"))
    return command(act.id, partial(_deciding, act.id), *tables, "decide")


VERBS: Mapping[str, Subcommand] = {act.id: _decider(act) for act in OFFERED if act.verb}
"""The verbs of acts: a person shows their presence for each that does not close."""
