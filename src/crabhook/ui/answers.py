"""The operator's answers on their way to the desk; each is held for a moment, to take back.

Commands of other keys wait here too, for the moment in which a key may prove to be of a paste.

The laws of this file: a held answer decides nothing. It is dropped when its card ends or grows,
when it is taken back, and when the desk is closed. While it is held or on its way, only a stricter
answer takes its place. A key meant for another card must not turn a denial into an allow. A rule
that goes with the allow of another card spares its card. Other desks see what is held.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import ceil

from crabhook.datatypes import frozen
from crabhook.desk.commands import (
    Ask,
    Claim,
    Command,
    DecideWithRule,
    Done,
    KeepRule,
    Outcome,
    Refused,
    TakenOffer,
    decide,
)
from crabhook.desk.replica import Replica, Then
from crabhook.model.card import Card, Level, State
from crabhook.model.decision import Decision, Verdict
from crabhook.present.phrases import ago, joined
from crabhook.present.sentence import by_another, too_late
from crabhook.present.summary import asked_again, brief, said

# The verdicts with which a slip of a finger could do harm: the plain desk holds these alone.
HELD_BACK = frozenset({Verdict.ALLOW, Verdict.ACCEPT, Verdict.RETRY})
_STRICTNESS = {
    Verdict.PASS: 1,
    Verdict.DEFER: 2,
    Verdict.ASK: 2,
    Verdict.DENY: 3,
    Verdict.DECLINE: 3,
    Verdict.CANCEL: 3,
}
"""How much a verdict holds back; those that are not here let something happen."""
_AND_END_TURN, _AND_HALT = 4, 5
SPARE = 1.0  # seconds that a card has left at least when its answer is sent
UNCONFIRMED = 0.5  # seconds without an outcome from which the operator sees that it is awaited


def strictness(card: Card, decision: Decision) -> int:
    """Return how much a decision about a card holds back; 0 lets something happen."""
    verdict, choices = decision.verdict, card.choices
    if decision.halt:
        return _AND_HALT
    if verdict in choices.runs or Verdict.KEEP_GOING in choices.verdicts:
        return 0  # of a stop, neither end is the stricter one
    if Verdict.RETRY in choices.verdicts:
        return 0 if verdict is Verdict.RETRY else _STRICTNESS[Verdict.DENY]
    return _AND_END_TURN if decision.interrupt else _STRICTNESS.get(verdict, 0)


@frozen
class Seen:
    """A card in the revision that the operator saw."""

    card: Card
    revision: int


@frozen
class HeldAnswer:
    """An answer that is not sent yet. `since` and `due` are on the desk's clock."""

    card: Card
    seen: int  # the revision that the answer is for
    decision: Decision
    since: float
    due: float
    turn: int = 0  # answers of one turn were given together and are taken back together
    rule: TakenOffer | None = None  # written with the answer, for such calls from now on
    then: Then | None = None  # gets the outcome in place of the operator

    def left(self, now: float) -> float:
        """Return which part of the moment is left, from 1 down to 0."""
        return max(self.due - now, 0) / (self.due - self.since)

    def seconds(self, now: float) -> int:
        """Return how many seconds are left, the last counted whole."""
        return max(ceil(self.due - now), 0)


@frozen
class HeldCommand:
    """A command that is submitted at `due`, on the desk's clock; `then` gets its outcome."""

    command: Command
    then: Then
    due: float
    turn: int


