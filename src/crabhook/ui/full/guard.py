"""Which keys the desk obeys: no key decides what came into view just now, or never was there.

The laws of this file: one press decides at most once. A held key, pasted text and the rest of an
escape sequence are not presses. A key that would allow unseen text goes on to that text instead.
"""

from typing import Any

from crabhook.desk.acts import Guard
from crabhook.model.card import Card
from crabhook.model.wording import plural
from crabhook.present.reading import left_to_read
from crabhook.ui.full.arming import Rhythm, Stroke
from crabhook.ui.full.dialog import KeyRow
from crabhook.ui.full.dialogs.prompts import Menu, YesPage
from crabhook.ui.full.dialogs.question import ReviewPage, form_of
from crabhook.ui.full.panes.card import view_of
from crabhook.ui.full.screen import Screen
from crabhook.ui.full.text_input import LineInput

AGAIN = 1.75  # times the arming delay before the same key acts again: a held key repeats after it


class Before:
    """How a screen stood before a key, to undo the first key of what proves to be a paste."""

    def __init__(self, screen: Screen, key: str = "") -> None:
        self.key, self.field = key, screen.stack.top.field
        self._dialogs, self._turn = screen.stack.dialogs, screen.answers.turn
        self._marks, self._selected = screen.marks.copy(), screen.card

    def restore(self, screen: Screen) -> None:
        """Close what was opened since, take back answers and marks, and select what was."""
        screen.stack.restore(self._dialogs)
        screen.answers.drop_since(self._turn)
        screen.marks.restore(self._marks, screen.desk.card)
        if self._selected is not None:
            number = self._selected.number
            screen.select(lambda: screen.selection.choose(number))


def held_against(screen: Screen, row: KeyRow[Any]) -> str:
    """Return why a row's keys change nothing at the selected card now; empty if it may.

    While an answer is held or on its way, only a key to a stricter answer acts.
    """
    card = screen.card
    if row.guard is Guard.FREE or card is None or screen.stack.top.ASKS:
        return ""
    return screen.answers.blocks(card, row.leads)


_OF_THE_MARKED = frozenset({"enter", "space"})


class Gate:
    """Stands before a screen's keys; it tells the operator why a key is not obeyed."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._rhythm = Rhythm()
        self._stroke, self._again, self._key = Stroke.PRESSED, False, ""
        self._before = Before(screen)
        self._refused = ""  # the digit that chose nothing, until something else is chosen

    def comes(self, key: str, now: float) -> bool:
        """Take in a key; return whether it counts as one at all."""
        screen = self._screen
        self._again = key == self._key
        self._stroke, self._key = self._rhythm.stroke(key, now), key
        if self._stroke is Stroke.SEQUENCE:
            if key.isdecimal() and screen.stack.top.CHOOSES:
                self._refused = key
                screen.say(f"{key} came at once with esc and chose nothing: press {key} again")
            return False
        if not screen.desk.lost():  # else the notice is covered: what became of an answer
            screen.notice.key(now)
        if not screen.arming.delay:
            self._stroke, self._again = Stroke.PRESSED, False
        if self._stroke is Stroke.PRESSED:
            self._before = Before(screen, key)
            screen.answers.submit_due()
        return self._stroke is not Stroke.PASTED or self._may_be_pasted(key)

    def _may_be_pasted(self, key: str) -> bool:
        """Whether a pasted key only types; if not, undo what the key began."""
        screen, before = self._screen, self._before
        field = screen.stack.top.field
        if field is None or field is not before.field:
            before.restore(screen)
            self._refused = next(filter(str.isdecimal, (key, before.key)), self._refused)
            screen.say("keys came all at once, as pasted text does: nothing was decided")
            return False
        if key == "enter" and isinstance(field, LineInput):
            screen.say("that was pasted: press enter again to go on")
            return False
        return True

    def took(self, *, done: bool) -> None:
        """Take in whether a key did what it is for: after a digit that did not, enter waits.

        The operator chose another row than the marked row, and enter would take that.
        """
        if not done and self._key.isdecimal():
            self._refused = self._key
        elif done and not self._keeps_refusal():
            self._refused = ""

    def _keeps_refusal(self) -> bool:
        """Whether a key chooses no row by itself: it opens, or changes what counts for all rows."""
        turns = self._key == "e" and isinstance(self._screen.stack.top, Menu)
        return self._key in _OF_THE_MARKED or turns

    def opens(self, row: KeyRow[Any]) -> bool:
        """Whether a key is obeyed now; one to a stricter answer takes a held answer back first."""
        screen = self._screen
        if not self._lets(row):
            self.took(done=False)
            return False
        if self._refused and self._key in _OF_THE_MARKED and screen.stack.top.CHOOSES:
            again = f"press {self._refused} again, or another key that chooses"
            screen.say(f"{self._refused} chose nothing, so {self._key} waits: {again}")
            return False
        return True

    def _lets(self, row: KeyRow[Any]) -> bool:
        screen, guard = self._screen, row.guard
        if guard is Guard.FREE:
            return True
        if guard is Guard.BEGIN:
            return self._is_free(row)
        if self._stroke is Stroke.REPEATED:
            screen.arming.restart(screen.desk.now())
            screen.say("a key that is held decides nothing more: let it go, then press again")
            return False
        if guard is Guard.LINE and screen.stack.top.number is None:
            return True
        if screen.stack.top.ASKS:
            return self._may_on_page()
        return screen.card is None or screen.selection.ended or self._may_decide(screen.card, row)

    def _may_decide(self, card: Card, row: KeyRow[Any]) -> bool:
        screen = self._screen
        if not self._is_free(row) or not self._is_armed(f"#{card.number}"):
            return False
        if screen.answers.held(card.number):
            screen.say(screen.answers.take_back(card.number))
        asks = form_of(screen) is not None and not isinstance(screen.stack.top, ReviewPage)
        return row.guard is not Guard.READ or asks or self._was_read()

    def _is_free(self, row: KeyRow[Any]) -> bool:
        """Whether no answer is held that the key could loosen; if there is, say so."""
        why = held_against(self._screen, row)
        self._screen.say(f"{self._key} changes nothing: {why}" if why else "")
        return not why

    def _is_armed(self, what: str) -> bool:
        """Whether the key may decide what is in view; if not, say that view or press is too new."""
        screen, key = self._screen, self._key
        if screen.armed(AGAIN if self._again else 1.0):
            return True
        if screen.armed():
            screen.say(f"{key} was pressed for {what} a moment ago already: press once more")
        else:
            screen.say(f"{what} has only just come into view: read it, then press {key} again")
        return False

    def _was_read(self) -> bool:
        """Whether the whole request was on the screen; if not, go on to the unseen part."""
        screen, view = self._screen, view_of(self._screen)
        top = screen.stack.top
        if not (more := left_to_read(view.readings())):
            return True
        if isinstance(top, YesPage) and top.skimmed:
            if not view.end_unseen():
                return True
            view.to_end()
        else:
            view.go_on()
        screen.arming.restart(screen.desk.now())
        screen.say(f"{plural(more, 'more line')}: read on, then press again")
        return False

    def _may_on_page(self) -> bool:
        """Whether a page may get a yes: all of it was read, and its card still waits."""
        screen = self._screen
        top, card = screen.stack.top, screen.card
        number = top.number
        ended = card is None or card.number != number or screen.selection.ended
        if number is not None and ended:
            screen.say(f"#{number} has ended: nothing was sent")
            return False
        return self._is_armed("this") and (isinstance(top, Menu) or self._was_read())
