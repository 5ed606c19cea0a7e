"""The desk's state: told keys, news and time, it says what is to be shown; nothing is drawn here.

The laws of this file: a key that does something to a card acts on the
selected one alone, and only once that has been in view, unchanged, for the
arming delay (`arming`); what arrives never moves the selection, the box or
the form.
"""

from collections.abc import Hashable
from dataclasses import replace

from crabhook.broker.card import Card
from crabhook.broker.desk import Desk, News
from crabhook.broker.states import State
from crabhook.ui.acts import ACTS, TOUCHING
from crabhook.ui.answers import Answers
from crabhook.ui.arming import Arming, Escapes, sight_of
from crabhook.ui.box import Box, History, Purpose, Typing
from crabhook.ui.detail import Content, Detail
from crabhook.ui.draw import TextContent
from crabhook.ui.forms import Form, Forms
from crabhook.ui.formview import FormContent, ReviewContent
from crabhook.ui.helppage import HelpContent
from crabhook.ui.keys import Act, key_for
from crabhook.ui.moment import Mode, Moment
from crabhook.ui.options import DeskOptions
from crabhook.ui.selection import Selection

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
        self.forms = Forms()
        self.mode = Mode.QUEUE
        self.typing: Typing | None = None
        self.notice = ""
        self.quit_asked_at: float | None = None
        self.done = False
        self._noticed_at = 0.0
        self._came_from = Mode.QUEUE
        self._escapes = Escapes()
        self._histories = {purpose: History() for purpose in Purpose}
        self._detail, self._help = Detail(), Detail()

    def __repr__(self) -> str:
        return f"<Screen {self.mode} {self.selection!r} {self.answers!r}>"

    # What there is to show.

    @property
    def card(self) -> Card | None:
        """The selected card, as it last was."""
        return self.selection.card

    @property
    def form(self) -> Form | None:
        """The selected card's form, if it has questions that can be read."""
        return self.forms.of(self.card)

    def moment(self) -> Moment:
        """Return what decides which keys make sense now."""
        return Moment(
            mode=self.mode,
            card=self.card is not None,
            waits=self.card is not None and not self.selection.ended,
            form=self.form is not None,
            held=self.answers.waiting > 0,
        )

    def armed(self) -> bool:
        """Whether keys may decide the selected card."""
        return self.arming.armed(self._sight(), self.desk.now())

    def content(self) -> Content | None:
        """Return what the large part of the screen shows."""
        card, form = self.card, self.form
        if self.mode is Mode.HELP:
            return HelpContent()
        if card is None:
            return None
        if form is None:
            return TextContent(card)
        if self.mode is Mode.REVIEW:
            return ReviewContent(card, form)
        return FormContent(card, form, focused=self.mode is Mode.FORM)

    def view(self) -> Detail:
        """Return the window on it."""
        view = self._help if self.mode is Mode.HELP else self._detail
        if (content := self.content()) is not None:
            view.show(content)
        return view

    # What the screen is told.

    def news(self, news: News) -> None:
        """Take in a new or changed card, or a new line of the feed."""
        if not isinstance(news, Card):
            return
        self.selection.news(news)
        self.say(self.answers.news(news))
        if news.state is not State.WAITING and (not self.card or self.card.number != news.number):
            self.forms.forget(news.number)

    def drawn(self, *, shows_card: bool) -> None:
        """Take in that the screen was drawn, and whether the selected card can be read on it."""
        self.arming.seen(self._sight() if shows_card else None, self.desk.now())

    def tick(self) -> None:
        """Take in that time has passed: send the answers that are due."""
        for said in self.answers.tick():
            self.say(said)

    def wake_at(self) -> float | None:
        """Return when the next thing happens by itself, or None."""
        now = self.desk.now()
        due = [at for at in (self.answers.due, self.arming.due) if at is not None]
        return min((at for at in due if at > now), default=None)

    def press(self, key: str) -> None:
        """Take in a key by its name; a printable one is its own name."""
        now = self.desk.now()
        if self._escapes.swallow(key, now):
            return
        if now - self._noticed_at >= NOTICE_KEPT:
            self.notice = ""
        moment = self.moment()
        found = key_for(key, moment)
        if found is not None:
            if self._may(found.act):
                ACTS[found.act](self, key)
        elif self.typing is not None:
            self.typing.box.press(" " if key == "space" else key)
        elif self.selection.ended and key_for(key, replace(moment, waits=True)):
            self.say(f"#{self.card.number if self.card else ''} has ended; ↑ ↓ choose another")

    def paste(self, text: str) -> None:
        """Take in pasted text; outside of the box it is nothing, whatever letters it holds."""
        if self.typing is not None:
            self.typing.box.insert(text)

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

    def type(self, purpose: Purpose, text: str = "") -> None:
        """Open the input box for the selected card."""
        if self.card is not None:
            self.typing = Typing(purpose, self.card.number, Box(self._histories[purpose], text))
            self.go(Mode.BOX)

    def leave_line(self) -> str:
        """Close the box; return what was typed, which is kept among the earlier lines."""
        typing, self.typing = self.typing, None
        self.come_back()
        return typing.box.leave().strip() if typing else ""

    def _may(self, act: Act) -> bool:
        """Whether an act is allowed now; one on a held card takes the held answer back first."""
        card = self.card
        if act not in TOUCHING or card is None or self.selection.ended:
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

    def _sight(self) -> Hashable:
        return self.card and sight_of(self.card, reviewing=self.mode is Mode.REVIEW)
