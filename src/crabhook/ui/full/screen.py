"""The desk's state: told keys, news and time, it says what is to be shown; nothing is drawn here.

The laws of this file: a key that does something to a card acts on the
selected one alone, and only once that has been in view, unchanged, for the
arming delay (`arming`); so it is with a page that asks for a yes, or for a
choice.  What arrives never moves the selection, the box, the editor or the
form.
"""

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

from crabhook.broker.card import Card
from crabhook.broker.desk import Desk, News
from crabhook.broker.states import State
from crabhook.model.choices import PASS_ALONE, Beside, Choices
from crabhook.model.decision import Verdict
from crabhook.model.order import OrderKind
from crabhook.ui.answers import Answers
from crabhook.ui.attention import Watch
from crabhook.ui.cards.context import Surroundings
from crabhook.ui.commands.decide import suggestions
from crabhook.ui.full.act import Act
from crabhook.ui.full.acts import ACTS, TOUCHING
from crabhook.ui.full.arming import Arming, Escapes, sight_of
from crabhook.ui.full.dialogs.bulk import Marks
from crabhook.ui.full.dialogs.edit import Edit, Edits
from crabhook.ui.full.dialogs.mcp_form_state import FillIn, Fillings
from crabhook.ui.full.dialogs.plan import PlanNotes, Plans
from crabhook.ui.full.dialogs.prompts import Menu, Proposal, Purpose, Typing
from crabhook.ui.full.dialogs.question_state import Form, Forms
from crabhook.ui.full.filters import KeyContext, Mode
from crabhook.ui.full.keys import key_for
from crabhook.ui.full.panes.card import OVER_THE_CARD, content_of
from crabhook.ui.full.panes.queue import Selection
from crabhook.ui.full.text_input import History, LineInput, TextInput
from crabhook.ui.options import DeskOptions
from crabhook.ui.text.layout import Content, Detail

if TYPE_CHECKING:
    from crabhook.ui.full.dialogs.external_editor import Errand

READ_WITHIN = 0.05  # seconds until what is being read about a card is looked for again
NOTICE_KEPT = 1.0  # seconds a notice outlasts keys, so that it can be read


