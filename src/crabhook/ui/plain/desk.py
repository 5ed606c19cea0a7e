"""The desk of lines, for pipes, screen readers and small terminals: it follows line after line."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from time import monotonic

from crabhook.datatypes import frozen
from crabhook.desk import updates
from crabhook.desk.replica import Replica
from crabhook.model.card import Card, FeedEntry
from crabhook.present.cover import covered
from crabhook.present.summary import brief
from crabhook.ui.commands.orders import order_line
from crabhook.ui.plain.interpreter import Interpreter
from crabhook.ui.plain.output import PROGRAMS, OutputQueue, Write
from crabhook.ui.plain.person import DetailLevel, PersonFormat

FAREWELL = 1.0  # seconds; an operator who has not read the last lines by then has left


@frozen
class PlainOptions:
    """How an operator wants the plain desk."""

    take_back_ms: int = 0  # how long an allow is held for `undo`; 0 sends at once
    detail: DetailLevel | None = None  # how much a person reads; None for a program's format
    from_start: bool = False  # also print what happened before, as at the server's own desk


FOR_PROGRAMS = PlainOptions()


async def run(
    desk: updates.Desk,
    lines: AsyncIterator[str],
    write: Write,
    *,
    options: PlainOptions = FOR_PROGRAMS,
    clock: Callable[[], float] = monotonic,
) -> None:
    """Let an operator decide by lines, until `quit` or the end of the lines or of the reader.

    The caller releases what still waits; held decisions are never given. `clock` is this process's.
    """
    replica = Replica(desk, clock)
    form = PROGRAMS if options.detail is None else PersonFormat(replica, options.detail)
    output = OutputQueue(replica, form)
    interpreter = Interpreter(replica, output, options.take_back_ms / 1000)
    telling = _Telling(output, interpreter, options)
    unsubscribe = replica.follow(telling.on_news)
    writing = asyncio.ensure_future(output.write_to(write))
    reading = asyncio.ensure_future(interpreter.follow(lines))
    reading.add_done_callback(lambda _: output.close())
    try:
        await writing
        await reading
    except OSError:
        pass  # the reader is gone: the operator has left
    finally:
        unsubscribe()
        interpreter.leave()
        for task in (reading, writing):
            task.cancel()
        await asyncio.gather(reading, writing, return_exceptions=True)


class _Telling:
    """Tells where the desk is and what happens there, and a person how all is when that changes."""

    def __init__(
        self, output: OutputQueue, interpreter: Interpreter, options: PlainOptions
    ) -> None:
        self._output, self._interpreter, self._options = output, interpreter, options
        self._greeted, self._state = False, ""

    def on_news(self, news: updates.News) -> None:
        """Have a piece of news printed, and the interpreter take it in."""
        output = self._output
        match news:
            case FeedEntry():
                output.on_news(news)
            case Card():
                output.on_news(news)
                self._interpreter.on_card(news)
            case updates.Settled():
                self._interpreter.settled()
            case updates.Snapshot():
                self._begin(news)
            case updates.HouseChanged():
                self._tell_state(news.state)
            case updates.Claimed() if notice := output.form.looks(news.card):
                output.say(notice)
            case updates.LinkChanged(lost=lost, refused=True):
                notice = "the server takes this desk no more, and nothing can be decided here"
                output.say(f"! {brief(lost, covered)}: {notice}; an admin can invite you anew")
            case updates.LinkChanged(lost=lost, changed=changed):
                lost, changed = brief(lost, covered), brief(changed, covered)
                wrong = f"! no connection to the server: {lost}; nothing can be done"
                output.say(wrong if lost else f"· {changed or 'connected again'}")

    def _begin(self, all_of_it: updates.Snapshot) -> None:
        """Greet once, and take in all there is."""
        output, house = self._output, all_of_it.house or updates.HouseChanged()
        today = "" if self._greeted or not house.today else f" · today: {covered(house.today)}"
        if not self._greeted:
            self._greeted = True
            words = "? lists the words" if "?" in output.form.words else "help lists the words"
            output.say(f"· crabhook, plain desk: {len(all_of_it.waiting)} waiting; {words}")
            for wrong in all_of_it.troubles:
                output.say(f"! {brief(wrong, covered)}")
            for order in all_of_it.orders:
                output.say(order_line(order, all_of_it.now))
            for entry in all_of_it.feed if self._options.from_start else ():
                output.on_news(entry)
        self._tell_state(house.state, today)
        for card in all_of_it.waiting:
            output.on_news(card)
        self._interpreter.begin()

    def _tell_state(self, state: str, today: str = "") -> None:
        """Tell a person the state of rules and record, where it is new."""
        if self._options.detail is not None and state != self._state:
            self._state = state
            self._output.say(f"· {covered(state)}{today}")


async def farewell(
    desk: updates.Desk,
    release: Callable[[], None],
    write: Write,
    summary: Callable[[int], Iterable[str]] | None = None,
) -> None:
    """Have `release` let go what waits, print how each card ended, then the `summary`."""
    ended: list[Card] = []

    def on_update(update: updates.Update) -> None:
        if isinstance(update.news, Card) and update.news.outcome:
            ended.append(update.news)

    unsubscribe = desk.subscribe(on_update)
    try:
        release()
    finally:
        unsubscribe()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(FAREWELL):
            for card in ended:
                await write(PROGRAMS.outcome(card))
            for line in summary(len(ended)) if summary else ():
                await write(line)
