"""The broker's state, and the changes that several of its handlers make."""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from heapq import heappush
from itertools import count
from operator import and_
from typing import TYPE_CHECKING

from crabhook.broker.call_outcomes import FollowedCalls
from crabhook.broker.cards import CardIndex, Happening, after, named, same_agent
from crabhook.broker.messages import (
    Delivered,
    Effect,
    FeedLine,
    NoteToldOf,
    Refusal,
    Refuse,
    Resolve,
    Show,
    WakeAt,
)
from crabhook.broker.orders import KeepGoingCounter, Orders
from crabhook.broker.pending import (
    LIMITS,
    NO_CONNECTION,
    Limits,
    PendingRequests,
    Tickets,
)
from crabhook.broker.recent import Deduplicator, RecentDecisions
from crabhook.broker.sessions.live import LiveSessions
from crabhook.broker.sessions.notes import Notes
from crabhook.datatypes import Bounded
from crabhook.model import wording
from crabhook.model.actor import Actor, EndReason, Nobody, Operator
from crabhook.model.card import ONCE, Card, FeedEntry, Leg, State, TimesAsked
from crabhook.model.decision import Beside, Choices, Decided, Decision, Verdict, no_opinion
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import compact, start_of
from crabhook.model.order import LET_ONCE_FOR, RULED_FOR, Order, Standing
from crabhook.model.session import Note, SessionKey
from crabhook.model.signing import DecisionSignature
from crabhook.model.statements import WHO_SIGNS, is_strict
from crabhook.platforms.event_table import Held, Phase
from crabhook.platforms.interface import Platform

if TYPE_CHECKING:
    from crabhook.model.ballot import Ballot

FEED_KEPT = 500
FILES_KEPT = 1024  # requests that wait, with the files they change
FROM_OPERATOR = "Note from the operator"
REFUSED_TOGETHER = 60.0  # seconds after which a session's refusal gets a new line
_NO_MORE = "was taken back: its call may not run any more"
_TurnedAway = tuple[str, str, Refusal]