class Screen:
    """One operator's desk.  All times are on the desk's clock, in seconds."""

    def __init__(self, desk: Desk, options: DeskOptions, title: str = "") -> None:
        self.desk = desk
        self.options = options
        self.title = title
        self.selection = Selection(desk)
        self.answers = Answers(desk, options.take_back)
        self.arming = Arming(options.arming)
        self.watch = Watch(options.attention, desk.now())
        self.forms = Forms()
        self.fillings = Fillings(desk)
        self.plans = Plans(desk)
        self.surroundings = Surroundings(desk)
        self.comparing: int | None = None
        self.bare: int | None = None
        self.edits = Edits()
        self.marks: Marks = Marks()
        self.messages: dict[int, str] = {}
        self.quiet: set[int] = set()
        self.mode = Mode.QUEUE
        self.typing: Typing | None = None
        self.edit: Edit | None = None
        self.menu: Menu | None = None
        self.proposal: Proposal | None = None
        self.errand: Errand | None = None
        self.awaited: Callable[[], bool] | None = None
        self.notice = ""
        self.quit_asked_at: float | None = None
        self.done = False
        self._noticed_at = 0.0
        self._came_from = Mode.QUEUE
        self._escapes = Escapes()
        self._histories = {purpose: History() for purpose in Purpose}
        self._detail, self._page = Detail(), Detail()
        for card in self.selection.waiting():
            self.watch.news(card)

    def __repr__(self) -> str:
        return f"<Screen {self.mode} {self.selection!r} {self.answers!r} {self.marks!r}>"

    # What there is to show.

    @property
    def card(self) -> Card | None:
        """The selected card, as it last was."""
        return self.selection.card

    @property
    def form(self) -> Form | None:
        """The selected card's form, if it has questions that can be read and still be answered."""
        card = self.card
        return self.forms.of(card) if card and Beside.INPUT in card.choices.beside else None

    @property
    def filling(self) -> FillIn | None:
        """The selected card's form of an MCP server, if it is about one."""
        return self.fillings.of(self.card)

    @property
    def plan(self) -> PlanNotes | None:
        """The selected card's plan, and the notes on it."""
        return self.plans.of(self.card)

    @property
    def away(self) -> bool:
        """Whether the operator is away."""
        return any(order.kind is OrderKind.AWAY for order in self.desk.orders())

    @property
    def editing(self) -> bool:
        """Whether a text is being edited, or what that changes is looked at."""
        back = self.proposal.back if self.mode is Mode.CONFIRM and self.proposal else self.mode
        return back is Mode.EDIT

    @property
    def alone(self) -> bool:
        """Whether the large part of the screen shows a page that is about no single card."""
        return self.mode is Mode.HELP or (self.mode in _PAGES and self._page_number() is None)

    def key_context(self) -> KeyContext:
        """Return what decides which keys make sense now."""
        card, waits = self.card, self.card is not None and not self.selection.ended
        return KeyContext(
            mode=self.mode,
            card=card is not None,
            waits=waits,
            form=self.form is not None,
            held=self.answers.waiting > 0,
            choices=card.choices if card and waits else PASS_ALONE,
            suggests=card is not None and bool(suggestions(card)),
            marked=bool(self.marks),
            away=self.away,
            fields=self.filling is not None,
            plan=self.plan is not None,
            revised=card is not None and self.plan is not None and bool(self.plans.before(card)),
            turns=self.menu is not None and self.menu.turn is not None,
            keeps=self.typing is not None and self.typing.keeps,
        )

    def armed(self) -> bool:
        """Whether keys may decide the selected card, or do what a page asks about."""
        return self.arming.armed(self._sight(), self.desk.now())

    def content(self) -> Content | None:
        """Return what the large part of the screen shows."""
        return content_of(self)

    def view(self) -> Detail:
        """Return the window on it."""
        view = self._page if self.mode in OVER_THE_CARD else self._detail
        if (content := self.content()) is not None:
            view.show(content)
        return view

    # What the screen is told.

    def news(self, news: News) -> None:
        """Take in a new or changed card, or a new line of the feed."""
        if not isinstance(news, Card):
            return
        self.selection.news(news)
        self.watch.news(news)
        self.say(self.answers.news(news))
        self.say(self.marks.news(news))
        if news.state is not State.WAITING and (not self.card or self.card.number != news.number):
            self.forget(news.number)

    def forget(self, number: int) -> None:
        """Forget what was begun about a card that nobody looks at any more."""
        self.forms.forget(number)
        self.fillings.forget(number)
        self.plans.forget(number)
        self.surroundings.forget(number)
        self.edits.forget(number)
        self.messages.pop(number, None)
        self.quiet.discard(number)

    def drawn(self, *, shows_card: bool) -> None:
        """Take in that the screen was drawn, and whether what keys act on can be read on it."""
        self.arming.seen(self._sight() if shows_card else None, self.desk.now())

    def tick(self) -> None:
        """Take in that time has passed: send the answers that are due, see what was awaited."""
        if self.awaited is not None and self.awaited():
            self.awaited = None
        for said in self.answers.tick():
            self.say(said)

    def wake_at(self) -> float | None:
        """Return when the next thing happens by itself, or None."""
        now = self.desk.now()
        if self.awaited or (self.card is not None and not self.surroundings.read(self.card)):
            return now + READ_WITHIN
        due = [at for at in (self.answers.due, self.arming.due, self.watch.due) if at is not None]
        return min((at for at in due if at > now), default=None)

    def press(self, key: str) -> None:
        """Take in a key by its name; a printable one is its own name."""
        now = self.desk.now()
        self.watch.key(now)
        if self._escapes.swallow(key, now):
            return
        if now - self._noticed_at >= NOTICE_KEPT:
            self.notice = ""
        context = self.key_context()
        found = key_for(key, context)
        if found is not None:
            if self._may(found.act):
                ACTS[found.act](self, key)
        elif (field := self._field()) is not None:
            field.press(" " if key == "space" else key)
        elif self.selection.ended and self.card and self._would_decide(key, context):
            way = "↑ ↓ choose" if self.mode is Mode.QUEUE else "esc, then ↑ ↓ choose"
            self.say(f"#{self.card.number} has ended; {way} another")

    def paste(self, text: str) -> None:
        """Take in pasted text; outside of the box and the editor it is nothing."""
        self.watch.key(self.desk.now())
        if (field := self._field()) is not None:
            field.insert(text)

    # What acts do to it (see `acts`).

    def say(self, text: str) -> None:
        """Show a sentence to the operator; an empty one leaves what is shown."""
        if text:
            self.notice, self._noticed_at = text, self.desk.now()

    def go(self, mode: Mode) -> None:
        """Send keys elsewhere, to come back from there (`come_back`)."""
        self._came_from, self.mode = self.mode, mode

    def come_back(self) -> None:
        """Send keys where they went before `go`."""
        self.mode = self._came_from

    def type(
        self,
        purpose: Purpose,
        then: Callable[[str], object],
        *,
        text: str = "",
        needs: str = "",
        subject: str = "",
    ) -> None:
        """Open the input box: for the selected card, or for a `subject` that is no card."""
        number = self.card.number if self.card is not None and not subject else None
        if number is None and not subject:
            return
        box = LineInput(self._histories[purpose], text)
        self.typing = Typing(purpose, number, box, then, subject, needs)
        self.go(Mode.BOX)

    def leave_line(self) -> str:
        """Close the box; return what was typed, which is kept among the earlier lines."""
        typing, self.typing = self.typing, None
        self.come_back()
        return typing.box.leave().strip() if typing else ""

    def bare_or_cover(self) -> None:
        """Show the secrets of the selected card, or cover them again."""
        number = self.card.number if self.card else None
        self.bare = None if self.bare == number else number

    def offer(self, menu: Menu) -> None:
        """Show a list to choose from."""
        self.menu = menu
        self.go(Mode.MENU)

    def propose(self, proposal: Proposal) -> None:
        """Show what would be done, to be confirmed."""
        self.proposal, self.mode = proposal, Mode.CONFIRM

    def _field(self) -> LineInput | TextInput | None:
        """Return what letters are typed into."""
        if self.mode is Mode.EDIT and self.edit is not None:
            return self.edit.editor
        return self.typing.box if self.typing is not None else None

    def _would_decide(self, key: str, context: KeyContext) -> bool:
        """Whether a key would do something to the selected card if that had not ended."""
        card = self.card
        every = Choices(frozenset(Verdict), card.choices.beside if card else Beside.NOTHING)
        return key_for(key, replace(context, waits=True, choices=every)) is not None

    def _may(self, act: Act) -> bool:
        """Whether an act is allowed now; one on a held card takes the held answer back first."""
        if act not in TOUCHING or (act is Act.ENTER_LINE and not self._types_about_a_card()):
            return True
        if self.mode in _PAGES:
            return self._may_on_page()
        card = self.card
        if card is None or self.selection.ended:
            return True
        if not self.armed():
            self.say(f"#{card.number} has only just come into view: read it, then press again")
            return False
        if self.answers.held(card.number):
            if act is Act.ALLOW:
                self.say(f"#{card.number} is allowed already; u takes it back")
                return False
            self.say(self.answers.take_back(card.number))
        return True

    def _may_on_page(self) -> bool:
        """Whether a page may be said yes to: it was read, and the card it is about still waits."""
        number, card = self._page_number(), self.card
        if number is not None and (card is None or card.number != number or self.selection.ended):
            self.say(f"#{number} has ended: nothing was sent")
            return False
        if not self.armed():
            self.say("this has only just come into view: read it, then press again")
            return False
        return True

    def _types_about_a_card(self) -> bool:
        return self.typing is not None and self.typing.number is not None

    def _page_number(self) -> int | None:
        """Return the card that the list or the proposal in view is about."""
        page = {Mode.MENU: self.menu, Mode.CONFIRM: self.proposal}.get(self.mode)
        return page.number if page else None

    def _sight(self) -> Hashable:
        """Return what tells the view from any other, as far as it may be decided on."""
        if self.mode is Mode.HELP:
            return None
        card = self.card and sight_of(self.card, reviewing=self.mode is Mode.REVIEW)
        if self.mode is Mode.CONFIRM and self.proposal:
            about = self.proposal.number is not None
            return about and card, "proposal", self.proposal.content().key
        if self.mode is Mode.MENU and self.menu:
            return self.menu.number is not None and card, self.menu.key
        if self.mode is Mode.EDIT:
            return "edit", card
        # which cards a key decides is part of what is seen
        return None if card is None else (card, bool(self.marks))


_PAGES = (Mode.MENU, Mode.CONFIRM)
