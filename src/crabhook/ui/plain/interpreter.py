"""Carries out a line of the plain desk: finds its cards and does what its word says.

`history` prints ended cards, newest first, or one whole entry by the number of its record (or of
the end, where no record is kept).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from time import time

from crabhook.desk import commands as do
from crabhook.desk.commands import AskEntry, AskHistory, Outcome
from crabhook.desk.other_acts import here
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Past
from crabhook.model.actor import OrderKind
from crabhook.model.card import Card, State
from crabhook.model.errors import CrabhookError
from crabhook.present.card import card_document
from crabhook.present.cover import covered
from crabhook.present.past import details, facts, head, is_wanted
from crabhook.present.past import line as past_line
from crabhook.present.summary import as_allowed, is_question
from crabhook.ui.commands.orders import order_line, read_agent, read_order, read_release
from crabhook.ui.commands.parse import (
    DefaultTarget,
    LineCommand,
    Naming,
    alike,
    first_alike,
    named_cards,
    parse,
)
from crabhook.ui.commands.words import WORDS, LineError, help_lines
from crabhook.ui.plain.deciding import Deciding
from crabhook.ui.plain.output import WHOLE, OutputQueue
from crabhook.ui.plain.person import DetailLevel, PersonFormat
from crabhook.ui.plain.request import given_rows
from crabhook.ui.text.rows import Row, bounded

_PRINTING = frozenset({"show", "show-secrets", "show-raw", "words"})
SHOWN = 20  # entries of the history that one line prints
LOOKED_AT = 5_000  # entries that one line looks through
_LONGEST = 400  # letters of a line


class Interpreter:
    """Follows lines at a desk; what it has to say goes to the output."""

    def __init__(self, desk: Replica, output: OutputQueue, take_back: float) -> None:
        self._desk, self._output, self._say = desk, output, output.say
        self._person = output.form if isinstance(output.form, PersonFormat) else None
        if self._person is not None:
            self._person.say = output.say
        self._deciding = Deciding(desk, output.say, take_back, self._person)
        self._histories = Histories(desk, output.say, time)
        self._following = False
        self._settled = asyncio.Event()
        self.begin()

        self._about_the_desk: Mapping[str, Callable[[LineCommand], None]] = {
            "pending": self._list,
            "help": lambda _: self._say("\n".join(help_lines(output.form.words))),
            "brief": self._detail,
            "full": self._detail,
            "hold": self._order,
            "allow-all": self._order,
            "hold-all": self._order,
            "away": self._order,
            "here": self._here,
            "orders": self._orders,
            "release": self._release,
            "sessions": self._sessions,
            "note": partial(self._tell_agent, do.Steer),
            "note-back": self._take_note_back,
            "stop": partial(self._tell_agent, do.StopSession),
            "history": lambda command: self._histories.follow(command.rest.strip()),
        }

    def begin(self) -> None:
        """Take in all there is at the desk; an outcome may have come with it."""
        self._settled.set()
        self._default = DefaultTarget(self._desk, self._deciding.answered)
        self._newest = max((card.number for card in self._desk.waiting()), default=0)
        for card in (*self._desk.waiting(), *self._desk.ended()):
            self._deciding.on_card(card)

    def on_card(self, card: Card) -> None:
        """Take in what makes a held answer void, or another card the oldest."""
        decided = self._deciding.on_card(card)
        self._default.look(card, ours=decided or self._following)
        if card.state is State.WAITING and card.number > self._newest:
            self._newest = card.number
            if first := first_alike(card, self._desk.waiting()):
                self._say(_same(card, f"#{first.number}"))

    async def follow(self, lines: AsyncIterator[str]) -> None:
        """Follow every line until `quit` or the end."""
        async for line in lines:
            last = self.take(line)
            await self._done()
            if last:
                break
            await self._deciding.judged()
            await self._output.room()
        self._deciding.end()

    async def _done(self) -> None:
        """Wait until the line is carried out, so that the next line finds its result."""
        self._following = True
        while self._desk.doing():
            self._settled.clear()
            await self._settled.wait()
        self._following = False

    def settled(self) -> None:
        """Take in that something has its outcome."""
        self._settled.set()

    def take(self, line: str) -> bool:
        """Follow one line; return whether it was the last."""
        self._following = True
        try:
            command = self._parse(line)
            if command is None:
                return False
            if command.word.act.id == "quit":
                return True
            if not command.word.about_a_card:
                self._about_the_desk[command.word.act.id](command)
            elif command.target.kind is Naming.OLDEST:
                self._about(self._default.meant(command.word), command, alone=True)
            else:  # a failure on one card does not stop the others
                cards = named_cards(command.target, self._desk, command.word)
                for card in cards:
                    self._about(card, command, alone=len(cards) == 1)
        except CrabhookError as error:
            self._deciding.complain(error)
        finally:
            self._following = False
            self._default.refresh()
        return False

    def _parse(self, line: str) -> LineCommand | None:
        """Return what a line asks for; None for nothing, or for a second yes."""
        try:
            command = parse(line, self._output.form.words)
        except LineError:
            if self._deciding.named(line):
                return None
            raise
        if command is None or self._person is None or command.word.act.id != "take-back":
            return command
        if command.target.kind is not Naming.OLDEST:
            return command
        self._deciding.undo_last()
        return None

    def leave(self) -> None:
        """Stop; held decisions are never given."""
        self._deciding.leave()

    def _about(self, card: Card, command: LineCommand, *, alone: bool) -> None:
        if command.word.act.id in _PRINTING:
            self._show(card, command)
        else:
            self._deciding.follow(card, command, alone=alone)

    def _show(self, card: Card, command: LineCommand) -> None:
        act, now = command.word.act.id, self._desk.now()
        if self._person is not None and act in ("words", "show-raw"):
            lines = [self._person.answers(card)] if act == "words" else self._person.raw(card, now)
            self._say("\n".join(lines))
            return
        bare = act == "show-secrets"
        if self._person is not None:
            card = self._deciding.given(card)
        self._say("\n".join(self._output.form.block(card, now, whole=True, bare=bare)))
        others = alike(card, self._desk.waiting()) if card.state is State.WAITING else []
        if others:
            numbers = ", ".join(f"#{other.number}" for other in others)
            self._say(_same(card, numbers))

    # What the words do with the desk.

    def _detail(self, command: LineCommand) -> None:
        if self._person is not None:
            self._person.detail = DetailLevel(command.word.act.id)
            self._say(f"· from now on: {command.word.act.means}")

    def _list(self, _: LineCommand) -> None:
        for line in self._output.form.listing(self._desk):
            self._say(line)

    def _order(self, command: LineCommand) -> None:
        order = read_order(command.word.act.id, command.rest, self._desk)

        def told() -> None:
            if order.kind in (OrderKind.AWAY, OrderKind.ALLOW_ALL, OrderKind.HOLD_ALL):
                self._say(order_line(order, self._desk.now()))

        self._deciding.submit(do.GiveOrder(order), write=command.word.usage(), then=told)

    def _orders(self, _: LineCommand) -> None:
        standing = self._desk.orders()
        for order in standing:
            self._say(order_line(order, self._desk.now()))
        if not standing:
            self._say("· no order stands")

    def _release(self, command: LineCommand) -> None:
        matches = read_release(command.rest, self._desk)
        ids = frozenset(order.id for order in self._desk.orders() if matches(order))
        self._deciding.submit(do.EndOrders(ids), write=WORDS["orders"].usage())

    def _sessions(self, _: LineCommand) -> None:
        now, live = self._desk.now(), self._desk.live()
        for view in live:
            self._say("\n".join([f"· {head(view, now)}", *(f"  {x}" for x in details(view, now))]))
        if not live:
            self._say("· no session was heard of yet")

    def _tell_agent(
        self, make: Callable[[str, str, str], do.Steer | do.StopSession], command: LineCommand
    ) -> None:
        """Give an agent a note, or stop it, in an operator's words."""
        session, agent, text = read_agent(command.rest, self._desk, command.word)
        self._deciding.submit(make(session, text, agent), write=command.word.usage())

    def _take_note_back(self, command: LineCommand) -> None:
        if not command.rest.isdecimal():
            raise LineError("which note? a note has a number", command.word.usage())
        note = int(command.rest[:9])
        self._deciding.submit(do.TakeBackNote(note), write=WORDS["sessions"].usage())

    def _here(self, _: LineCommand) -> None:
        back = here(self._desk.orders())
        if back is None:
            raise LineError("you are not away", WORDS["away"].usage())
        self._deciding.submit(back)