class BrokerState:
    """What the broker knows: cards, pending requests, their connections, orders, and the feed."""

    def __init__(self, platforms: Mapping[str, Platform], bounds: Limits = LIMITS) -> None:
        self.platforms = platforms
        self.now = 0.0  # the time of the fact being handled
        self.cards = CardIndex()
        self.ballots: dict[int, Ballot] = {}  # of the waiting cards that have one, by number
        self.asked: dict[int, TimesAsked] = {}  # of the waiting cards that stayed open, by number
        self.pending = PendingRequests(bounds)
        self.deadlines: list[tuple[float, str]] = []
        self.recent = RecentDecisions()
        self.followed = FollowedCalls(platforms)
        self.tickets = Tickets()
        self.orders = Orders()
        self.keep_going = KeepGoingCounter()
        self.duplicates = Deduplicator()
        self.expected_back: tuple[float, list[str]] = (0.0, [])
        self.decided_before: set[str] = set()  # answers of an earlier server, not fetched yet
        self.notes = Notes()
        self.sessions = LiveSessions(platforms, self._waiting_in, self.notes.of)
        self.same_file, self.open_for = bounds.same_file, bounds.open_for
        self.files: Bounded[str, tuple[str, ...]] = Bounded(FILES_KEPT)  # by request
        self.feed: deque[FeedEntry] = deque(maxlen=FEED_KEPT)
        self._refusals = count(1)
        self._turned_away: Bounded[_TurnedAway, tuple[int, FeedEntry]] = Bounded(FEED_KEPT)

    def __repr__(self) -> str:
        return f"<BrokerState {self.cards!r} {self.recent!r} {self.tickets!r} {self.orders!r}>"

    def _waiting_in(self, key: SessionKey) -> tuple[int, ...]:
        cards = self.cards.of_session(key)
        return tuple(card.number for card in cards)

    def carry(self, event: Event, request_id: str, verdict: Verdict) -> str:
        """Give the notes that wait for an answer to this event; return their text.

        A denial carries no note: the model reads the denial's reason.
        """
        if not self.notes or verdict is Verdict.DENY:
            return ""
        if not self.platforms[event.platform].carries_note(event):
            return ""
        notes = self.notes.give(event, request_id)
        if notes:
            self.sessions.touch(event.session_key)
        return "\n".join(f"{FROM_OPERATOR}: {note.text}" for note in notes)

    def note_told(
        self,
        note: Note,
        what: str,
        event: Event | None = None,
        *,
        by: Actor | None = None,
        request_id: str = "",
    ) -> list[Effect]:
        """Report and record what became of an operator's note to an agent."""
        self.sessions.touch(note.key)
        about = Event("", "Desk", session=note.session, machine=note.machine)
        where = event or replace(about, platform=note.platform, name="")
        return [
            NoteToldOf(note, what, where, by, request_id),
            self.note(about, f"{note.label} {what}"),
        ]

    def notes_received(self, fact: Delivered) -> list[Effect]:
        """Report what became of the notes that went with an answer."""
        receipts = self.notes.receipt(fact.request_id, fact.now, whole=fact.whole)
        return [
            effect
            for note, what, event in receipts
            for effect in self.note_told(note, what, event, request_id=fact.request_id)
        ]

    def notes_end(self, event: Event, *, session: bool, why: str = "") -> list[Effect]:
        """Report the notes that were never given, since the event's session or subagent ended.

        Or for another reason, `why`.
        """
        gone = self.notes.end(event, session=session) if self.notes else ()
        why = why or f"the {'session' if session else 'subagent'} has ended"
        return [
            effect for note in gone for effect in self.note_told(note, f"was never given: {why}")
        ]

    def leg(self, request_id: str) -> Leg:
        """Return a request that waits."""
        card = self.cards.of_request(request_id)
        assert card is not None  # noqa: S101 - every request that waits is on the shelf
        return next(leg for leg in card.requests if leg.id == request_id)

    def call_of(self, event: Event) -> Card | None:
        """Return the card of the call that the event is about a part of, waiting or ended."""
        call = self.platforms[event.platform].part_of(event)
        cards = [*self.cards.ended(), *self.cards.of_session(event.session_key)] if call else []
        return next(
            (
                card
                for card in reversed(cards)
                for leg in card.requests
                if same_agent(leg.event, event) and leg.event.tool and leg.event.tool.use_id == call
            ),
            None,
        )

    def asks_about_a_call(self, event: Event) -> bool:
        """Whether the event asks whether to call a tool; it names the tool."""
        phase = self.platforms[event.platform].phase(event)
        return event.tool is not None and phase in (Phase.BEFORE, Phase.ASKING, Phase.PART)

    def stands_alone(self, *legs: Leg) -> bool:
        """Whether the hooks of these legs have their answers: no agent waits for a decision.

        So only its time, or the end of its session, ends their card undecided.
        """
        return all(
            self.platforms[leg.event.platform].held(leg.event, leg.stance) is Held.AFTERWARDS
            for leg in legs
        )

    def is_unwaited(self, card: Card) -> bool:
        """Whether no agent waits for a card's decision: its call has its answer already."""
        return card.went_on or self.stands_alone(*card.requests)

    def let_once(self, card: Card, by: Actor) -> list[Effect]:
        """Let the call of a card run once, and tell its model; raises DecisionError."""
        order = Order.letting_run(card.event, self.now + LET_ONCE_FOR, card.number)
        text = f"a call of yours that was denied may run once now. {once_more(card.event, order)}"
        # A hook that waits is told by its answer.
        return self.rule_on(card, order, by, text if self.is_unwaited(card) else "")

    def rule_on(self, card: Card, order: Order, by: Actor, text: str) -> list[Effect]:
        """Take an order about the next such call as a card's, and tell its model; or DecisionError.

        Without words to tell, the model is told nothing.
        """
        standing = self.orders.give(order, by, self.now)
        effects: list[Effect] = [self.note(standing.event, str(standing))]
        ends = filter(None, (order.until, standing.ends_unheard))
        effects += [self.wake(end) for end in ends]
        return [*effects, *(self.tell_if_possible(card.event, text, by, standing) if text else ())]

    def tell_if_possible(
        self, event: Event, text: str, by: Actor, order: Standing | None = None
    ) -> list[Effect]:
        """Give the event's agent a note, perhaps of an order; nothing where no note can wait."""
        with suppress(DecisionError):  # too many notes wait: the order stands all the same
            if self.platforms[event.platform].takes_notes:
                note = self.notes.add(event.session_key, event.agent_id, text, by, self.now)
                if order is not None:
                    self.orders.tell(order, note.id)
                return self.note_told(note, f"waits for its next call: {text}", by=by)
        return []

    def untold(self, order: Standing, why: str = _NO_MORE) -> list[Effect]:
        """Take back what waits to tell a model of an order that stands no more."""
        with suppress(DecisionError):  # it was given, or there is none
            return self.note_told(self.notes.take_back(order.note), why)
        return []

    def is_part(self, event: Event) -> bool:
        """Whether the event asks about a part of a call: no other event is about the same."""
        return self.platforms[event.platform].phase(event) is Phase.PART

    def wake(self, at: float, request_id: str = "") -> WakeAt:
        """Ask for `TimePassed` at that time: a request's deadline, or an order's end."""
        heappush(self.deadlines, (at, request_id))
        return WakeAt(self.deadlines[0][0])

    def resolve(
        self, leg: Leg, decided: Decided, signed: tuple[DecisionSignature, ...] = ()
    ) -> list[Effect]:
        """Give a leg its reply, if its hook still waits.

        For a person's decision the server asks for a receipt. `signed`: what people signed for the
        card's strict hooks; nothing is added to their replies.
        """
        left = self.pending.leave(leg.id)
        if left is None:
            return []
        (attempt, secret), decision = left, decided.decision
        over = isinstance(decided.by, Nobody) or leg.strict is not None
        carried = "" if over else self.carry(leg.event, leg.id, decision.verdict)
        if (leg.note and leg.strict is None) or carried:
            note = "\n".join(filter(None, (leg.note, decision.note, carried)))
            decision = replace(decision, note=note)
        reply = self.platforms[leg.event.platform].write(leg.event, decision)
        if leg.strict is not None:
            reply = replace(reply, signed=tuple(s for s in signed if s.request_id == leg.id))
        self.tickets.give(leg.id, secret, reply, self.now)
        sent = Decided(decision, decided.by)
        waited = attempt != NO_CONNECTION or not self.stands_alone(leg)
        confirm = (isinstance(decided.by, Operator) and waited) or bool(carried)
        return [Resolve(leg.id, attempt, secret, reply, confirm, sent)]

    def turn_away(self, leg: Leg, refusal: Refusal, why: EndReason) -> list[Effect]:
        """Release a leg without a decision.

        A hook that asks about a call gets a refusal, so that a hook installed to fail closed denies
        the call instead of silence.
        """
        if not self.asks_about_a_call(leg.event):
            return self.resolve(leg, no_opinion(why))
        return self.refuse(leg, refusal)

    def refuse(self, leg: Leg, refusal: Refusal) -> list[Effect]:
        """Refuse a leg, if its hook still waits."""
        left = self.pending.leave(leg.id)
        if left is None:
            return []
        attempt, secret = left
        self.tickets.give(leg.id, secret, refusal, self.now)
        return [Refuse(leg.id, attempt, refusal)]

    def put(self, card: Card) -> Show:
        """Put a new or changed card into the index, and show it."""
        legs = [leg.event for leg in card.requests]
        choices = reduce(and_, (self.platforms[leg.platform].choices(leg) for leg in legs))
        if card.went_on:
            choices = _for_the_next(choices)
        if card.ballot is not None:
            choices = _by_ballot(choices)
            card = replace(card, ballot=replace(card.ballot, as_of=self.now))
        strict = is_strict(card)
        limits = [WHO_SIGNS] if strict else []
        if strict:  # a rule signs nothing
            choices = replace(choices, beside=choices.beside & ~Beside.RULE)
        limits += wording.stays_open(card.asked.times, went_on=card.went_on)
        limits += [line for leg in legs for line in self.platforms[leg.platform].limits(leg)]
        before = self.cards.card(card.number)
        revision = before.revision + 1 if before else 1
        card = replace(
            card,
            choices=choices,
            limits=tuple(dict.fromkeys(limits)),
            revision=revision,
            grown=revision if before is None or _has_more(card, before) else card.grown,
        )
        self.cards.put(card)
        if card.ballot is not None and card.state is State.WAITING:
            self.ballots[card.number] = card.ballot
        else:
            self.ballots.pop(card.number, None)
        if card.asked != ONCE and card.state is State.WAITING:
            self.asked[card.number] = card.asked
        else:
            self.asked.pop(card.number, None)
        self.sessions.touch(card.event.session_key)
        return Show(card, before)

    def holdable(self) -> tuple[str, ...]:
        """Return the names of the events that an operator may order to hold."""
        return tuple(name for platform in self.platforms.values() for name in platform.holdable())

    def let_go(self, why: EndReason, refusal: Refusal | None = None) -> list[Effect]:
        """Release all waiting cards but those whose agent went on; see `release`."""
        effects: list[Effect] = []
        for card in self.cards.waiting():
            if not card.went_on:
                effects += self.release(card, why, refusal)
        return effects

    def release(self, card: Card, why: EndReason, refusal: Refusal | None = None) -> list[Effect]:
        """End a card that nobody decides.

        Its hooks get no opinion, or, with a `refusal`, do what they were installed to do.
        """
        effects: list[Effect] = []
        for leg in card.requests:
            if refusal is None:
                effects += self.resolve(leg, no_opinion(why))
            else:
                effects += self.turn_away(leg, refusal, why)
        return [*effects, *self.leave(card, card.requests, why)]

    def leave(
        self,
        card: Card,
        legs: Sequence[Leg],
        why: EndReason,
        happening: Happening = Happening.LEFT,
    ) -> list[Effect]:
        """Take legs off a card; a card without legs ends."""
        remaining = tuple(leg for leg in card.requests if leg not in legs)
        if remaining:
            return [self.put(replace(card, requests=remaining))]
        ended = replace(card, state=after(card.state, happening), end=why, ended_at=self.now)
        undecided = no_opinion(why) if happening is Happening.TIMED_OUT else None
        if not card.went_on:  # else its call was denied, and nothing follows
            self.remember_answer(card, undecided)
            if undecided is not None:
                self.follow(card, undecided.decision)
        return [
            self.put(ended),
            self.note(card.event, f"{ended.outcome} {ended.why}", card.number),
        ]

    def remember_answer(self, card: Card, decided: Decided | None) -> None:
        """Keep the decision for the second event of the same call, which may follow.

        That is PermissionRequest, or PreToolUse where an agent asks its user first: there nothing
        follows a denial.
        """
        if self.is_part(card.event) or not card.event.tool:
            return
        if not self.asks_about_a_call(card.event):
            return  # a card about what became of a call: no event asks about that call again
        asks_first = self.platforms[card.event.platform].asks_first
        if asks_first and decided is not None and decided.decision.verdict is Verdict.DENY:
            return
        second = Phase.BEFORE if asks_first else Phase.ASKING
        if all(
            self.platforms[leg.event.platform].phase(leg.event) is not second
            for leg in card.requests
        ):
            beside = (leg.event for leg in card.requests)
            self.recent.remember_answer(card.event, decided, self.now, beside)

    def turned_away(self, event: Event, refusal: Refusal) -> list[Effect]:
        """Write a refusal into the feed: refusals of one session share a line with their count.

        The line is new at the first refusal and each time the count has doubled. So the desk knows
        about how many there are, and a session with many refusals pushes no other lines away.
        """
        key = (event.platform, event.session, refusal)
        times, before = self._turned_away.pop(key, (0, None))
        if before is None or self.now - before.at > REFUSED_TOGETHER or before not in self.feed:
            times = 0
        else:
            self.feed.remove(before)
        times += 1
        so_far = f" {times} times so far" if times > 1 else ""
        about = before.about if before and times > 1 else f"refusal {next(self._refusals)}"
        note = self.note(event, f"turned away{so_far}: {refusal}", about=about)
        self._turned_away[key] = (times, note.entry)
        return [note] if times.bit_count() == 1 else []

    def follow(self, card: Card, decision: Decision) -> None:
        """Keep the decision about a card's call, until its agent's events tell the outcome."""
        legs = tuple(leg.id for leg in card.requests)
        event = next((leg.event for leg in card.requests if named(leg.event)), card.event)
        if self.asks_about_a_call(event) and not self.is_part(event):
            self.followed.follow(event, decision, self.now, card=card.number, requests=legs)

    def note(  # noqa: PLR0913 - a feed entry's fields
        self,
        event: Event,
        text: str,
        number: int | None = None,
        *,
        outcome: str = "",
        alarm: bool = False,
        about: str = "",
        size: int = 0,
    ) -> FeedLine:
        """Write a line into the feed; `size`: the bytes of the event's whole input, if known."""
        shown = event.brief(size) if number is None else event.slim()  # a card shows its own input
        entry = FeedEntry(self.now, shown, text, number, outcome, alarm, about)
        self.feed.append(entry)
        return FeedLine(entry)


