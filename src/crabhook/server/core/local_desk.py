"""An operator's desk on a runner in this process."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import Any, TypeAlias

from crabhook.broker.cards import StaleError, TooLateError
from crabhook.broker.messages import Answered, Commanded, Fact, LookedAt, RuleAdded, Rulings
from crabhook.broker.orders import against
from crabhook.desk.commands import (
    Ask,
    AskContext,
    AskDesks,
    AskEntry,
    AskHistory,
    AskObjections,
    AskOffers,
    Claim,
    Command,
    Decide,
    DecideWithRule,
    Done,
    KeepRule,
    NotAllowed,
    Outcome,
    Refused,
    Stale,
    TooLate,
)
from crabhook.desk.updates import (
    Claimed,
    ContextReady,
    DesksRead,
    EntryRead,
    News,
    ObjectionsReady,
    Offering,
    OffersReady,
    Past,
    Settled,
    Snapshot,
    Update,
)
from crabhook.model.actor import Actor, Operator
from crabhook.model.card import Card, Risk, State
from crabhook.model.decision import Verdict
from crabhook.model.errors import CrabhookError
from crabhook.model.proof import CallProof
from crabhook.server.core.attendance import Settle, Submitted
from crabhook.server.core.changed_calls import ChangedCalls
from crabhook.server.core.runner import Runner

_LOG = logging.getLogger(__name__)

_SMALL = (None, None, None)

MayNot: TypeAlias = Callable[[], str]
"""Returns the reason why an operator may not give a command; empty for a permission."""

JUDGED_AGAIN = 100  # cards, after a rule from the history


def at_desk(by: Actor) -> Actor:
    """Return the person at a desk, from whichever address and with whichever key they come."""
    return replace(by, address="", shown="") if isinstance(by, Operator) else by


class LocalDesk:
    """A `desk.updates.Desk` on a runner. `by` is its operator.

    `changes`: what desks of the same person asked about edits, where several share that.
    """

    def __init__(self, runner: Runner, by: Actor, changes: ChangedCalls | None = None) -> None:
        self._runner, self._queries, self._by = runner, runner.queries, by
        self._giver = at_desk(by)
        self._streams: list[Callable[[News], object]] = []
        self._changes = changes or ChangedCalls(runner.broker, runner.queries)

    def __repr__(self) -> str:
        return f"<LocalDesk of {self._by} on {self._runner!r}>"

    # Updates go out.

    def subscribe(self, listener: Callable[[Update], object]) -> Callable[[], None]:
        """Send `listener` a snapshot, then every update; return how to stop."""
        number = 0

        def stream(news: News) -> None:
            nonlocal number
            number += 1
            listener(Update(number, _to_one(news, self._by)))

        def stop() -> None:
            leave()
            if stream in self._streams:
                self._streams.remove(stream)

        self._streams.append(stream)
        leave = self._runner.listen(stream)
        return stop

    def listen(self, listener: Callable[[News], object]) -> Callable[[], None]:
        """Send `listener` the news for this desk alone; return how to stop."""
        self._streams.append(listener)
        return partial(self._streams.remove, listener)

    def was_given(self, command: Command) -> bool:
        """Whether a command with this id was submitted before."""
        return (self._giver, command.id) in self._runner.submitted

    def _publish(self, news: News) -> None:
        self._runner.publish(self._streams, news)

    # Commands come in.

    def submit(self, command: Command) -> None:
        """Queue a command; `Settled` brings its outcome."""
        self.submit_if(lambda: "", command)

    def submit_if(self, may_not: MayNot, command: Command, proof: CallProof | None = None) -> None:
        """Queue a command; `may_not` is called at its turn, since rights may end meanwhile.

        `proof` goes on record with what the command does.
        """
        self._runner.do(partial(self._take, command, may_not, proof))

    def _take(self, command: Command, may_not: MayNot, proof: CallProof | None) -> None:
        """Carry a command out, or send its outcome again."""

        def settle(outcome: Outcome) -> None:
            ended = self._runner.writer_ended
            if ended and isinstance(outcome, TooLate | Stale):  # as what is not on record made it
                outcome = Refused(f"nothing was done: {ended}")
            self._publish(Settled(command.id, outcome))

        if why := may_not():
            settle(NotAllowed(why))
            return
        if isinstance(command, Ask | Claim):  # which changes nothing, and may be asked again
            self._carry_out(command, settle, proof)
            return
        key, content = (self._giver, command.id), _content(command)
        earlier = self._runner.submitted.get(key)
        if earlier is None:
            earlier = self._runner.submitted[key] = Submitted(content, asked_by=[settle])
            self._carry_out(command, partial(_settled, earlier), proof)
        elif earlier.content != content:
            settle(Refused("this desk has given another command the same id. Nothing was done"))
        elif earlier.outcome is None:
            earlier.asked_by.append(settle)
        else:
            settle(earlier.outcome)

    def _carry_out(self, command: Command, settle: Settle, proof: CallProof | None) -> None:
        if (reads := _READS.get(type(command))) is not None:
            work = partial(reads, self, command, settle)
        else:
            does = _DOES.get(type(command), LocalDesk._pass_on)
            work = partial(does, self, command, settle, proof)
        self._attempt(command, settle, work)

    def _attempt(self, command: Command, settle: Settle, work: Callable[[], None]) -> None:
        """Do a command's work, or settle it with the reason why it cannot be done."""
        try:
            work()
        except CrabhookError as error:
            outcome = self._outcome(error, command)
        except Exception:  # noqa: BLE001 - no exception crosses the desk's door
            _LOG.exception("a fault in carrying out %s", type(command).__name__)
            outcome = Refused("this could not be done: a fault, which the log tells of")
        else:
            return
        self._runner.after(partial(settle, outcome))

    def _outcome(self, error: CrabhookError, command: Command) -> Outcome:
        number = getattr(command, "card", 0)
        card, why = self._runner.broker.card(number), str(error)
        if isinstance(error, TooLateError):
            by = card.decided.by if card and card.decided else None
            return TooLate(why, by, card.ended_at if card else 0.0)
        if isinstance(error, StaleError) and card:
            return Stale(why, card.revision)
        return Refused(why)

    def _handle(self, fact: Fact, settle: Settle) -> None:
        def then(error: BaseException | None) -> None:
            wrong = f"it could not be recorded, and nobody was told of it: {error}"
            settle(Refused(wrong) if error else Done())

        self._runner.take(fact, then)

    # What each command does.

    def _decide(self, command: Decide, settle: Settle, proof: CallProof | None) -> None:
        number, decision = command.card, command.decision
        broker = self._runner.broker
        meant = broker.meant(number, decision)
        if meant is decision or not broker.changed(number, decision):
            self._answer(command, settle, proof, *self._changes.said(number, decision))
            return

        # A yes to a call as somebody else has changed it: what do the rules say of that now?
        def judged(rulings: Rulings, risk: Risk) -> None:
            answer = partial(self._answer, command, settle, proof, rulings, risk)
            self._runner.do(partial(self._attempt, command, settle, answer))

        self._changes.ask(number, meant, judged)

    def _answer(
        self,
        command: Decide,
        settle: Settle,
        proof: CallProof | None,
        rulings: Rulings,
        risk: Risk | None,
    ) -> None:
        fact = Answered(
            command.card,
            command.decision,
            self._by,
            self._runner.now(),
            rulings=rulings,
            seen=command.seen,
            risk=risk,
            proof=proof,
            electorate=self._runner.electorate_of(command.card),
            signed=command.signed,
        )
        self._handle(fact, settle)

    def _allow_with_rule(
        self, command: DecideWithRule, settle: Settle, proof: CallProof | None
    ) -> None:
        number, decision, seen = command.card, command.decision, command.seen
        broker = self._runner.broker
        broker.check_with_rule(
            number, decision, seen
        )  # so that nothing is written and then refused
        denies = decision.verdict is Verdict.DENY  # then the rule never allows what is denied now
        about = f"card #{number}"
        reason = decision.reason if denies else ""
        kept = self._queries.keep_rule(command.taken, about, self._by, denies=denies, reason=reason)
        now = self._runner.now()
        self._runner.take(Answered(number, decision, self._by, now, seen=seen, proof=proof))
        self._handle(RuleAdded(f"#{number}", kept, self._by, now), settle)
        self._judge_again(broker.alike(number), command.spares, denies=denies)

    def _keep_rule(self, command: KeepRule, settle: Settle, proof: CallProof | None) -> None:
        about = _entry(command.entry)
        kept = self._queries.keep_rule(command.taken, about, self._by)
        self._handle(RuleAdded(about, kept, self._by, self._runner.now(), proof), settle)
        self._judge_again(self._runner.broker.waiting()[:JUDGED_AGAIN], command.spares)

    def _judge_again(
        self, cards: Sequence[Card], spares: frozenset[int], *, denies: bool = False
    ) -> None:
        """Let a new rule decide waiting cards, but for those with an answer on its way.

        A person has decided these, with more than a rule can tell, and may still take it back.
        """
        spares |= self._runner.claims.held(self._runner.now())
        left = [card for card in cards if card.number not in spares]
        self._queries.judge_again(left, denies=denies)

    def _pass_on(self, command: Command, settle: Settle, proof: CallProof | None) -> None:
        """Let the broker carry it out; publish changed sessions before the outcome."""

        def publish_first(outcome: Outcome) -> None:
            self._runner.publish_sessions()
            settle(outcome)

        self._handle(Commanded(command, self._by, self._runner.now(), proof), publish_first)

    def _claim(self, command: Claim, settle: Settle) -> None:
        card = self._runner.broker.card(command.card)
        waits = card is not None and card.state is State.WAITING and not command.release
        claims, now = self._runner.claims, self._runner.now()
        if command.verdict is None:
            claims.take(self._by, command.card if waits else 0, now)
            if waits and card and card.ballot and isinstance(self._by, Operator):
                self._runner.take(LookedAt(command.card, self._by, now))
        elif waits:
            claims.hold(self._by, command.card, command.verdict, command.due, now)
        else:
            claims.let_go(self._by, command.card)
        settle(Done())

    # What each asks to be read.

    def _ready(self, settle: Settle, news: News) -> None:
        """Send what was read, then the outcome."""

        def deliver() -> None:
            self._publish(news)
            settle(Done())

        self._runner.do(deliver)

    def _ask_offers(self, command: AskOffers, settle: Settle) -> None:
        number, denies = command.entry, command.denies

        def deliver(offering: Offering) -> None:
            self._ready(settle, OffersReady(command.card, offering, number, denies))

        def found(past: Past | None) -> None:
            if past is None:
                deliver(Offering(why=f"{_entry(number)} is no longer kept"))
            else:
                self._queries.offers(_entry(number), past.card.event, deliver, denies=denies)

        if number:
            self._queries.entry(number, found)
        else:
            event = self._known(command.card).event
            self._queries.offers(f"card #{command.card}", event, deliver, denies=denies)

    def _ask_history(self, command: AskHistory, settle: Settle) -> None:
        self._queries.history(command.before, partial(self._ready, settle))

    def _ask_entry(self, command: AskEntry, settle: Settle) -> None:
        def deliver(past: Past | None) -> None:
            self._ready(settle, EntryRead(command.entry, past))

        self._queries.entry(command.entry, deliver)

    def _ask_context(self, command: AskContext, settle: Settle) -> None:
        card = self._known(command.card)

        def deliver(words: str, prompt: str) -> None:
            alike = self._runner.day.alike(card.event)
            self._ready(settle, ContextReady(command.card, words, prompt, *alike))

        self._queries.words(card, deliver)

    def _ask_desks(self, _: AskDesks, settle: Settle) -> None:
        self._ready(settle, DesksRead(self._runner.attendance.attached()))

    def _known(self, number: int) -> Card:
        card = self._runner.broker.card(number)
        if card is None:
            raise TooLateError(f"there is no #{number}")
        return card

    def _ask_objections(self, command: AskObjections, settle: Settle) -> None:
        number, decision = command.card, command.decision

        def deliver(rulings: Rulings, risk: Risk) -> None:
            objections = against(rulings.values())
            self._ready(settle, ObjectionsReady(number, decision, objections, risk))

        self._changes.ask(number, decision, deliver)


