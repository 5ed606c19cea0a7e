"""The desk as plain lines: for pipes, screen readers and small terminals."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping

from crabhook.broker.card import Card, FeedEntry
from crabhook.broker.desk import Desk, News
from crabhook.broker.states import State
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import CrabhookError, DecisionError, QuestionError
from crabhook.model.question import merge_answers, read_questions
from crabhook.ui.answer_line import read_answers
from crabhook.ui.answers import HELD_BACK, Answers
from crabhook.ui.news import Teller, Write
from crabhook.ui.show import card_lines, clock
from crabhook.ui.summary import is_question, project, summary, tool_label
from crabhook.ui.words import WORDS, Command, LineError, Word, help_lines, parse

JUST_NOW = 1.0  # seconds in which a person who writes may not have read that a card has ended
_DIALOG = (
    "has questions: without answers the agent will show its own dialog, "
    "or deny the call where nobody can see it"
)
_DECIDED_REMEMBERED = 1_000
_SHORTEST_WAIT = 0.01  # seconds; two clocks never agree to the last digit


async def run(
    desk: Desk, lines: AsyncIterator[str], write: Write, *, take_back_ms: int = 0
) -> None:
    """Let an operator decide by lines, until `quit`, the end of the lines, or of the reader.

    What still waits then is the caller's to release.  `write` may raise
    OSError: the operator has gone.  With `take_back_ms` an allow is held that
    many milliseconds, in which `undo` takes it back; what is held when the
    operator leaves was never given.
    """
    teller = Teller(desk)
    clerk = Clerk(desk, teller, take_back_ms / 1000)

    def hear(news: News) -> None:
        teller.hear(news)
        clerk.hear(news)

    teller.say(f"· crabhook, plain desk: {len(desk.waiting())} waiting; help lists the words")
    for card in desk.waiting():
        teller.hear(card)
    unsubscribe = desk.subscribe(hear)
    writing = asyncio.ensure_future(teller.write_to(write))
    reading = asyncio.ensure_future(clerk.follow(lines))
    reading.add_done_callback(lambda _: teller.close())
    try:
        await writing
        await reading
    except OSError:
        pass  # nobody reads what we write: the operator has gone
    finally:
        unsubscribe()
        clerk.leave()
        for task in (reading, writing):
            task.cancel()
        await asyncio.gather(reading, writing, return_exceptions=True)


class Clerk:
    """Does what the operator's lines say, one after the other, and says what came of it."""

    def __init__(self, desk: Desk, teller: Teller, take_back: float) -> None:
        self._desk = desk
        self._teller = teller
        self._say = teller.say
        self._take_back = take_back
        self._answers = Answers(desk, take_back)
        self._timer: asyncio.TimerHandle | None = None
        self._decided: deque[int] = deque(maxlen=_DECIDED_REMEMBERED)
        self._gone: Card | None = None

    def hear(self, news: News) -> None:
        """Take in what makes a held answer void, or another card the oldest."""
        if isinstance(news, FeedEntry):
            return
        self._complain(self._answers.news(news))
        ours = news.state is State.DECIDED and news.number in self._decided
        if news.state is State.WAITING or ours:
            return
        waiting = self._desk.waiting()
        if not waiting or news.number < waiting[0].number:
            self._gone = news

    async def follow(self, lines: AsyncIterator[str]) -> None:
        """Follow every line until `quit` or the end."""
        async for line in lines:
            if self.take(line):
                break
            await self._teller.room()
        if count := self._answers.waiting:
            self._complain(f"what was held was not given ({count}): you left before its time")

    def take(self, line: str) -> bool:
        """Follow one line; return whether it was the last."""
        try:
            command = parse(line)
            if command is None:
                return False
            if command.word.name == "quit":
                return True
            if command.word.about_a_card:
                _ABOUT_A_CARD[command.word.name](self, self._card(command), command)
            else:
                _ABOUT_ALL[command.word.name](self)
        except CrabhookError as error:
            self._complain(error)
        return False

    def leave(self) -> None:
        """Stop; what is held was never given."""
        if self._timer:
            self._timer.cancel()

    def _complain(self, error: object) -> None:
        if said := str(error):
            self._say(f"! {said}")

    def _card(self, command: Command) -> Card:
        """Return the card a line is about."""
        if command.number is not None:
            card = self._desk.card(command.number)
            if card is None:
                raise LineError(f"there is no #{command.number}", "list, to see what waits")
            return card
        waiting = self._desk.waiting()
        if not waiting:
            usage = WORDS["show"].usage()
            raise LineError("nothing waits", f"{usage}, to read what has ended")
        self._refuse_if_meant_another(command.word, waiting[0])
        return waiting[0]

    def _refuse_if_meant_another(self, word: Word, oldest: Card) -> None:
        """Refuse to decide a card that a moment ago was not the oldest, and so not meant."""
        gone = self._gone
        if gone is None or word.name == "show" or gone.number > oldest.number:
            return
        if self._desk.now() - gone.ended_at < JUST_NOW:
            wrong = f"#{gone.number} has just ended, and #{oldest.number} is the oldest now"
            raise LineError(wrong, word.usage(oldest.number))

    # What the words do.

    def _allow(self, card: Card, command: Command) -> None:
        if is_question(card.event):
            self._say(f"#{card.number} {_DIALOG}")
        self._decide(card, Decision(Verdict.ALLOW, note=command.rest))

    def _deny(self, card: Card, command: Command) -> None:
        self._decide(card, Decision(Verdict.DENY, reason=command.rest))

    def _ask(self, card: Card, _: Command) -> None:
        self._decide(card, Decision(Verdict.ASK))

    def _pass(self, card: Card, _: Command) -> None:
        self._decide(card, Decision(Verdict.PASS))

    def _answer(self, card: Card, command: Command) -> None:
        number, event = card.number, card.event
        if event.tool is None or not is_question(event):
            raise LineError(f"#{number} asks no questions", f"{number} allow, or {number} deny …")
        try:
            questions = read_questions(event.tool.input)
            answers = read_answers(command.rest, questions, number)
            merged = merge_answers(event.tool.input, answers)
        except QuestionError as error:
            wrong = f"#{number} cannot be answered: {error}"
            raise LineError(wrong, f"{number} allow, or {number} deny …") from error
        self._decide(card, Decision(Verdict.ALLOW, updated_input=merged))

    def _undo(self, card: Card, _: Command) -> None:
        if self._answers.held(card.number) is None:
            raise LineError(f"no allow of #{card.number} is held", "list, to see what waits")
        self._say(self._answers.take_back(card.number))

    def _show(self, card: Card, _: Command) -> None:
        self._say("\n".join(card_lines(card, self._desk.now(), whole=True)))

    def _list(self) -> None:
        waiting, now = self._desk.waiting(), self._desk.now()
        for card in waiting:
            event = card.event
            times = f"waits {clock(now - card.asked_at)}, {clock(card.wait_until - now)} left"
            about = f"{tool_label(event)} {project(event)} {summary(event)}".rstrip()
            self._say(f"#{card.number} {times} · {about}")
        if not waiting:
            self._say("· nothing waits")

    def _help(self) -> None:
        self._say("\n".join(help_lines()))

    # How a decision is given.

    def _decide(self, card: Card, decision: Decision) -> None:
        """Give a decision, or hold it where there is time to; it replaces one that is held."""
        number, now = card.number, self._desk.now()
        self._decided.append(number)
        self._answers.drop(number)
        in_time = card.state is State.WAITING and card.wait_until - now > self._take_back + JUST_NOW
        if decision.verdict in HELD_BACK and self._take_back and in_time:
            self._complain(self._answers.give(card, decision))
            self._say(
                f"#{number} is allowed in {self._take_back:.1f} s; {number} undo takes it back"
            )
            self._tick()
            return
        try:
            self._desk.answer(number, decision)
        except DecisionError as error:
            raise LineError(str(error), WORDS["show"].usage(number)) from error

    def _tick(self) -> None:
        """Give what has been held long enough, and come back for the next."""
        for said in self._answers.tick():
            self._complain(said)
        if self._timer:
            self._timer.cancel()
        if (due := self._answers.due) is not None:
            wait = max(due - self._desk.now(), _SHORTEST_WAIT)
            self._timer = asyncio.get_running_loop().call_later(wait, self._tick)


_ABOUT_A_CARD: Mapping[str, Callable[[Clerk, Card, Command], None]] = {
    "allow": Clerk._allow,  # noqa: SLF001 - the table of its own methods
    "deny": Clerk._deny,  # noqa: SLF001
    "ask": Clerk._ask,  # noqa: SLF001
    "pass": Clerk._pass,  # noqa: SLF001
    "answer": Clerk._answer,  # noqa: SLF001
    "undo": Clerk._undo,  # noqa: SLF001
    "show": Clerk._show,  # noqa: SLF001
}

_ABOUT_ALL: Mapping[str, Callable[[Clerk], None]] = {
    "list": Clerk._list,  # noqa: SLF001
    "help": Clerk._help,  # noqa: SLF001
}
