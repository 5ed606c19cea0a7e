"""Changes the screen on keys, pasted text, news of the desk and time.

The laws of this file: a key acts on the selected card alone. That card must have been in view,
unchanged, for the arming delay (`Arming`). The same holds for pages that ask for a yes or a choice.
A key that would allow unseen text shows that text first. A held key decides once, pasted keys
decide nothing. News moves no selection, text, editor or form.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from math import inf

from crabhook.desk.acts import Place, key_of
from crabhook.desk.commands import Command, Outcome
from crabhook.desk.updates import News, Snapshot
from crabhook.model.card import Card, FeedEntry, State
from crabhook.model.decision import Decision
from crabhook.model.errors import CrabhookError
from crabhook.present.safe import hidden
from crabhook.ui.full import effects as do
from crabhook.ui.full.arming import BURST, Sight
from crabhook.ui.full.dialog import Dialog, Go
from crabhook.ui.full.dialogs.card import QueueView, page_of_card
from crabhook.ui.full.dialogs.decide import second_yes
from crabhook.ui.full.dialogs.help import Palette
from crabhook.ui.full.dialogs.lists import HistoryView
from crabhook.ui.full.dialogs.page import ScreenPage, View
from crabhook.ui.full.dialogs.prompts import (
    AnswerCame,
    AskLine,
    InputLine,
    SecondYesPage,
    leaving,
    quitting,
)
from crabhook.ui.full.effects import EditOutside, Effects, ScreenEffect
from crabhook.ui.full.guard import Gate
from crabhook.ui.full.keys import is_a_key
from crabhook.ui.full.notify import clipboard
from crabhook.ui.full.panes.card import view_of
from crabhook.ui.full.panes.help import marked
from crabhook.ui.full.screen import Screen

QUIT_WITHIN = 2.0  # seconds between the two presses

_TAKES_BACK = key_of("take-back", Place.DESK).key
_LEAVING = ("c-c", key_of("quit", Place.DESK).key)
"""What is still obeyed while the desk's server is not heard; nothing can be done but to leave."""


