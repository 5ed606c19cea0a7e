"""What the screen is told, and what is done then: keys, pasted text, news of the desk, time.

The laws of this file: a key that does something to a card acts on the
selected one alone, and only once that has been in view, unchanged, for the
arming delay (`screen.Arming`); so it is with a page that asks for a yes, or for a
choice.  What arrives never moves the selection, the box, the editor or the
form.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import singledispatchmethod

from crabhook.desk.interface import News
from crabhook.model.card import Card, State
from crabhook.model.decision import Beside, Choices, Decision, Verdict
from crabhook.model.errors import CrabhookError
from crabhook.ui.full import effects as do
from crabhook.ui.full.dialogs.edit import Edit
from crabhook.ui.full.dialogs.prompts import AskLine, Menu, MenuFilled, Proposal
from crabhook.ui.full.effects import EditOutside, Effect, Effects
from crabhook.ui.full.filters import KeyContext, Mode
from crabhook.ui.full.keyrow import Guard
from crabhook.ui.full.keys import key_for
from crabhook.ui.full.panes.card import view_of
from crabhook.ui.full.screen import Screen
from crabhook.ui.text.clock import lasting

READ_WITHIN = 0.05  # seconds until what is being read about a card is looked for again
DEAF_AFTER_ESCAPE = 0.1  # seconds
QUIT_WITHIN = 2.0  # seconds between the two presses


class Escapes:
    """Tells letters typed from the rest of a sequence that began with an escape.

    A terminal sends what we do not know (Alt with a letter, a report nobody
    asked for) as an escape and letters at once; such a letter is no answer.
    """

    def __init__(self) -> None:
        self._last: float | None = None

    def swallow(self, key: str, now: float) -> bool:
        """Whether `key`, pressed at `now`, came too close behind an escape to be a letter typed."""
        if key == "escape":
            self._last = now
            return False
        return len(key) == 1 and self._last is not None and now - self._last < DEAF_AFTER_ESCAPE


class Controller:
    """Changes one screen by what it is told."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._errand: EditOutside | None = None
        self._escapes = Escapes()
        self._quit_asked_at: float | None = None

    # What it is told.

    def news(self, news: News) -> None:
        """Take in a new or changed card, or a new line of the feed."""
        if not isinstance(news, Card):
            return
        screen = self._screen
        screen.selection.news(news)
        screen.watch.news(news)
        screen.say(screen.answers.news(news))
        screen.say(screen.marks.news(news))
        selected = screen.card is not None and screen.card.number == news.number
        if news.state is not State.WAITING and not selected:
            screen.work.forget(news.number)

    def drawn(self, *, shows_card: bool) -> None:
        """Take in that the screen was drawn, and whether what keys act on can be read on it."""
        screen = self._screen
        screen.arming.seen(screen.sight() if shows_card else None, screen.desk.now())

    def tick(self) -> None:
        """Take in that time has passed: fill the list that waits, send the answers that are due."""
        self._fill_menu()
        for said in self._screen.answers.tick():
            self._screen.say(said)

    def wake_at(self) -> float | None:
        """Return when the next thing happens by itself, or None."""
        screen, now = self._screen, self._screen.desk.now()
        card = screen.card
        if self._filling() or (card is not None and not screen.work.surroundings.read(card)):
            return now + READ_WITHIN
        due = (screen.answers.due, screen.arming.due, screen.watch.due)
        return min((at for at in due if at is not None and at > now), default=None)

    def press(self, key: str) -> None:
        """Take in a key by its name; a printable one is its own name."""
        screen, now = self._screen, self._screen.desk.now()
        screen.watch.key(now)
        if self._escapes.swallow(key, now):
            return
        screen.notice.key(now)
        context = screen.key_context()
        found = key_for(key, context)
        if found is not None:
            if self._may(found.guard):
                self._obey(lambda: found.do(screen, key))
        elif (field := screen.focus.field) is not None:
            field.press(" " if key == "space" else key)
        elif screen.selection.ended and screen.card and self._would_decide(key, context):
            way = "↑ ↓ choose" if context.mode is Mode.QUEUE else "esc, then ↑ ↓ choose"
            screen.say(f"#{screen.card.number} has ended; {way} another")

    def paste(self, text: str) -> None:
        """Take in pasted text; outside of the box and the editor it is nothing."""
        self._screen.watch.key(self._screen.desk.now())
        if (field := self._screen.focus.field) is not None:
            field.insert(text)

    def take_errand(self) -> EditOutside | None:
        """Return, once, what is to be edited outside: the screen is out of view meanwhile."""
        errand, self._errand = self._errand, None
        if errand is not None:
            self.drawn(shows_card=False)  # what comes back into view is read anew
        return errand

    # Which keys it obeys.

    def _would_decide(self, key: str, context: KeyContext) -> bool:
        """Whether a key would do something to the selected card if that had not ended."""
        card = self._screen.card
        every = Choices(frozenset(Verdict), card.choices.beside if card else Beside.NOTHING)
        return key_for(key, replace(context, waits=True, choices=every)) is not None

    def _may(self, guard: Guard) -> bool:
        """Whether a key is obeyed now; a key on a held card takes the held answer back first."""
        screen = self._screen
        typing = screen.focus.typing
        about_a_card = typing is not None and typing.number is not None
        if guard is Guard.FREE or (guard is Guard.LINE and not about_a_card):
            return True
        if screen.focus.on_page:
            return self._may_on_page()
        card = screen.card
        if card is None or screen.selection.ended:
            return True
        if not screen.armed():
            screen.say(f"#{card.number} has only just come into view: read it, then press again")
            return False
        if screen.answers.held(card.number):
            if guard is Guard.ALLOW:
                screen.say(f"#{card.number} is allowed already; u takes it back")
                return False
            screen.say(screen.answers.take_back(card.number))
        return True

    def _may_on_page(self) -> bool:
        """Whether a page may be said yes to: it was read, and the card it is about still waits."""
        screen = self._screen
        number, card = screen.focus.number, screen.card
        ended = card is None or card.number != number or screen.selection.ended
        if number is not None and ended:
            screen.say(f"#{number} has ended: nothing was sent")
            return False
        if not screen.armed():
            screen.say("this has only just come into view: read it, then press again")
            return False
        return True

    # What it does.

    def perform(self, effects: Effects) -> None:
        """Perform effects in their order, up to the first effect that the desk refuses."""
        self._obey(lambda: effects)

    def _obey(self, act: Callable[[], Effects | None]) -> None:
        """Perform what a handler returns; say why where it raises, or the desk refuses."""
        try:
            for effect in act() or ():
                self._perform(effect)
        except CrabhookError as error:
            self._screen.say(str(error))

    @singledispatchmethod
    def _perform(self, effect: Effect) -> None:
        raise NotImplementedError(f"nothing performs {effect!r}")

    @_perform.register
    def _say(self, effect: do.Say) -> None:
        self._screen.say(effect.text)

    @_perform.register
    def _go(self, effect: do.Go) -> None:
        self._screen.focus.mode = effect.mode

    @_perform.register
    def _visit(self, effect: do.Visit) -> None:
        self._screen.focus.visit(effect.mode)

    @_perform.register
    def _reveal(self, effect: do.Reveal) -> None:
        if effect.mode in (None, self._screen.focus.mode):
            view_of(self._screen).reveal(effect.item)

    @_perform.register
    def _scroll(self, effect: do.Scroll) -> None:
        view = view_of(self._screen)
        view.scroll(effect.rows + effect.pages * view.page)

    @_perform.register
    def _scroll_far(self, effect: do.ScrollFar) -> None:
        view = view_of(self._screen)
        view.to_start() if effect.step < 0 else view.to_end()

    @_perform.register
    def _pass_over(self, _: do.PassOver) -> None:
        self._screen.selection.pass_over()

    @_perform.register
    def _ask_line(self, effect: AskLine) -> None:
        self._screen.focus.open_line(effect, self._screen.card)

    @_perform.register
    def _open_edit(self, effect: Edit) -> None:
        self._screen.focus.open_edit(effect)

    @_perform.register
    def _edit_outside(self, effect: EditOutside) -> None:
        self._errand = effect

    @_perform.register
    def _propose(self, effect: Proposal) -> None:
        focus = self._screen.focus
        focus.proposal, focus.mode = effect, Mode.CONFIRM

    @_perform.register
    def _show_menu(self, effect: Menu) -> None:
        self._screen.focus.open_menu(effect)
        self._fill_menu()

    @_perform.register
    def _menu_filled(self, effect: MenuFilled) -> None:
        self._screen.focus.fill_menu(effect.menu)

    def _filling(self) -> Callable[[], Effects] | None:
        """Return what fills the list in view, if it is still to be filled."""
        focus = self._screen.focus
        return focus.menu.fill if focus.mode is Mode.MENU and focus.menu else None

    def _fill_menu(self) -> None:
        if fill := self._filling():
            self._obey(fill)

    @_perform.register
    def _quit(self, _: do.Quit) -> None:
        """Quit at the second press; at the first say what that would do."""
        screen, now = self._screen, self._screen.desk.now()
        asked, self._quit_asked_at = self._quit_asked_at, now
        if asked is not None and now - asked <= QUIT_WITHIN:
            screen.done = True
            return
        waiting = len(screen.selection.waiting())
        requests = "request" if waiting == 1 else "requests"
        screen.say(
            f"Ctrl-C again to quit; {waiting} waiting {requests} will be released with no opinion"
        )

    @_perform.register
    def _give(self, effect: do.Give) -> None:
        screen = self._screen
        screen.focus.mode = Mode.QUEUE
        if (card := screen.card) is not None:
            decision = self._with_extras(card, effect.decision)
            screen.say(screen.answers.give(card, decision, effect.rule) or effect.said)

    def _with_extras(self, card: Card, decision: Decision) -> Decision:
        """Return a decision with what was kept to go with it."""
        work = self._screen.work
        if Beside.MESSAGE in card.choices.beside:
            decision = replace(decision, user_message=work.messages.get(card.number, ""))
        return replace(decision, suppress_output=True) if card.number in work.quiet else decision

    @_perform.register
    def _give_all(self, effect: do.GiveAll) -> None:
        cards, decision = effect.cards, effect.decision
        faults = self._screen.answers.give_all(cards, decision)
        done = f"{len(cards) - len(faults)} of {len(cards)} {decision.verdict.done}"
        self._screen.say("; ".join([done, *faults[:3]]) if faults else "")

    @_perform.register
    def _take_back(self, effect: do.TakeBack) -> None:
        self._screen.say(self._screen.answers.take_back(effect.number))

    @_perform.register
    def _extend(self, effect: do.Extend) -> None:
        longer = self._screen.desk.extend(effect.card.number, effect.seconds)
        gained = longer.wait_until - effect.card.wait_until
        self._screen.say(f"#{effect.card.number} waits {lasting(gained)} longer")

    @_perform.register
    def _snooze(self, effect: do.Snooze) -> None:
        self._screen.desk.snooze(effect.number, effect.seconds)

    @_perform.register
    def _give_order(self, effect: do.GiveOrder) -> None:
        self._screen.desk.order(effect.order)

    @_perform.register
    def _end_orders(self, effect: do.EndOrders) -> None:
        self._screen.desk.revoke(effect.ids)
