"""What the screen is told, and what is done then: keys, pasted text, news of the desk, time.

The laws of this file: a key that does something to a card acts on the
selected one alone, and only once that has been in view, unchanged, for the
arming delay (`Arming`); so it is with a page that asks for a yes, or for a
choice.  What was never on the screen is not allowed: such a key goes on to it.
A held key decides once, and keys that come as pasted text does decide nothing.
What arrives never moves the selection, the box, the editor or the form.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import singledispatchmethod

from crabhook.desk.commands import Outcome
from crabhook.desk.updates import News, Snapshot
from crabhook.model.card import Card, State
from crabhook.model.decision import Beside, Choices, Decision, Verdict
from crabhook.model.errors import CrabhookError
from crabhook.ui.full import effects as do
from crabhook.ui.full.dialogs.decide import second_yes
from crabhook.ui.full.dialogs.edit import Edit
from crabhook.ui.full.dialogs.prompts import Arrived, AskLine, Menu, Proposal, statement
from crabhook.ui.full.effects import EditOutside, Effect, Effects
from crabhook.ui.full.filters import KeyContext, Mode
from crabhook.ui.full.guard import Gate
from crabhook.ui.full.keys import key_for
from crabhook.ui.full.notify import clipboard
from crabhook.ui.full.panes.card import view_of
from crabhook.ui.full.panes.help import marked
from crabhook.ui.full.screen import Screen, Sight
from crabhook.ui.tally import NO_OPINION
from crabhook.ui.text.layout import Content
from crabhook.ui.text.safe import hidden

# Where a click on a card selects it: what is begun in these is kept.
_CHOOSING = frozenset({Mode.QUEUE, Mode.TEXT, Mode.FORM, Mode.FILL, Mode.NOTES})
QUIT_WITHIN = 2.0  # seconds between the two presses


class Controller:
    """Changes one screen by what it is told."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._errand: EditOutside | None = None
        self._copied = ""
        self._gate = Gate(screen)
        self._quit_asked_at: float | None = None

    # What it is told.

    def news(self, news: News) -> None:
        """Take in what the desk tells: the cards alone concern what the operator has begun."""
        screen = self._screen
        if isinstance(news, Snapshot):
            screen.selection.begin()
            for card in (*news.waiting, *news.ended):
                self._hear(card)
        elif isinstance(news, Card):
            screen.selection.news(news)
            self._hear(news)
        screen.open_form()

    def _hear(self, card: Card) -> None:
        screen = self._screen
        screen.watch.news(card)
        screen.say(screen.answers.news(card))
        screen.say(screen.marks.news(card))
        selected = screen.card is not None and screen.card.number == card.number
        if card.state is not State.WAITING and not selected:
            screen.work.forget(card.number)

    def drawn(self, sight: Sight) -> None:
        """Take in that a picture is on the terminal, and what of it keys can act on."""
        screen = self._screen
        screen.arming.seen(sight.view, screen.desk.now())
        screen.shown |= sight.revisions
        if sight.view is not None:
            view_of(screen).drawn()

    def tick(self) -> None:
        """Take in that time has passed: send the answers that are due."""
        self._screen.answers.tick()

    def wake_at(self) -> float | None:
        """Return when the next thing happens by itself, or None."""
        screen, now = self._screen, self._screen.desk.now()
        due = (screen.answers.due, screen.arming.due, screen.watch.due)
        return min((at for at in due if at is not None and at > now), default=None)

    def press(self, key: str) -> None:
        """Take in a key by its name; a printable one is its own name."""
        screen, now = self._screen, self._screen.desk.now()
        screen.watch.key(now)
        if self._gate.comes(key, now):
            self._act(key)

    def _act(self, key: str) -> None:
        """Do what a key does now, if it is obeyed."""
        screen = self._screen
        context = screen.key_context()
        found = key_for(key, context)
        if found is not None:
            if self._gate.opens(found.guard):
                self._obey(lambda: found.do(screen, key))
        elif (field := screen.focus.field) is not None:
            field.press(" " if key == "space" else key)
            screen.focus.typed()
        elif screen.selection.ended and screen.card and self._would_decide(key, context):
            way = "↑ ↓ choose" if context.mode is Mode.QUEUE else "esc, then ↑ ↓ choose"
            screen.say(f"#{screen.card.number} has ended; {way} another")
        screen.open_form()

    def paste(self, text: str) -> None:
        """Take in pasted text; outside of the box and the editor it is nothing."""
        self._screen.watch.key(self._screen.desk.now())
        if (field := self._screen.focus.field) is not None:
            field.insert(text)
            self._screen.focus.typed()

    def click(self, number: int) -> None:
        """Take in a click on a card of the queue: it is selected, and no more."""
        screen = self._screen
        screen.watch.key(screen.desk.now())
        if screen.focus.mode in _CHOOSING:
            screen.focus.mode = Mode.QUEUE
            screen.select(lambda: screen.selection.go_to(number))
            screen.open_form()

    def wheel(self, step: int, *, over_queue: bool) -> None:
        """Take in a turn of the wheel: what it is over scrolls, and no more."""
        screen = self._screen
        screen.watch.key(screen.desk.now())
        if over_queue and screen.focus.mode in _CHOOSING:
            screen.selection.scroll(step)
        elif not over_queue:
            view_of(screen).scroll(step)

    def take_copy(self) -> str:
        """Return, once, the escape sequence that copies what is to be copied."""
        copied, self._copied = self._copied, ""
        return copied

    def take_errand(self) -> EditOutside | None:
        """Return, once, what is to be edited outside: the screen is out of view meanwhile."""
        errand, self._errand = self._errand, None
        if errand is not None:
            self.drawn(Sight())  # what comes back into view is read anew
        return errand

    # Which keys it obeys.

    def _would_decide(self, key: str, context: KeyContext) -> bool:
        """Whether a key would do something to the selected card if that had not ended."""
        card = self._screen.card
        every = Choices(frozenset(Verdict), card.choices.beside if card else Beside.NOTHING)
        return key_for(key, replace(context, waits=True, choices=every)) is not None

    # What it does.

    def perform(self, effects: Effects) -> None:
        """Perform effects in their order."""
        for effect in effects:
            self._perform(effect)

    def _obey(self, act: Callable[[], Effects | None]) -> None:
        """Perform what a handler returns; where it raises, say why."""
        try:
            self.perform(act() or ())
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
    def _copy(self, effect: do.Copy) -> None:
        self._copied = clipboard(effect.text)
        unseen = hidden(effect.text)
        more = f", {unseen} of which cannot be seen" if unseen else ""
        self._screen.say(f"copied as it was sent: {len(effect.text)} letters{more}")

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

    @_perform.register
    def _arrived(self, effect: Arrived) -> None:
        focus = self._screen.focus
        if focus.mode is Mode.MENU and focus.menu is effect.waiting:
            focus.fill_menu(effect.menu)
            self.perform(effect.then)

    @_perform.register
    def _quit(self, _: do.Quit) -> None:
        """Quit at the second press; at the first say what that would do."""
        screen, now = self._screen, self._screen.desk.now()
        asked, self._quit_asked_at = self._quit_asked_at, now
        if asked is not None and now - asked <= QUIT_WITHIN:
            screen.done = True
            return
        waiting, unsent = screen.selection.queue.count, screen.answers.waiting
        requests = "request" if waiting == 1 else "requests"
        held = f", {unsent} of them answered and not sent yet" if unsent else ""
        screen.say(
            f"Ctrl-C again to quit; {waiting} waiting {requests} will be released with no opinion"
            + held
        )

    @_perform.register
    def _leave(self, effect: do.Leave) -> None:
        screen, mode = self._screen, self._screen.focus.mode
        if effect.sure or not (screen.selection.waiting() or screen.answers.waiting):
            screen.done = True
        else:
            yes = do.Leave(sure=True)
            self._propose(Proposal(self._leaving, lambda: (yes,), back=mode))

    def _leaving(self) -> Content:
        """Return the page that asks whether to leave while somebody waits."""
        screen = self._screen
        waiting, held = len(screen.selection.waiting()), screen.answers.waiting
        requests = "1 request waits" if waiting == 1 else f"{waiting} requests wait"
        said = [f"leave the desk? {requests}", NO_OPINION]
        if held:
            answers = "1 answer is" if held == 1 else f"{held} answers are"
            said.append(f"{answers} not sent yet, and will not be.")
        return statement(*((one, "") for one in said))

    @_perform.register
    def _run_found(self, _: do.RunFound) -> None:
        """Press the key of the marked command where it was pressed from, with its own guards."""
        screen, found = self._screen, marked(self._screen)
        finder = screen.focus.finder
        if found is None or finder is None:
            screen.say("no command has all of these words")
        elif not found.now:
            screen.say(f"not now: {found.name}")
        elif screen.desk.now() - finder.since < screen.options.arming:
            screen.say("this has only just come into view: read it, then press again")
        else:
            screen.focus.back()
            self._act(found.key.keys[0])

    @_perform.register
    def _give(self, effect: do.Give) -> None:
        screen = self._screen
        screen.focus.mode = Mode.QUEUE
        if (card := screen.card) is not None:
            decision = self._with_extras(card, effect.decision)
            doubt = second_yes(card, decision, screen.desk)
            if doubt and effect.sure != doubt:
                screen.focus.doubt = replace(effect, sure=doubt)
                screen.focus.mode = Mode.SURE
                return
            screen.say(effect.said)
            screen.answers.give([screen.seen(card)], decision, effect.rule)
            self._advance()

    def _advance(self) -> None:
        """Select the next card that no answer is on its way to, where the operator wants that."""
        screen = self._screen
        if screen.options.advance:
            screen.select(lambda: screen.selection.pass_over(_answered(screen)))

    def _with_extras(self, card: Card, decision: Decision) -> Decision:
        """Return a decision with what was kept to go with it."""
        work = self._screen.work
        if Beside.MESSAGE in card.choices.beside:
            decision = replace(decision, user_message=work.messages.get(card.number, ""))
        return replace(decision, suppress_output=True) if card.number in work.quiet else decision

    @_perform.register
    def _give_all(self, effect: do.GiveAll) -> None:
        screen, decision, outcomes = self._screen, effect.decision, list[Outcome]()
        cards = [screen.seen(card) for card in effect.cards]

        def settled(outcome: Outcome) -> None:
            outcomes.append(outcome)
            faults = [one.why for one in outcomes if one.why]
            if faults:
                done = f"{len(outcomes) - len(faults)} of {len(cards)} {decision.verdict.done}"
                screen.say("; ".join([done, *faults[:3]]))

        screen.answers.give(cards, decision, then=settled)
        if screen.card in effect.cards:
            self._advance()

    @_perform.register
    def _take_back(self, effect: do.TakeBack) -> None:
        screen = self._screen
        number = screen.answers.last(effect.number)
        screen.say(screen.answers.take_back(number))
        if number is not None and screen.options.advance and screen.focus.mode is Mode.QUEUE:
            screen.select(lambda: screen.selection.choose(number))

    @_perform.register
    def _submit(self, effect: do.Submit) -> None:
        def settled(outcome: Outcome) -> None:
            self._obey(lambda: effect.then(outcome))

        self._screen.desk.submit(effect.command, settled)


def _answered(screen: Screen) -> Callable[[Card], object]:
    return lambda card: screen.answers.held(card.number)