def _same(card: Card, others: str) -> str:
    return f"#{card.number} asks the same as {others}; same={card.number} means them all"


class Histories:
    """Prints what ended as soon as it has been read. `wall` returns the wall clock."""

    def __init__(
        self, desk: Replica, say: Callable[[str], None], wall: Callable[[], float]
    ) -> None:
        self._desk, self._say, self._wall = desk, say, wall

    def follow(self, rest: str) -> None:
        """Print the last entries that tell what is wanted, or the entry of that number."""
        if rest.isdecimal():
            number = int(rest[:15])
            self._desk.submit(AskEntry(number), lambda _: self._tell(number))
        else:
            self._read(0, rest, [], 0)

    def _read(self, before: int, wanted: str, fitting: list[Past], looked: int) -> None:
        def then(outcome: Outcome) -> None:
            page = self._desk.page(before)
            fitting.extend(entry for entry in page.entries if is_wanted(entry, wanted))
            seen, wrong = looked + len(page.entries), outcome.why or page.why
            if wrong or len(fitting) >= SHOWN or not page.goes_on or seen >= LOOKED_AT:
                more = bool(page.goes_on) or len(fitting) > SHOWN
                self._list(fitting[:SHOWN], wrong, more=more, looked=seen)
            else:
                self._read(page.goes_on, wanted, fitting, seen)

        self._desk.submit(AskHistory(before), then)

    def _list(self, entries: list[Past], wrong: str, *, more: bool, looked: int) -> None:
        now = self._wall()
        lines = [
            Row(f"{entry.id:>6}  ", past_line(entry, now)).cut(_LONGEST).line for entry in entries
        ]
        if wrong:
            lines.append(f"! {covered(wrong)}")
        elif not entries:
            lines.append(
                "· nothing has ended yet" if not looked else f"· none of the last {looked}"
            )
        elif more:
            lines.append("· these are the newest; a filter finds older ones")
        self._say("\n".join(lines))

    def _tell(self, number: int) -> None:
        entry = self._desk.entry(number)
        if entry is None:
            self._say(f"! there is no entry {number}, or it is no longer kept; history lists them")
            return
        rows = bounded(_rows(entry), *WHOLE)
        self._say("\n".join([f"history {number}", *(row.line for row in rows), ""]))


def _rows(entry: Past) -> Iterator[Row]:
    """Yield how an entry ended, what was asked, and what was allowed in its place."""
    for label, text in facts(entry):
        if text:
            yield Row(f"  {label}: " if label else "  ", text.replace("\n", " "))
    event, allowed = entry.card.event, as_allowed(entry.card)
    if allowed is not event:
        yield Row("  as it was answered:" if is_question(event) else "  as it was allowed:")
        yield from given_rows(card_document(entry.card), WHOLE[1])
        yield Row("  as it was asked:")
    yield from given_rows(card_document(replace(entry.card, decided=None)), WHOLE[1])
