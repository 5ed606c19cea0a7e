"""What the plain desk prints: cards as blocks of lines, what became of them, what went by."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from crabhook.datatypes import Bounded
from crabhook.desk.replica import Replica
from crabhook.model.actor import Operator
from crabhook.model.card import Card, FeedEntry, State
from crabhook.model.decision import Decision, Suggestion
from crabhook.model.jsontext import pretty
from crabhook.model.order import CAP
from crabhook.model.wording import who
from crabhook.present.card import CardDocument, card_document
from crabhook.present.cover import COVER, covered
from crabhook.present.document import KeptGoing
from crabhook.present.phrases import WENT_ON, countdown, joined
from crabhook.present.safe import safe
from crabhook.present.summary import brief, place, summary, tool_label
from crabhook.ui.commands.decide import fitting
from crabhook.ui.commands.orders import order_line
from crabhook.ui.commands.parse import first_alike, shown_session
from crabhook.ui.commands.words import WORDS, Word
from crabhook.ui.plain.request import given_rows, offered_rows
from crabhook.ui.text.rows import Row, bounded

FIRST = 200, 20_000  # lines and characters of a card that is printed unasked
WHOLE = 10_000, 200_000  # and of a card that was asked for
LONGEST_FACT = 2_000  # characters of why a card is here, which may quote what is asked
BACKLOG = 2_000  # untold things kept for a reader who has stopped reading
WITHIN = 0.05  # seconds before passed events are printed
AT_ONCE = 64  # lines, or a few more, in one write: a flood needs few writes
_ENDED_REMEMBERED = 1_000  # ended cards, so that each end is printed once

Write: TypeAlias = Callable[[str], Awaitable[None]]


class Format:
    """How the desk tells what happens: this is the format that programs read, and never changes."""

    words: Mapping[str, Word] = WORDS  # those that lines are written in

    def header(self, card: Card) -> str:
        """Return a card's first line: `#N EVENT TOOL session=… cwd=…`.

        A program can take it apart: the event, the tool and the session are a single word each, by
        any name from the agent. The first two are without `=`.
        """
        event = card.event
        names = [event.name, event.tool.name] if event.tool else [event.name]
        words = [brief(name, covered).replace(" ", "⟨U+0020⟩") for name in names]
        asks = " ".join([f"#{card.number}", *words]).replace("=", "⟨U+003D⟩")
        return f"{asks} session={shown_session(event.session)} cwd={brief(event.cwd, covered)}"

    def block(
        self, card: Card, now: float, *, whole: bool = False, bare: bool = False
    ) -> list[str]:
        """Return the lines that tell all about a card, a blank line at their end.

        A long request is shortened in its middle to what a person takes in at once; `whole` gives
        more of it. `bare` leaves secrets in the clear.
        """
        whole = whole or bare
        bounds = WHOLE if whole else FIRST
        document = card_document(replace(card, decided=None))
        asked = given_rows(document, bounds[1])
        request = bounded(chain(asked, offered_rows(document.offered)), *bounds)
        rows = [*(row.cut(LONGEST_FACT) for row in _facts(document, now)), *request]
        if any(row.shortened for row in request):
            more = f'"{WORDS["show"].usage(card.number)}" prints more of it'
            most = "this is the most the plain desk prints"
            rows.append(Row(f"  shortened: {most if whole else more}"))
        lines = [row.bare_line if bare else row.line for row in rows]
        if not bare and any(COVER in line for line in lines):
            usage = WORDS["show secrets"].usage(card.number)
            lines.append(f'  covered: secrets; "{usage}" prints them')
        if card.state is State.WAITING:
            closing = f"  answer with: {' | '.join(fitting(card))}"
        else:
            closing = joined("  ended:", card.outcome, brief(card.why, covered), by=" ")
        return [self.header(card), *lines, closing, ""]

    def listed(self, card: Card, now: float) -> str:
        """Return a card that waits in one line of a list."""
        event, waits = card.event, countdown(now - card.asked_at)
        about = " ".join(tell(event, covered) for tell in (tool_label, place, summary)).rstrip()
        return f"#{card.number} waits {waits}, {left(card, now)} · {about}"

    def listing(self, desk: Replica) -> Iterator[str]:
        """Yield what is wrong, a line for each card that waits, and one for each standing order."""
        waiting, now = desk.waiting(), desk.now()
        yield from (f"! {brief(wrong, covered)}" for wrong in desk.troubles())
        for card in waiting:
            first = first_alike(card, waiting)
            same = f" · the same as #{first.number}" if first else ""
            yield self.listed(card, now) + same
        if not waiting:
            yield "· nothing waits"
        yield from (order_line(order, now) for order in desk.orders())

    def tell(self, before: Card | None, card: Card, now: float) -> list[str]:
        """Return the lines that lead from the card as it was last told to the card as it is.

        A card first told when it has ended gets its header and its outcome alone.
        """
        ended = card.state is not State.WAITING
        if before is None:
            lines = [self.header(card)] if ended else self.block(card, now)
        else:
            lines = [*_changes(before, card, now)]
        if before is not None or ended:
            earlier = before.alarms if before is not None else ()
            lines += [
                f"#{card.number} ! {brief(alarm)}" for alarm in card.alarms if alarm not in earlier
            ]
        if ended and (before is None or before.state is State.WAITING):
            lines.append(self.outcome(card))
        if card.delivered is not None and (before is None or before.delivered != card.delivered):
            lines += filter(None, [self.fate(card)])
        return lines

    def outcome(self, card: Card) -> str:
        """Return how a card ended, and all that was said with it, in one line."""
        decision = card.decision
        parts = [f"#{card.number} {card.outcome}"]
        if decision is None:
            parts.append(brief(card.why, covered))
        else:
            parts.append(brief(decision.reason or decision.note, covered))
            parts += [f"({words})" for words in _besides(decision)]
            if card.decided is not None and not isinstance(card.decided.by, Operator):
                parts.append(f"(by {brief(who(card.decided.by), covered)})")
        return joined(*parts, by=" ")

    def fate(self, card: Card) -> str:
        """Return whether the answer reached its hook; empty where that is not told."""
        fate = "delivered" if card.delivered else "NOT DELIVERED: the hook did not take it"
        return f"#{card.number} {fate}"

    def looks(self, _card: int) -> str:
        """Return that others look at a card; empty where it is not told."""
        return ""

    def went_by(self, entry: FeedEntry) -> str:
        """Return what went by in one line, "!" before an alarm; empty where it is not told."""
        event, dot = entry.event, "!" if entry.alarm else "·"
        if not event.platform:  # the desk's own news: an order was given, or has ended
            return f"{dot} desk: {brief(entry.text, covered)}"
        session = f"session={safe(event.session[:4])}…" if event.session else ""
        tool = brief(event.tool.name, covered) if event.tool else ""
        subject = summary(event, covered) if entry.number is None else ""
        what = joined(brief(entry.text or entry.outcome, covered), subject)
        name, where = brief(event.name, covered), place(event, covered)
        return joined(dot, name, tool, session, where, what, by=" ")


PROGRAMS = Format()


def left(card: Card, now: float) -> str:
    """Return how long a card still waits, and how long it is aside."""
    aside = f", aside for {countdown(card.snoozed_until - now)}" if card.snoozed_until else ""
    stands = f"{WENT_ON}, open for" if card.went_on else ""
    return (
        joined(stands, countdown(card.wait_until - now), "" if stands else "left", by=" ") + aside
    )


def _facts(document: CardDocument, now: float) -> Iterator[Row]:
    card = document.card
    event, origin = card.event, card.requests[0].origin
    names = [leg.event.name for leg in card.requests]
    host = "" if origin.host == event.machine else origin.host
    facts = {
        "machine": event.machine,
        "agent": f"{event.agent_type} {event.agent_id}".strip(),
        "mode": event.permission_mode,
        "from": joined(origin.user, host, by="@"),
        "asked as": ", ".join(names) if len(names) > 1 else "",
    }
    for label, text in facts.items():
        process = f" process {origin.pid}" if label == "from" and origin.pid else ""
        if text:
            yield Row(f"  {label}: {brief(text, covered)}{process}")
    yield from kept_going_rows(document)
    yield from (Row("  ALARM: ", alarm) for alarm in card.alarms)
    if card.state is State.WAITING:
        yield from (Row("  limit: ", limit) for limit in document.reason.limits)
        if votes := document.reason.votes:
            yield Row("  votes: ", votes)
        if because := document.reason.because.in_full:
            yield Row("  here because: ", because)
        stands = f"  {WENT_ON}, open for" if card.went_on else "  time left"
        yield Row(f"{stands}: {countdown(card.wait_until - now)}")


def kept_going_rows(document: CardDocument) -> Iterator[Row]:
    """Yield how often in a row an agent that wants to stop was sent on."""
    for note in document.notes:
        if isinstance(note, KeptGoing):
            yield Row(f"  kept going: {note.times} of {CAP} in a row")


def _changes(before: Card, card: Card, now: float) -> Iterator[str]:
    """Say which events ask as well now, and whether a waiting card moved or waits longer."""
    earlier = {leg.id for leg in before.requests}
    for leg in card.requests:
        if leg.id not in earlier:
            yield f"#{card.number} is also asked as {brief(leg.event.name, covered)}"
    if card.state is not State.WAITING:
        return
    if card.snoozed_until != before.snoozed_until:
        aside = f"is put aside for {countdown(card.snoozed_until - now)}"
        yield f"#{card.number} {aside if card.snoozed_until else 'is back'}"
    if card.went_on and not before.went_on:
        yield f"#{card.number} UNDECIDED: {WENT_ON}, open for {countdown(card.wait_until - now)}"
    elif len(card.requests) == len(before.requests) and card.wait_until > before.wait_until:
        yield f"#{card.number} waits longer: {countdown(card.wait_until - now)} left"


def _besides(decision: Decision) -> Iterator[str]:
    """Say what goes with a decision beside its verdict and its words."""
    if decision.interrupt:
        yield "the turn ends"
    if decision.halt:
        more = "" if decision.halt == decision.reason else f": {brief(decision.halt, covered)}"
        yield f"the session's turn ends{more}"
    for more in decision.despite:
        yield f"although {brief(more, covered)}"
    if decision.user_message:
        yield f"its user is told: {brief(decision.user_message, covered)}"
    if decision.suppress_output:
        yield "its agent is asked not to show what the hook says"
    for update in decision.permissions:
        kept = Suggestion(update)
        yield joined(brief(kept.what, covered), kept.where, by=" → ")
    if decision.content:
        yield brief(pretty(dict(decision.content)), covered)


class OutputQueue:
    """Keeps lines and changed cards until they are written; the broker never waits for a reader.

    A reader who stops loses events that went by, and calls that began and ended meanwhile; a line
    then says how many. A request that waits, and the outcome of a request that was shown, are never
    lost.
    """

    def __init__(self, desk: Replica, form: Format) -> None:
        self._desk, self.form = desk, form
        self._queue: OrderedDict[object, Card | FeedEntry | str] = OrderedDict()  # cards by number
        self._left_out = 0
        self._shown: dict[int, Card] = {}
        self._over: Bounded[int, Card] = Bounded(_ENDED_REMEMBERED)
        self._closed = False
        self._stirred = asyncio.Event()
        self._written = asyncio.Event()

    def on_news(self, news: Card | FeedEntry) -> None:
        """Take in a new or changed card, or a feed entry."""
        number, before = news.number, len(self._queue)
        full = before >= BACKLOG
        printed = number is not None and self._told(number)
        if isinstance(news, Card):
            ended = news.state is not State.WAITING
            if ended and full and not printed:
                self._queue.pop(number, None)
                self._left_out += 1
            else:
                self._queue[number] = _slim(news) if ended else news
        elif not printed and number not in self._queue:
            if full:
                self._left_out += 1
            else:
                self._queue[object()] = news
            if news.event.platform and not news.alarm:  # passed events share few writes
                if not before:
                    asyncio.get_running_loop().call_later(WITHIN, self._stirred.set)
                return
        self._stirred.set()

    def say(self, text: str) -> None:
        """Have a line of our own written in its turn."""
        self._queue[object()] = text
        self._stirred.set()

    async def room(self) -> None:
        """Wait until there is room to say more, and let others go on in the meantime."""
        await asyncio.sleep(0)
        while len(self._queue) >= BACKLOG and not self._closed:
            self._written.clear()
            await self._written.wait()

    def close(self) -> None:
        """End `write_to` once everything is printed."""
        self._closed = True
        self._stirred.set()

    async def write_to(self, write: Write) -> None:
        """Write everything there is to tell, until closed; raises what `write` raises."""
        while True:
            while self._queue:
                lines: list[str] = []
                while self._queue and len(lines) < AT_ONCE:
                    lines += self._next()
                if lines:
                    await write("\n".join(lines))
                self._written.set()
            if self._closed:
                return
            self._stirred.clear()
            await self._stirred.wait()

    def _next(self) -> list[str]:
        if self._left_out:
            count, self._left_out = self._left_out, 0
            return [f"· {count} things went by while nothing could be written here"]
        _, thing = self._queue.popitem(last=False)
        if isinstance(thing, str):
            return [thing]
        if isinstance(thing, FeedEntry):
            line = self.form.went_by(thing)
            return [line] if line else []
        before, number = self._told(thing.number), thing.number
        if thing.state is State.WAITING:
            self._shown[number] = _slim(thing)
        else:
            self._shown.pop(number, None)
            self._over[number] = thing
        return self.form.tell(before, thing, self._desk.now())

    def _told(self, number: int) -> Card | None:
        return self._shown.get(number) or self._over.get(number)


def _slim(card: Card) -> Card:
    """Return the card without what its tool was given, to be kept long."""
    legs = tuple(replace(leg, event=leg.event.slim()) for leg in card.requests)
    return replace(card, requests=legs)
