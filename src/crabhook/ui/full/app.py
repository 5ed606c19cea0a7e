"""The thin rim: prompt_toolkit's terminal around a Screen. Keys go in, pictures come out."""

import asyncio
import math
import os
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TextIO, cast

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout, UIContent, UIControl, Window
from prompt_toolkit.mouse_events import MouseEvent, MouseEventType
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.output.defaults import create_output

from crabhook.desk.commands import Claim
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Desk, News
from crabhook.model.card import State
from crabhook.present.phrases import Clock
from crabhook.ui.full.controller import Controller
from crabhook.ui.full.dialog import terminal_keys
from crabhook.ui.full.dialogs.external_editor import ExternalEditing
from crabhook.ui.full.keys import KEYS
from crabhook.ui.full.layout import Frame, Painter
from crabhook.ui.full.notify import Notifier, write
from crabhook.ui.full.screen import Screen
from crabhook.ui.full.text_input import LINE_KEYS, TEXT_KEYS
from crabhook.ui.options import DeskOptions
from crabhook.ui.terminal import NonBlockingOutput
from crabhook.ui.text.style import (
    GROUND,
    QUESTION,
    AskedInput,
    Theme,
    class_of,
    may_be_asked,
    style,
)

_WHEEL = {MouseEventType.SCROLL_UP: -3, MouseEventType.SCROLL_DOWN: 3}  # rows
REDRAW_AFTER = 0.005  # seconds: so that a hook has its answer, and ends, before we draw
REDRAW_EVERY = 0.03  # seconds at least between two pictures, however much arrives
MOVING_EVERY = 0.1  # seconds between two pictures of a bar that shrinks
CLAIM_AFTER = 0.3  # seconds that a card must be in view before other desks hear of it
CLAIM_EVERY = 30.0  # seconds between two messages about the same card
CHORD_WAIT = 1.0  # seconds in which two keys make one chord, such as ctrl-x ctrl-e
ESCAPE_WAIT = 0.05  # seconds after which a lone escape is the key and not the start of another


async def run(  # noqa: PLR0913 - two are for tests
    desk: Desk,
    *,
    options: DeskOptions,
    title: str = "",
    last_word: Awaitable[str] | None = None,
    input: Input | None = None,  # noqa: A002 - prompt_toolkit's own name for it
    output: Output | None = None,
) -> int:
    """Show the desk full-screen until the operator leaves; return how many requests still wait.

    Runs in the loop that brings the desk its news. `last_word` is shown from its coming on, where
    nothing else is said. Drops answers that are still held; the caller
    releases what waits.
    """
    replica = Replica(desk, time.monotonic)
    screen = Screen(replica, options, title)
    controller = Controller(screen)
    control = _Picture(screen, controller)
    editing = ExternalEditing(screen.say)
    terminal = NonBlockingOutput.over(sys.stdout) if output is None and sys.stdout else None

    def on_ground(light: bool) -> None:  # noqa: FBT001 - the one thing it is told
        application.style = style(Theme.LIGHT if light else Theme.DARK)
        application.invalidate()

    ask = input is None and options.theme is Theme.AUTO and may_be_asked(os.environ)
    application = _Desk(
        terminal,
        layout=Layout(Window(control, style=class_of(GROUND), always_hide_cursor=False)),
        key_bindings=_bindings(screen, controller, editing),
        style=style(options.theme),
        color_depth=ColorDepth.DEPTH_1_BIT if options.theme is Theme.MONO else None,
        full_screen=True,
        enable_page_navigation_bindings=False,
        mouse_support=True,
        min_redraw_interval=REDRAW_EVERY,
        max_render_postpone_time=REDRAW_EVERY,
        input=AskedInput(sys.stdin, on_ground) if ask else input,
        output=create_output(cast("TextIO", terminal)) if terminal else output,
    )
    application.ttimeoutlen = ESCAPE_WAIT
    application.timeoutlen = CHORD_WAIT
    application.pre_run_callables += [lambda: write(application.output, QUESTION)] if ask else []
    caller = Notifier(screen, application.output)
    changed = asyncio.Event()

    def on_news(news: News) -> None:
        controller.news(news)
        changed.set()
        application.invalidate()

    def end_with_its_clock(pulse: asyncio.Future[None]) -> None:
        if not pulse.cancelled() and (error := pulse.exception()) and application.is_running:
            application.exit(exception=error)

    application.after_render += lambda _: application.when_taken(control.drawn)
    application.after_render += lambda _: changed.set()
    stop = replica.follow(on_news)
    pulse = asyncio.ensure_future(
        _pulse(screen, controller, caller, changed, application.invalidate)
    )
    pulse.add_done_callback(end_with_its_clock)

    async def show_last_word() -> None:
        if last_word is not None:
            screen.last_word = await last_word
            application.invalidate()

    parting = asyncio.ensure_future(show_last_word())
    running = asyncio.ensure_future(
        application.run_async(set_exception_handler=False, handle_sigint=False)
    )
    try:
        await asyncio.wait([running])
        running.result()
    finally:
        stop()
        editing.stop()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        pulse.cancel()
        parting.cancel()
        await asyncio.gather(pulse, parting, return_exceptions=True)
        await caller.close()
        if terminal is not None:
            await terminal.close()
    return len(replica.waiting())