def _to_one(news: News, who: Actor) -> News:
    """Return news as an operator sees it, without this operator's own claim."""
    match news:
        case Claimed():
            return news.of(lambda operator: operator != who)
        case Snapshot():
            claims = tuple(claimed.of(lambda operator: operator != who) for claimed in news.claims)
            return replace(news, claims=claims, me=who)
    return news


def _entry(number: int) -> str:
    return f"entry {number} of the history"


def _content(command: Command) -> object:
    """Return a small value that is equal for equal commands."""
    decision = getattr(command, "decision", None)
    if decision is None or (decision.updated_input, decision.output, decision.content) == _SMALL:
        return command
    return blake2b(repr(command).encode()).digest()


def _settled(submitted: Submitted, outcome: Outcome) -> None:
    submitted.outcome = outcome
    asked_by, submitted.asked_by = submitted.asked_by, []
    for settle in asked_by:
        settle(outcome)


_DOES: Mapping[type[Command], Callable[[LocalDesk, Any, Settle, CallProof | None], None]] = {
    Decide: LocalDesk._decide,  # noqa: SLF001 - the class's own table; else `_pass_on`
    DecideWithRule: LocalDesk._allow_with_rule,  # noqa: SLF001
    KeepRule: LocalDesk._keep_rule,  # noqa: SLF001
}
_READS: Mapping[type[Command], Callable[[LocalDesk, Any, Settle], None]] = {
    Claim: LocalDesk._claim,  # noqa: SLF001 - as above; it is not on record
    AskOffers: LocalDesk._ask_offers,  # noqa: SLF001
    AskHistory: LocalDesk._ask_history,  # noqa: SLF001
    AskEntry: LocalDesk._ask_entry,  # noqa: SLF001
    AskContext: LocalDesk._ask_context,  # noqa: SLF001
    AskDesks: LocalDesk._ask_desks,  # noqa: SLF001
    AskObjections: LocalDesk._ask_objections,  # noqa: SLF001
}