class Controller:
    """Changes one screen by keys, news and time."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._errand: EditOutside | None = None
        self._copied = ""
        screen.stack.begin(QueueView(screen))
        self._gate = Gate(screen)
        self._quit_asked_at = -inf
        self._opened: int | None = None  # the card whose form was opened when it was selected

    # Input of the controller.

    def news(self, news: News) -> None:
        """Take in what the desk tells: the cards alone concern what the operator has begun."""
        screen = self._screen
        if isinstance(news, Snapshot):
            screen.selection.begin()
            for card in (*news.waiting, *news.ended):
                self._on_card(card)
            self._leave_answered()
        elif isinstance(news, Card):
            was_awake = screen.queue.awake(news.number)
            screen.selection.news(news)
            self._on_card(news)
            if screen.queue.awake(news.number) and not was_awake:
                self._leave_answered()
        if isinstance(news, Card | FeedEntry):
            screen.history.stale = True
            self._look_again()
        self._go_on()

    def _leave_answered(self) -> None:
        """Go on from a selected card whose answer is held when another card comes."""
        screen, card = self._screen, self._screen.card
        answered = card is not None and screen.answers.blocks(card)
        if answered and self._in_queue:
            self._advance()

    @property
    def _in_queue(self) -> bool:
        """Whether keys go to the queue itself."""
        return isinstance(self._screen.stack.top, QueueView)

    def _go_on(self) -> None:
        """Where the selected card has ended, select the next card and go into its form."""
        screen, card = self._screen, self._screen.card
        if screen.selection.ended and card is not None and self._in_queue:
            self._advance()
            elsewhere = card.state is not State.DECIDED or screen.desk.decided_by_another(card)
            if screen.card is not card and elsewhere:
                screen.say(f"#{card.number} {card.outcome}: this is the next request")
        self._open_form()

    def _open_form(self) -> None:
        """Go into the form of a card that was just selected: once, so that a way out stays."""
        screen = self._screen
        number = screen.card.number if screen.card else None
        if not self._in_queue or number == self._opened:
            return
        self._opened = number
        if screen.waits and not screen.marks and page_of_card(screen).CHOOSES:
            self._enter()

    def _on_card(self, card: Card) -> None:
        screen = self._screen
        screen.watch.news(card, needed=screen.desk.is_needed(card))
        screen.say(screen.answers.news(card))
        screen.say(screen.marks.news(card))
        selected = screen.card is not None and screen.card.number == card.number
        if card.state is not State.WAITING and not selected:
            screen.work.forget(card.number)

    def drawn(self, sight: Sight) -> None:
        """Take in which view the terminal now shows, and so what keys can act on."""
        screen = self._screen
        screen.arming.seen(sight.view, screen.desk.now())
        screen.shown |= sight.revisions
        if sight.view is not None:
            view_of(screen).drawn()

    def tick(self) -> None:
        """Take in that time has passed: send the answers that are due."""
        self._screen.answers.tick()
        self._look_again()

    def _look_again(self) -> None:
        if isinstance(self._screen.stack.view, HistoryView):
            self._screen.history.look_again()

    def wake_at(self) -> float | None:
        """Return when the next thing happens by itself, or None."""
        screen, now = self._screen, self._screen.desk.now()
        due = (screen.answers.due, screen.arming.due, screen.watch.due)
        later = (at for at in due if at is not None and at > now)
        return min(later, default=None)

    def press(self, key: str) -> None:
        """Take in a key by its name; the name of a printable key is the key itself."""
        screen, now = self._screen, self._screen.desk.now()
        screen.watch.key(now)
        if self._gate.comes(key, now) and (key in _LEAVING or not screen.desk.lost()):
            self._act(key)

    def _act(self, key: str) -> None:
        """Do what a key does now, if the guard lets it."""
        screen = self._screen
        dialog = screen.stack.top
        row = dialog.row(key)
        if row is not None:
            if self._gate.opens(row):
                self._gate.took(done=self._obey(lambda: row.do(dialog, key)))
        elif (field := dialog.field) is not None:
            self._gate.took(done=True)
            field.press(" " if key == "space" else key)
            self._typed()
        elif key == _TAKES_BACK:
            screen.say(screen.answers.too_late())
        elif screen.selection.ended and screen.card and dialog.supposing(waits=True).row(key):
            way = "" if self._in_queue else "esc, then "
            screen.say(f"#{screen.card.number} has ended: {way}↑ ↓ choose another")
        elif (lacking := dialog.supposing(role="").row(key)) is not None and lacking.act:
            screen.say(lacking.act.refusal(screen.desk.role()))
        elif screen.card and self._in_queue and is_a_key(key):
            screen.say(f"{key} does nothing at #{screen.card.number}: ? shows which keys do")
        self._go_on()

    def paste(self, text: str) -> None:
        """Take in pasted text; outside of the box and the editor it is nothing."""
        self._screen.watch.key(self._screen.desk.now())
        if (field := self._screen.stack.top.field) is not None:
            field.insert(text)
            self._typed()

    def _typed(self) -> None:
        if isinstance(line := self._screen.stack.top, InputLine):
            line.typed()

    def click(self, name: Hashable) -> None:
        """Take in a click on a card, a session or an entry: it is selected, and no more."""
        screen = self._screen
        screen.watch.key(screen.desk.now())
        if not screen.stack.top.LETS_GO:
            return
        screen.stack.back_to(type(screen.stack.view))
        if screen.listing is not None:
            screen.listing.choose(name)
        elif isinstance(name, int):
            screen.select(lambda: screen.selection.choose(name))
            self._open_form()

    def wheel(self, step: int, *, over_view: bool) -> None:
        """Scroll the part of the screen under the mouse wheel."""
        screen = self._screen
        screen.watch.key(screen.desk.now())
        if over_view and screen.stack.top.LETS_GO:
            (screen.listing or screen.selection).scroll(step)
        elif not over_view:
            view_of(screen).scroll(step)

    def take_copy(self) -> str:
        """Return, once, the escape sequence that fills the clipboard."""
        copied, self._copied = self._copied, ""
        return copied

    def take_errand(self) -> EditOutside | None:
        """Return, once, the text to edit outside; the screen is out of view meanwhile."""
        errand, self._errand = self._errand, None
        if errand is not None:
            self.drawn(Sight())  # what comes back into view is read anew
        return errand

    # What it does.

    def perform(self, effects: Effects) -> None:
        """Perform effects in their order."""
        for effect in effects:
            if not (self._shows(effect) or self._opens(effect) or self._does(effect)):
                raise NotImplementedError(f"nothing performs {effect!r}")

    def _obey(self, act: Callable[[], Effects | None]) -> bool:
        """Perform the effects of a handler; where the handler raises, say why and return False."""
        try:
            self.perform(act() or ())
        except CrabhookError as error:
            self._screen.say(str(error))
            return False
        return True

    def _shows(self, effect: ScreenEffect) -> bool:
        """Perform an effect that changes only the view; return whether it is one."""
        screen = self._screen
        match effect:
            case do.Say(text):
                screen.say(text)
            case do.Look(move, within):
                if isinstance(screen.stack.top, within):
                    move(view_of(screen))
            case do.PassOver():
                screen.selection.pass_over()
            case do.Uncover():
                screen.work.bare.turn(screen.card)
            case do.Unfold():
                screen.work.unfolded.turn(screen.card)
            case do.Copy(text):
                self._copied = clipboard(text)
                unseen = hidden(text)
                more = f", {unseen} of which cannot be seen" if unseen else ""
                screen.say(f"copied as it was sent: {len(text)} letters{more}")
            case _:
                return False
        return True

    def _opens(self, effect: ScreenEffect) -> bool:
        """Perform an effect that opens or leaves a dialog; return whether it is one."""
        screen, stack = self._screen, self._screen.stack
        match effect:
            case Dialog():
                stack.open(effect)
            case do.Close(then):
                stack.back()
                self.perform(then())
            case Go(page):
                self._go(QueueView if page is None else page)
            case do.Enter():
                self._enter()
            case AskLine():
                number = screen.card.number if screen.card and not effect.subject else None
                if number is not None or effect.subject:
                    stack.open(InputLine(screen, effect, number))
            case EditOutside():
                self._errand = effect
            case AnswerCame(waiting, then):
                if stack.top is waiting:
                    stack.back()
                    self.perform(then)
            case _:
                return False
        return True

    def _go(self, page: type[Dialog]) -> None:
        """Send keys back to a dialog that is open, or else to a page of the screen."""
        stack = self._screen.stack
        if stack.back_to(page):
            return
        if issubclass(page, View):
            stack.begin(page(self._screen))
        elif issubclass(page, ScreenPage):
            stack.open(page(self._screen))

    def _enter(self) -> None:
        """Go into the selected card."""
        page = page_of_card(self._screen)
        if not self._screen.stack.back_to(page):
            self._go(QueueView)
            self._go(page)

    def _does(self, effect: ScreenEffect) -> bool:
        """Perform an effect that reaches or leaves the desk; return whether it is one."""
        match effect:
            case do.Quit():
                self._quit()
            case do.Leave(sure):
                self._leave(sure=sure)
            case do.RunFound():
                self._run_found()
            case do.Give():
                self._give(effect)
            case do.GiveAll(cards, decision):
                self._give_all(cards, decision)
            case do.TakeBack(number):
                self._take_back(number)
            case do.Submit(command, then):
                self._submit(self._screen.answers.sparing(command), then)
            case _:
                return False
        return True

    def _submit(self, command: Command, then: Callable[[Outcome], Effects]) -> None:
        """Submit a command once its key can be no paste's any more; then do what follows."""
        within = BURST if self._screen.arming.delay else 0.0
        self._screen.answers.submit(
            command, lambda outcome: self._obey(lambda: then(outcome)), within
        )

    def _quit(self) -> None:
        """Quit at the second press; the first press says what quitting would do."""
        screen, now = self._screen, self._screen.desk.now()
        asked, self._quit_asked_at = self._quit_asked_at, now
        if now - asked <= QUIT_WITHIN:
            screen.done = True
            return
        screen.say(quitting(*screen.counts(), elsewhere=screen.options.elsewhere))

    def _leave(self, *, sure: bool) -> None:
        screen, elsewhere = self._screen, self._screen.options.elsewhere
        screen.done = sure or not any(screen.counts())
        if not screen.done:
            self.perform([leaving(screen.counts, elsewhere=elsewhere)])

    def _run_found(self) -> None:
        """Press the marked command's key as if the palette were closed, with its guards."""
        screen, palette = self._screen, self._screen.stack.top
        command = marked(screen, palette) if isinstance(palette, Palette) else None
        if command is None or not isinstance(palette, Palette):
            screen.say("no command has all of these words")
        elif not command.now:
            screen.say(f"not now: {command.name}")
        elif screen.desk.now() - palette.since < screen.options.arming:
            screen.say("this has only just come into view: read it, then press again")
        else:
            screen.stack.back()
            self._act(command.row.keys[0])

    def _give(self, effect: do.Give) -> None:
        screen = self._screen
        self._go(QueueView)
        if (card := screen.card) is not None:
            decision = screen.work.with_extras(card, effect.decision)
            rule = effect.rule is not None
            doubt = second_yes(card, decision, screen.desk, rule=rule)
            if doubt and effect.sure != doubt:
                screen.stack.open(SecondYesPage(screen, replace(effect, sure=doubt)))
                return
            screen.say(effect.said)
            screen.answers.give([screen.seen(card)], decision, effect.rule)
            if screen.card is not None and screen.card.number == card.number:
                self._advance()

    def _advance(self) -> None:
        """If the operator wants so, select the next card without an answer on its way."""
        screen = self._screen
        if screen.options.advance:
            screen.select(lambda: screen.selection.pass_over(screen.answers.blocks))

    def _give_all(self, cards: Sequence[Card], decision: Decision) -> None:
        screen, outcomes = self._screen, list[Outcome]()

        def settled(outcome: Outcome) -> None:
            outcomes.append(outcome)
            faults = [outcome.why for outcome in outcomes if outcome.why]
            if faults:
                done = f"{len(outcomes) - len(faults)} of {len(cards)} {decision.verdict.done}"
                screen.say("; ".join([done, *faults[:3]]))

        self._go(QueueView)
        screen.answers.give([screen.seen(card) for card in cards], decision, then=settled)
        if screen.card in cards:
            self._advance()

    def _take_back(self, number: int | None) -> None:
        screen = self._screen
        number = screen.answers.last(number)
        screen.say(screen.answers.take_back(number))
        if number is not None and screen.options.advance and self._in_queue:
            screen.select(lambda: screen.selection.choose(number))