async def _pulse(
    screen: Screen,
    controller: Controller,
    caller: Notifier,
    changed: asyncio.Event,
    redraw: Callable[[], None],
) -> None:
    """Give the screen the time: each second, and when something is due."""
    looked_at, claim_at = 0, math.inf
    while True:
        changed.clear()
        caller.call()
        card, now = screen.card, screen.desk.now()
        number = card.number if card and card.state is State.WAITING else 0
        if number != looked_at:
            looked_at, claim_at = number, now + CLAIM_AFTER
        if now >= claim_at:
            screen.desk.submit(Claim(number, release=not number))
            claim_at = now + CLAIM_EVERY if number else math.inf
        due = controller.wake_at()
        wait = min(1.0 - time.time() % 1.0, claim_at - now)
        if due is not None:
            wait = min(wait, max(due - screen.desk.now(), 0.0))
        if screen.answers.waiting:
            wait = min(wait, MOVING_EVERY)
        try:
            async with asyncio.timeout(wait):
                await changed.wait()
        except TimeoutError:
            controller.tick()
            redraw()


def _bindings(screen: Screen, controller: Controller, editing: ExternalEditing) -> KeyBindings:
    """Bind every named key of the table and of text input, and each printable key as itself."""
    bindings = KeyBindings()

    def press(name: str, event: KeyPressEvent) -> None:
        controller.press(name)
        if screen.done and not event.app.is_done:
            event.app.exit()
        if copied := controller.take_copy():
            write(event.app.output, copied)
        if (errand := controller.take_errand()) is not None:
            editing.begin(errand, event.app)

    named = {name for row in KEYS for name in row.keys}
    for name in sorted(named | LINE_KEYS | TEXT_KEYS | {"space"}):
        bindings.add(*terminal_keys(name))(partial(press, name))

    @bindings.add(Keys.Any)
    def _any(event: KeyPressEvent) -> None:
        if len(event.data) == 1 and event.data.isprintable():
            press(event.data, event)

    @bindings.add(Keys.BracketedPaste)
    def _paste(event: KeyPressEvent) -> None:
        controller.paste(event.data)

    return bindings


class _Desk(Application[None]):
    """An application that draws a little later, and never while its terminal takes a picture."""

    def __init__(self, terminal: NonBlockingOutput | None, **how: Any) -> None:  # noqa: ANN401 - as the class it is
        self._terminal = terminal
        self._soon: asyncio.TimerHandle | None = None
        super().__init__(**how)

    def invalidate(self) -> None:
        """Draw soon; what changes until then is in the same picture."""
        if self.loop is not None and self._soon is None:
            self._soon = self.loop.call_later(REDRAW_AFTER, self._draw_now)

    def _draw_now(self) -> None:
        self._soon = None
        super().invalidate()

    def when_taken(self, do: Callable[[], object]) -> None:
        """Do something once what was drawn is on the terminal."""
        self._terminal.then(do) if self._terminal else do()

    def _redraw(self, render_as_done: bool = False) -> None:  # noqa: FBT001, FBT002 - its own name
        if self._terminal and self._terminal.busy and not render_as_done:
            self._terminal.then(self.invalidate)
        else:
            super()._redraw(render_as_done)


class _Picture(UIControl):
    """The whole terminal as one control, drawn afresh each time."""

    def __init__(self, screen: Screen, controller: Controller) -> None:
        self._screen, self._controller = screen, controller
        self._painter = Painter(screen)
        self._frame = Frame([])

    def create_content(self, width: int, height: int) -> UIContent:
        """Draw the screen at this size."""
        clock = Clock(self._screen.desk.now(), time.time())
        frame = self._frame = self._painter.frame(width, height, clock)
        cursor = Point(*frame.cursor) if frame.cursor else None
        return UIContent(
            get_line=lambda row: [(class_of(name), text) for name, text in frame.lines[row]],
            line_count=len(frame.lines),
            cursor_position=cursor,
            show_cursor=cursor is not None,
        )

    def mouse_handler(self, mouse_event: MouseEvent) -> None:
        """Take in the mouse: it chooses and scrolls, and never decides."""
        place = mouse_event.position
        name = self._frame.named.get(place.y) if place.x < self._frame.queue_columns else None
        step = _WHEEL.get(mouse_event.event_type, 0)
        if step:
            self._controller.wheel(step, over_view=name is not None)
        elif mouse_event.event_type is MouseEventType.MOUSE_DOWN and name is not None:
            self._controller.click(name)

    def is_focusable(self) -> bool:
        """Take the keys: no other control does."""
        return True

    def drawn(self) -> None:
        """Tell the screen that its picture is on the terminal now."""
        self._controller.drawn(self._frame.sight)
