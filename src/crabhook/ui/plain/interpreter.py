"""The interpreter: does what an operator writes, line after line, and says what came of it."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace

from crabhook.desk import commands as do
from crabhook.desk.commands import Outcome
from crabhook.desk.replica import Replica
from crabhook.model.actor import OrderKind
from crabhook.model.card import Card, FeedEntry, State
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import CrabhookError
from crabhook.model.order import Order
from crabhook.policy.propose import TakenOffer
from crabhook.ui.answers import HELD_BACK, Answers, Seen
from crabhook.ui.cards.summary import brief
from crabhook.ui.commands.decide import DECIDING, LineDecision, other_words
from crabhook.ui.commands.orders import keep_going_order, order_line, read_order, read_release
from crabhook.ui.commands.parse import (
    JUST_NOW,
    Command,
    DefaultTarget,
    Naming,
    alike,
    first_alike,
    named_cards,
    parse,
)
from crabhook.ui.commands.words import WORDS, LineError, help_lines, read_duration
from crabhook.ui.plain.output import OutputQueue, card_lines, list_lines
from crabhook.ui.plain.rules import Remembering
from crabhook.ui.secrets import covered

_DECIDED_REMEMBERED = 1_000
_SHORTEST_WAIT = 0.01  # seconds; two clocks never agree to the last digit


class Interpreter:
    """Follows lines at a desk; what it has to say goes to the output."""

    def __init__(self, desk: Replica, output: OutputQueue, take_back: float) -> None:
        self._desk = desk
        self._output = output
        self._say = output.say
        self._take_back = take_back
        self._answers = Answers(desk, take_back, self._complain)
        self._timer: asyncio.TimerHandle | None = None
        self._decided: deque[int] = deque(maxlen=_DECIDED_REMEMBERED)
        self._remembering = Remembering(desk, output.say)
        self._objected: dict[int, tuple[Card, Decision]] = {}  # changes that rules are against
        self._being_judged = 0  # changes the rules are asked about
        self._judged = asyncio.Event()
        self._quiet: set[int] = set()  # cards whose agent is not to show what the hook says
        self._following = False
        self._alone = True  # whether the line is about one card
        self.begin()

        # What the words do with a card; any other word decides the card.
        self._about_a_card: Mapping[str, Callable[[Card, Command], None]] = {
            "anyway": self._anyway,
            "remember": self._remember,
            "undo": self._undo,
            "quiet": self._hush,
            "show": self._show,
            "show secrets": self._show,
            "snooze": self._snooze,
            "extend": self._extend,
        }
        self._about_the_desk: Mapping[str, Callable[[Command], None]] = {
            "list": self._list,
            "help": lambda _: self._say("\n".join(help_lines())),
            "hold": self._order,
            "allow-all": self._order,
            "hold-all": self._order,
            "away": self._order,
            "here": self._here,
            "orders": self._orders,
            "release": self._release,
        }

    def begin(self) -> None:
        """Take in all there is at the desk."""
        self._default = DefaultTarget(self._desk)
        self._newest = max((card.number for card in self._desk.waiting()), default=0)
        for card in (*self._desk.waiting(), *self._desk.ended()):
            self._complain(self._answers.news(card))

    def hear(self, news: Card | FeedEntry) -> None:
        """Take in what makes a held answer void, or another card the oldest."""
        if isinstance(news, FeedEntry):
            return
        self._complain(self._answers.news(news))
        if news.state is not State.WAITING:
            self._quiet.discard(news.number)
            self._objected.pop(news.number, None)
        decided = news.state is State.DECIDED and news.number in self._decided
        self._default.look(news, ours=decided or self._following)
        if news.state is State.WAITING and news.number > self._newest:
            self._newest = news.number
            if first := first_alike(news, self._desk.waiting()):
                self._say(_same(news, f"#{first.number}"))

    async def follow(self, lines: AsyncIterator[str]) -> None:
        """Follow every line until `quit` or the end."""
        async for line in lines:
            if self.take(line):
                break
            while self._being_judged:
                self._judged.clear()
                await self._judged.wait()
            await self._output.room()
        if count := self._answers.waiting:
            self._complain(f"what was held was not given ({count}): you left before its time")

    def take(self, line: str) -> bool:
        """Follow one line; return whether it was the last."""
        self._following = True
        try:
            command = parse(line)
            if command is None:
                return False
            if command.word.name == "quit":
                return True
            if not command.word.about_a_card:
                self._about_the_desk[command.word.name](command)
            elif command.target.kind is Naming.OLDEST:
                self._follow_about(self._default.meant(command.word), command, alone=True)
            else:  # what fails on one card does not stop the others
                cards = named_cards(command.target, self._desk, command.word)
                for card in cards:
                    self._follow_about(card, command, alone=len(cards) == 1)
        except CrabhookError as error:
            self._complain(error)
        finally:
            self._following = False
        return False

    def leave(self) -> None:
        """Stop; what is held was never given."""
        if self._timer:
            self._timer.cancel()

    def _complain(self, error: object) -> None:
        if said := str(error):
            self._say(f"! {covered(said)}")  # it may quote an agent

    def _follow_about(self, card: Card, command: Command, *, alone: bool) -> None:
        self._alone = alone
        try:
            self._about_a_card.get(command.word.name, self._give)(card, command)
        except CrabhookError as error:
            self._complain_about(card, error, alone=alone)

    def _complain_about(self, card: Card | None, error: object, *, alone: bool) -> None:
        named = card is None or alone or str(error).startswith(f"#{card.number} ")
        self._complain(error if card is None or named else f"#{card.number}: {error}")

    def _submit(
        self,
        command: do.Command,
        card: Card | None = None,
        *,
        write: str = "",
        then: Callable[[], object] = lambda: None,
    ) -> None:
        """Submit a command, and go on once it is done; what is refused says what to write."""
        alone = self._alone

        def settled(outcome: Outcome) -> None:
            if outcome == do.Done():
                then()
                return
            as_a_line = write and isinstance(outcome, do.Refused)
            error = LineError(outcome.why, write) if as_a_line else outcome.why
            self._complain_about(card, error, alone=alone)

        self._desk.submit(command, settled)

    def _give(self, card: Card, command: Command) -> None:
        """Decide a card as the word says."""
        given, alone = DECIDING[command.word.name](card, command.rest), self._alone
        if given.decision.updated_input is None:
            self._give_judged(card, given, ())
            return

        def judged(outcome: Outcome) -> None:
            self._being_judged -= 1
            self._judged.set()
            said = self._desk.objections(card.number, given.decision)
            try:
                if outcome != do.Done() or said is None:
                    self._complain_about(card, outcome.why, alone=alone)
                else:
                    self._alone = alone
                    self._give_judged(card, given, said)
            except CrabhookError as error:
                self._complain_about(card, error, alone=alone)

        self._being_judged += 1
        self._desk.submit(do.AskObjections(card.number, given.decision), judged)

    def _give_judged(self, card: Card, given: LineDecision, said: tuple[str, ...]) -> None:
        """Decide a card, unless the rules are against what it is changed to."""
        for remark in given.remarks:
            self._say(remark)
        self._objected.pop(card.number, None)
        if said:
            self._objected[card.number] = card, replace(given.decision, despite=said)
            for one in said:
                self._say(f"  ! {brief(one, covered)}")
            wrong = f"the rules are against #{card.number} as you changed it"
            raise LineError(wrong, WORDS["anyway"].usage(card.number))

        def repeat() -> None:
            """Have the agent told the same again when it next wants to stop."""
            if given.repeats:
                words = given.decision.reason
                order = keep_going_order(card.event, given.repeats, words)
                self._submit(do.GiveOrder(order), card)

        self._decide(card, given.decision, then=repeat)

    def _anyway(self, card: Card, _: Command) -> None:
        """Allow what the rules were just said to be against."""
        objected = self._objected.pop(card.number, None)
        if objected is None or objected[0].requests != card.requests:
            wrong = f"nothing was said against a change of #{card.number}"
            raise LineError(wrong, WORDS["edit"].usage(card.number))
        self._decide(card, objected[1])

    def _hush(self, card: Card, _: Command) -> None:
        """Have suppressOutput go with the decision, or not go with it after all."""
        if card.state is not State.WAITING or Beside.SUPPRESS not in card.choices.beside:
            raise LineError(f"#{card.number} has no output to suppress", other_words(card))
        self._quiet ^= {card.number}
        on = card.number in self._quiet
        said = "suppressOutput goes" if on else "no suppressOutput goes"
        self._say(f"· {said} with your decision about #{card.number}: nothing is sent yet")

    def _remember(self, card: Card, command: Command) -> None:
        """List the rules offered for a card; or allow it, and write one of them."""
        if command.rest:
            rule = self._remembering.chosen(card, command.rest)
            self._decide(card, Decision(Verdict.ALLOW), rule)
        else:
            self._remembering.list(card)

    def _undo(self, card: Card, _: Command) -> None:
        if self._answers.held(card.number) is None:
            raise LineError(f"no allow of #{card.number} is held", "list, to see what waits")
        self._say(self._answers.take_back(card.number))

    def _show(self, card: Card, command: Command) -> None:
        bare = command.word.name == "show secrets"
        self._say("\n".join(card_lines(card, self._desk.now(), whole=True, bare=bare)))
        others = alike(card, self._desk.waiting()) if card.state is State.WAITING else []
        if others:
            numbers = ", ".join(f"#{other.number}" for other in others)
            self._say(_same(card, numbers))

    def _snooze(self, card: Card, command: Command) -> None:
        seconds = read_duration(command.rest, command.word.usage(card.number))
        self._submit(do.Snooze(card.number, seconds), card)

    def _extend(self, card: Card, command: Command) -> None:
        seconds = read_duration(command.rest, command.word.usage(card.number))
        self._submit(do.Extend(card.number, seconds), card, write=other_words(card))

    # What the words do with the desk.

    def _list(self, _: Command) -> None:
        for line in list_lines(self._desk):
            self._say(line)

    def _order(self, command: Command) -> None:
        order = read_order(command.word.name, command.rest, self._desk)

        def told() -> None:
            if order.kind in (OrderKind.AWAY, OrderKind.ALLOW_ALL, OrderKind.HOLD_ALL):
                self._say(order_line(order, self._desk.now()))

        self._submit(do.GiveOrder(order), write=command.word.usage(), then=told)

    def _orders(self, _: Command) -> None:
        standing = self._desk.orders()
        for order in standing:
            self._say(order_line(order, self._desk.now()))
        if not standing:
            self._say("· no order stands")

    def _release(self, command: Command) -> None:
        matches = read_release(command.rest, self._desk)
        ids = frozenset(order.id for order in self._desk.orders() if matches(order))
        self._submit(do.EndOrders(ids), write=WORDS["orders"].usage())

    def _here(self, _: Command) -> None:
        away = frozenset(order.id for order in self._desk.orders() if _is_away(order))
        if not away:
            raise LineError("you are not away", WORDS["away"].usage())
        self._submit(do.EndOrders(away))

    # How a decision is given.

    def _decide(
        self,
        card: Card,
        decision: Decision,
        rule: TakenOffer | None = None,
        then: Callable[[], object] = lambda: None,
    ) -> None:
        """Give a decision, or hold it where there is time to; it replaces a held decision."""
        number, now = card.number, self._desk.now()
        if number in self._quiet:
            decision = replace(decision, suppress_output=True)
        self._decided.append(number)
        self._answers.drop(number)
        in_time = card.state is State.WAITING and card.wait_until - now > self._take_back + JUST_NOW
        if decision.verdict in HELD_BACK and self._take_back and in_time:
            self._answers.give([Seen(card, card.revision)], decision, rule)
            done = decision.verdict.done.lower()
            self._say(
                f"#{number} is {done} in {self._take_back:.1f} s; {number} undo takes it back"
            )
            self._tick()
            return
        seen = card.revision
        if rule is not None:
            self._submit(do.AllowWithRule(number, seen, rule, decision), card)
            return
        command = do.Decide(number, seen, decision)
        self._submit(command, card, write=other_words(card), then=then)

    def _tick(self) -> None:
        """Give what has been held long enough, and come back for the next."""
        self._answers.tick()
        if self._timer:
            self._timer.cancel()
        if (due := self._answers.due) is not None:
            wait = max(due - self._desk.now(), _SHORTEST_WAIT)
            self._timer = asyncio.get_running_loop().call_later(wait, self._tick)


def _same(card: Card, others: str) -> str:
    return f"#{card.number} asks the same as {others}; same={card.number} means them all"


def _is_away(order: Order) -> bool:
    return order.kind is OrderKind.AWAY