_CALL = 200  # letters of a call's input by which its model knows it


def call_in_words(event: Event) -> str:
    """Return the start of a call, by which its model knows it."""
    tool = event.tool
    return f"{tool.name} {compact(start_of(tool.input, _CALL))}" if tool else ""


def once_more(event: Event, order: Order) -> str:
    """Return what the model is told to do with a call of its own that may run once."""
    seconds = LET_ONCE_FOR if not order.law else RULED_FOR
    return (
        "If it is still needed, make exactly the same call again within "
        f"{seconds / 60:.0f} minutes: {call_in_words(event)}"
    )


def _has_more(card: Card, before: Card) -> bool:
    """Whether a card has a leg, an alarm or a proposal that it did not have before."""
    earlier = {leg.id for leg in before.requests}
    more_legs = any(leg.id not in earlier for leg in card.requests)
    proposed = card.ballot.proposal if card.ballot else None
    proposed_before = before.ballot.proposal if before.ballot else None
    changed = proposed != proposed_before and (proposed or _PLAIN) != (proposed_before or _PLAIN)
    return more_legs or changed or not set(card.alarms) <= set(before.alarms)


_PLAIN = Decision(Verdict.ALLOW)
_LEAVES_IT = frozenset({Verdict.PASS, Verdict.ASK, Verdict.DEFER})
_FOR_EVER = Beside.PERMISSIONS | Beside.RULE
_RULINGS = frozenset({Verdict.ALLOW, Verdict.DENY})


def _for_the_next(choices: Choices) -> Choices:
    """Return what can be decided of a call whose agent went on: the next such call, as it was."""
    return Choices(choices.verdicts & _RULINGS, choices.beside & (Beside.NOTE | Beside.RULE))


def _by_ballot(choices: Choices) -> Choices:
    """Return what can be decided of a card that needs certain people, or several.

    Nothing leaves the call to the agent, and no yes counts for another call.
    """
    return replace(
        choices, verdicts=choices.verdicts - _LEAVES_IT, beside=choices.beside & ~_FOR_EVER
    )