class Answers:
    """Sends the operator's answers, each once; `say` gets what the desk refuses."""

    def __init__(  # noqa: PLR0913 - what differs between the two desks
        self,
        desk: Replica,
        take_back: float,
        say: Callable[[str], object],
        danger_times: float = 1.0,
        *,
        names: bool = True,
        undo: str = "u",
        waits_again: Callable[[int], object] = lambda _: None,
    ) -> None:
        """Hold answers for `take_back` seconds, those to a danger `danger_times` as long.

        `names` tells who decided a card before an answer came. `undo` is what takes an answer back,
        with a place for the card's number. `waits_again` hears of a card whose answer was dropped.
        """
        self._desk, self._say, self._names = desk, say, names
        self._undo, self._waits_again = undo, waits_again
        self._take_back, self._danger_times = take_back, danger_times
        self._held: dict[int, HeldAnswer] = {}
        self._commands: list[HeldCommand] = []
        self._sent: dict[int, HeldAnswer] = {}  # by card, until the desk tells the outcome
        self._gone: list[HeldAnswer] = []  # the answers of one turn that were sent last
        self._gone_at = 0.0
        self.turn = 0  # how often an answer or a command was given

    def held(self, number: int) -> HeldAnswer | None:
        """Return the answer to that card which waits to be sent."""
        return self._held.get(number)

    def on_its_way(self, number: int) -> HeldAnswer | None:
        """Return the answer to that card that is held, or was sent and has no outcome yet."""
        return self._held.get(number) or self._sent.get(number)

    def blocks(self, card: Card, decision: Decision | None = None) -> str:
        """Return why a card is not to be decided now, or worked on; empty if it is free.

        A `decision` that is stricter than the held answer may take its place.
        """
        number = card.number
        if held := self._held.get(number):
            strict = strictness(card, held.decision)
            if decision is not None and strictness(card, decision) > strict:
                return ""
            done, undo = said(card.event, held.decision).lower(), self._undo.format(number)
            return f"#{number} is being {done}: {undo} takes it back first"
        if number in self._sent:
            return f"#{number} has your answer, and the server has not confirmed it yet"
        return ""

    def unconfirmed(self, number: int) -> HeldAnswer | None:
        """Return the answer to that card which was sent a while ago and has no outcome yet."""
        sent = self._sent.get(number)
        return sent if sent is not None and self._desk.now() >= sent.due + UNCONFIRMED else None

    @property
    def waiting(self) -> int:
        """How many answers are held."""
        return len(self._held)

    @property
    def due(self) -> float | None:
        """When the next answer or command will be sent."""
        answers = (held.due for held in self._held.values())
        commands = (held.due for held in self._commands)
        return min((*answers, *commands), default=None)

    def give(
        self,
        seen: Iterable[Seen],
        decision: Decision,
        rule: TakenOffer | None = None,
        then: Then | None = None,
    ) -> None:
        """Hold one answer to some cards, or send it; it replaces only a less strict answer.

        An allow or a denial may bring a `rule` for such calls. `then` gets the outcome of each sent
        answer. An answer is sent only while its card waits for it.
        """
        self.turn += 1
        now, together = self._desk.now(), list[Seen]()
        for seen_card in seen:
            if why := self.blocks(seen_card.card, decision):
                self._say(why) if then is None else then(Refused(why))
            else:
                together.append(seen_card)
        risks = (self.as_given(seen_card.card, decision).risk for seen_card in together)
        danger = any(risk.level is Level.DANGER for risk in risks)
        moment = self._take_back * (self._danger_times if danger else 1)
        for seen_card in together:
            card = seen_card.card
            self._held.pop(card.number, None)
            due = min(now + moment, card.wait_until - SPARE)
            held = HeldAnswer(card, seen_card.revision, decision, now, due, self.turn, rule, then)
            if due > now:
                self._held[card.number] = held
                self._desk.submit(Claim(card.number, verdict=decision.verdict, due=due))
            else:
                self._send(held)

    def sparing(self, command: Command) -> Command:
        """Return a command so that a rule which it writes spares the cards answered here.

        A card with an answer held, or on its way, gets that answer and not the rule's allow.
        """
        if not isinstance(command, DecideWithRule | KeepRule):
            return command
        own = {command.card} if isinstance(command, DecideWithRule) else set[int]()
        return replace(command, spares=frozenset((*self._held, *self._sent)) - own)

    def submit(self, command: Command, then: Then, within: float = 0.0) -> None:
        """Submit a command; hold it for `within` seconds first if it changes something."""
        if isinstance(command, Ask) or not within:
            self._desk.submit(command, then)
            return
        self.turn += 1
        self._commands.append(HeldCommand(command, then, self._desk.now() + within, self.turn))

    def submit_due(self) -> None:
        """Submit the held commands that are due, in their order."""
        while self._commands and self._commands[0].due <= self._desk.now():
            held = self._commands.pop(0)
            self._desk.submit(held.command, held.then)

    def drop_since(self, turn: int) -> None:
        """Drop the held answers and commands that were given after that `turn`."""
        self._commands = [held for held in self._commands if held.turn <= turn]
        for number in [number for number, held in self._held.items() if held.turn > turn]:
            self.drop(number)

    def given(self, card: Card) -> Card:
        """Return a card with what the answer decides that is held for it, as if it were sent."""
        held = self._held.get(card.number)
        return card if held is None else self.as_given(card, held.decision)

    def as_given(self, card: Card, decision: Decision) -> Card:
        """Return a card as a decision would leave it, with the risk of what that changes it to."""
        risk = None
        if decision.updated_input is not None:
            risk = self._desk.changed_risk(card.number, decision)
        changed = card.given(decision)
        return changed if risk is None else replace(changed, risk=risk)

    def last(self, number: int | None) -> int | None:
        """Return that card if an answer to it is held, or else the card answered last, or None."""
        return number if number in self._held else next(reversed(self._held), None)

    def take_back(self, number: int | None) -> str:
        """Drop the answer held for that card, or else the last answer, with all of its turn.

        Return a sentence about it.
        """
        if (number := self.last(number)) is None:
            return self.too_late()
        turn = self._held[number].turn
        together = [each for each, held in self._held.items() if held.turn == turn]
        for each in together:
            self.drop(each)
        if len(together) > 1:
            return f"{len(together)} taken back, they wait for you again"
        return f"#{number} taken back, it waits for you again"

    def too_late(self) -> str:
        """Return that nothing is held, and what was sent last, and when."""
        if not self._gone:
            return "nothing to take back: you have given no answer yet"
        number, more = self._gone[-1].card.number, len(self._gone) - 1
        which = f"#{number} and {more} more were" if more else f"#{number} was"
        return f"too late: {which} sent {ago(self._desk.now() - self._gone_at)} ago"

    def drop(self, number: int) -> None:
        """Forget the answer held for that card, and let the other desks know."""
        if (held := self._held.pop(number, None)) is not None:
            self._desk.submit(Claim(number, release=True, verdict=held.decision.verdict))
            self._waits_again(number)

    def news(self, card: Card) -> str:
        """Take in a changed card; say so if it makes a held answer void."""
        held = self._held.get(card.number)
        if held is None:
            return ""
        if card.state is not State.WAITING:
            del self._held[card.number]
            why = f" ({brief(card.why)})" if card.why else ""
            by = by_another(card, self._desk) if self._names else ""
            ended = joined(f"#{card.number} {card.outcome}{why}", by, by=" ")
            return f"{ended}: your answer changed nothing"
        if asked_again(held.card, card):
            self.drop(card.number)
            return f"your answer was not sent: #{card.number} was asked again, there is more to see"
        return ""

    def tick(self) -> None:
        """Send the answers that are due, those with a rule last (it spares what was sent).

        Commands that are due follow.
        """
        now = self._desk.now()
        ripe = [held for held in self._held.values() if held.due <= now]
        ripe.sort(key=lambda held: held.rule is not None)
        for held in ripe:
            del self._held[held.card.number]
        for held in ripe:
            self._send(held)
        self.submit_due()

    def _send(self, held: HeldAnswer) -> None:
        number, seen, decision, rule = held.card.number, held.seen, held.decision, held.rule
        denies, done = decision.verdict is Verdict.DENY, decision.verdict.done
        where = self._desk.offers(number, denies=denies).where if rule is not None else ""

        def settled(outcome: Outcome) -> None:
            if self._sent.get(number) is held:
                del self._sent[number]
            if outcome != Done():
                self._waits_again(number)
            if held.then is not None:
                held.then(outcome)
            elif rule is not None:
                self._say(outcome.why or f"#{number} {done}, and the rule WRITTEN in {where}")
            else:
                card = self._desk.card(number) if self._names else None
                why = too_late(outcome, card, self._desk)
                self._say(why if not why or f"#{number}" in why else f"#{number}: {why}")

        self._sent[number] = held
        same = [answer for answer in self._gone if answer.turn == held.turn]
        self._gone, self._gone_at = [*same, held], self._desk.now()
        self._desk.submit(self.sparing(decide(number, seen, decision, rule)), settled)
