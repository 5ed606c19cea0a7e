"""What asks the operator: a list to choose from, a page that asks for a yes, a line to type."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from crabhook.datatypes import frozen
from crabhook.desk.commands import Ask, Outcome
from crabhook.model.card import Card
from crabhook.model.errors import CrabhookError
from crabhook.model.wording import plural
from crabhook.ui.day_counts import NO_OPINION, WAITS_ON
from crabhook.ui.full.dialog import DIGITS, Dialog, Group, always, closes, group, row
from crabhook.ui.full.dialogs.page import (
    ARMED,
    CHOOSING,
    FREE,
    LINE,
    LOOKING,
    QUIT,
    SCROLLING,
    SEEN,
    ScreenPage,
)
from crabhook.ui.full.effects import (
    Close,
    EditOutside,
    Effects,
    Give,
    Leave,
    Say,
    ScreenEffect,
    Submit,
    reveal,
)
from crabhook.ui.full.screen import Screen
from crabhook.ui.full.text_input import LineInput
from crabhook.ui.full.themes import KeyTheme
from crabhook.ui.full.work import Marks
from crabhook.ui.text.code import quoted
from crabhook.ui.text.layout import Content, Item, Line, Sheet, page
from crabhook.ui.text.width import clip, in_words, wrapped

_DIGITS = 9  # rows that a digit chooses
_WARNED = 3  # rows of a warning beneath a row


@frozen
class Beneath:
    """An agent's text to read with a list, its title and its style; `words`: it is a sentence."""

    what: str
    text: str
    style: str = ""
    words: bool = False


@frozen
class Choice:
    """One row: our words, then an agent's, and its effect.

    `warning`, ours and then an agent's words, is below the row. `beneath` is shown below the list
    while this row is selected. `faint`: it is grey, as of what is over.
    """

    ours: str
    does: Callable[[], Effects]
    theirs: str = ""
    warning: tuple[str, str] = ("", "")
    beneath: tuple[Beneath, ...] = ()
    faint: bool = False


class MissingRowError(CrabhookError):
    """A digit that chooses no row: there are fewer, or none yet. Nothing was chosen."""

    def __init__(self, row: int, rows: int, otherwise: str = "", what: str = "row") -> None:
        listed = f"there is no {what} {row}, only {plural(rows, what)}"
        why = listed if rows else f"{row} chose nothing: there is nothing to choose from yet"
        super().__init__("; ".join(filter(None, (why, otherwise))))


@dataclass(slots=True)
class Menu(Dialog):
    """A list to choose from, and its selected row.

    `number` is the card that the list is about, None for the whole desk. `beneath` is read with the
    list. `turn` returns the list with its common setting changed.
    """

    title: str
    choices: tuple[Choice, ...]
    number: int | None = None
    beneath: tuple[Beneath, ...] = ()
    cursor: int = 0
    turn: "Callable[[int], Menu] | None" = None

    COVERS = ASKS = CHOOSES = True

    def move(self, step: int) -> Effects:
        """Stand on another row; the first and the last are ends."""
        self.cursor = max(min(self.cursor + step, len(self.choices) - 1), 0)
        return (reveal(self.cursor + 1),)

    def far(self, step: int) -> Effects:
        """Stand on the first row, or on the last."""
        return self.move(step * len(self.choices))

    def pick(self, place: int | None = None) -> Effects:
        """Choose a row, the marked row by default; raises MissingRowError."""
        if place is None and not self.choices:
            return ()
        place = self.cursor if place is None else place
        if not 0 <= place < len(self.choices):
            raise MissingRowError(place + 1, len(self.choices))
        return (Close(self.choices[place].does),)

    @property
    def key(self) -> Hashable:
        """What tells it from any other list."""
        rows = tuple((row.ours, row.theirs, row.warning, row.beneath) for row in self.choices)
        return "menu", self.number, self.title, rows, self.beneath

    def content(self) -> Content:
        """Return the list as drawn."""
        return menu_content(self)

    def shows(self, card: Card | None, marks: Marks) -> Sequence[Card]:
        """Return no card: the list covers it."""
        del card, marks
        return ()

    def acts_on(self, card: Hashable, *, marked: bool) -> Hashable:
        """Return an identity of the list, and of the card that it is about."""
        del marked
        return self.number is not None and card, self.key

    # fmt: off
    KEYS = (
        group(KeyTheme.LIST, always,
            row(DIGITS, "choose", "choose that row",
                ARMED, lambda menu, key: menu.pick(int(key) - 1)),
            row("enter", "choose", "choose the marked row", ARMED, lambda menu, _: menu.pick()),
            row("escape", "leave", "choose nothing", FREE, closes)),
        group(KeyTheme.LIST, lambda menu: menu.turn is not None,
            row("e", "until when", "change when the rules end",
                FREE, lambda menu, _: (menu.turn(menu.cursor),))),
        CHOOSING, *SCROLLING, QUIT,
    )
    # fmt: on


@frozen
class AnswerCame(ScreenEffect):
    """What the list `waiting` stood for has come: close that list, then perform `then`.

    Nothing happens if the operator has left the list.
    """

    waiting: Menu
    then: Effects


def awaited(
    title: str, number: int | None, ask: Ask, then: Callable[[Outcome], Effects]
) -> Effects:
    """Ask the desk, and show an empty list meanwhile; `then` returns what follows the answer."""
    waiting = Menu(title, (), number)
    return waiting, Submit(ask, lambda outcome: (AnswerCame(waiting, then(outcome)),))


def menu_content(menu: Menu) -> Content:
    """Return a list as drawn: its title, its rows, and the text beneath them."""

    def item(place: int) -> Item:
        if place == 0:
            return Item((menu.key, "title"), lambda sheet: sentence(menu.title, "heading", sheet))
        if place > len(menu.choices):
            return Item((menu.key, "beneath", menu.cursor), lambda sheet: _beneath(menu, sheet))
        here, choice = place - 1 == menu.cursor, menu.choices[place - 1]
        return Item((menu.key, place, here), lambda sheet: _row(choice, place, sheet, here=here))

    return Content(menu.key, len(menu.choices) + 2, item)


def _row(choice: Choice, place: int, sheet: Sheet, *, here: bool) -> Iterator[Line]:
    digit = f"{place} " if place <= _DIGITS else "  "
    label = choice.ours + (in_words(sheet.spell)(choice.theirs) if choice.theirs else "")
    style = "chosen" if here else "dim" if choice.faint else ""
    for turn, text in enumerate(wrapped(label, sheet.columns - 4, str, words=True)):
        mark = f"{'▸' if here else ' '} {digit}" if turn == 0 else "    "
        yield [("mark" if here else "key", mark), (style, text)]
    warning, whereof = choice.warning
    if warning:
        label = clip(f"! {warning}{sheet.spell(whereof)}", _WARNED * (sheet.columns - 6))
        for turn, text in enumerate(wrapped(label, sheet.columns - 6, str, words=True)):
            yield [("", "      " if turn else "    "), ("warning", text)]


def _beneath(menu: Menu, sheet: Sheet) -> Iterator[Line]:
    here = menu.choices[menu.cursor].beneath if menu.choices else ()
    for passage in (*menu.beneath, *here):
        if passage.text:
            yield [(passage.style or "label", passage.what)]
            yield from quoted(passage.text, sheet, style=passage.style, words=passage.words)


@dataclass(slots=True)
class YesPage(Dialog):
    """A page that asks for a yes.

    `page` is made again each time, so that it stays true; a new key restarts the arming delay.
    `number` is the card it is about, if it is about one. All of the page must be read before a yes;
    if the yes lets nothing happen, only its end.
    """

    page: Callable[[], Content]
    carry_out: Callable[[], Effects]
    number: int | None = None
    skimmed: bool = False

    COVERS = ASKS = True

    def content(self) -> Content:
        """Return the page as it is now."""
        return self.page()

    def shows(self, card: Card | None, marks: Marks) -> Sequence[Card]:
        """Return the marked cards: a page that decides them shows them."""
        del card
        return marks.cards()

    def acts_on(self, card: Hashable, *, marked: bool) -> Hashable:
        """Return an identity of the page, and of the card that it is about."""
        del marked
        return self.number is not None and card, "proposal", self.content().key

    # fmt: off
    KEYS = (
        group(KeyTheme.PROPOSAL, always,
            row("enter y", "yes, exactly this", "do exactly what is shown",
                ARMED, lambda proposal, _: (Close(proposal.carry_out),)),
            row("escape", "back", "do nothing of it, and go back", FREE, closes)),
        LOOKING, *SCROLLING, SEEN, QUIT,
    )
    # fmt: on


def statement(*sentences: tuple[str, str]) -> Content:
    """Return a page of a few sentences of ours, each with an agent's words beneath it."""

    def rows(sheet: Sheet) -> Iterator[Line]:
        for place, (ours, theirs) in enumerate(sentences):
            yield from sentence(ours, "" if place else "heading", sheet)
            if theirs:
                yield from quoted(theirs, sheet)

    return page(("statement", sentences), rows)


def leaving(counts: Callable[[], tuple[int, int]], *, elsewhere: bool = False) -> YesPage:
    """Return the page that asks before leaving; `counts`: how many wait, and are held.

    `elsewhere`: the server goes on without this desk.
    """

    def told() -> Content:
        waiting, held = counts()
        requests = "1 request waits" if waiting == 1 else f"{waiting} requests wait"
        answers = "1 answer is" if held == 1 else f"{held} answers are"
        sentences = [
            (f"leave the desk? {requests}", ""),
            (WAITS_ON if elsewhere else NO_OPINION, ""),
        ]
        sentences += [(f"{answers} not sent yet, and will not be.", "")] if held else []
        return statement(*sentences)

    return YesPage(told, lambda: (Leave(sure=True),))


def quitting(waiting: int, held: int, *, elsewhere: bool = False) -> str:
    """Return what a second Ctrl-C would do."""
    unsent = f", {held} of them answered and not sent yet" if held else ""
    requests = plural(waiting, "waiting request")
    then = "will go on waiting at the server" if elsewhere else "will go back to the agents"
    return f"Ctrl-C again to quit: {requests} {then}{unsent}"


def sentence(words: str, style: str, sheet: Sheet) -> Iterator[Line]:
    """Return a sentence that is safe to show, in rows of one style."""
    for text in wrapped(words, sheet.columns, str, words=True):
        yield [(style, text)]


def option_head(number: int, *, here: bool, chosen: bool, several: bool) -> str:
    """Return the start of an option's row: cursor, choice, number."""
    opens, closes = "[]" if several else "()"
    return f"{'▸' if here else ' '}{opens}{'x' if chosen else ' '}{closes} {number} "


def chooses(on: str, *, chosen: bool, several: bool) -> str:
    """Return what enter does on an option; `on` is where it goes from a chosen option."""
    if chosen:
        return on
    return "choose" if several else f"choose, {on}"


class Purpose(Enum):
    """What a line is typed for: the prompt, `{}` whom it is about, and what enter does with it."""

    NOTE = ("allow {}, and tell the model: ", "allow with the note")
    REASON = ("deny {}, the model reads why: ", "deny")
    ALWAYS_DENY = ("always deny what {} asks, the model reads why: ", "go on")
    INTERRUPT = ("deny {} and end the turn, the model reads why: ", "end turn")
    KEEP_GOING = ("keep {} going, tell it how to go on: ", "keep it going")
    HALT = ("halt the session of {}, its user reads why: ", "halt")
    STEER = ("tell {} with its next call: ", "go on")
    STOP = ("stop {} at its next call, its agent reads why: ", "go on")
    MESSAGE = ("{}, a message to the agent's user, shown with your decision: ", "keep message")
    WORDS = ("{}, in your own words: ", "keep words")
    REMARK = ("{}, a note beside the answer: ", "keep note")
    FIELD = ("{}, in this field: ", "keep value")
    NOTE_ON_PLAN = ("{}, what to change here: ", "keep note")
    FILTER = ("filter {}: ", "go on")
    FOR_HOW_LONG = ("{} for how long (30s, 10m, 2h): ", "go on")
    KEEP_GOING_TIMES = ("{}: how often (1 to 8), and tell it how to go on: ", "go on")


@frozen
class ForAct:
    """What a line is typed for by an act without a purpose of its own: it is called as the act."""

    name: str

    @property
    def value(self) -> tuple[str, str]:
        """The prompt, and what enter does with the line."""
        return f"{self.name} {{}}: ", self.name


@frozen
class AskLine(ScreenEffect):
    """Ask for a line about the selected card, or about another `subject`.

    `then` gets the line and returns effects; `needs` says why an empty line is refused. `text` is
    the first content. `kept`: enter only keeps the line, to send it later. `labels`: lines that a
    digit gives while nothing is typed. `typed` gets the line after each key, and an empty line when
    the operator leaves.
    """

    purpose: Purpose | ForAct
    then: Callable[[str], Effects]
    text: str = ""
    needs: str = ""
    subject: str = ""
    kept: bool = False
    typed: Callable[[str], object] | None = None
    labels: tuple[str, ...] = ()


def ask_and_keep(
    purpose: Purpose, keep: Callable[[str], object], text: str, labels: tuple[str, ...] = ()
) -> AskLine:
    """Return the question for a line that is only kept when it is entered."""

    def then(line: str) -> Effects:
        keep(line)
        return ()

    return AskLine(purpose, then, text, kept=True, labels=labels)


class SecondYesPage(ScreenPage):
    """The question whether a decision is really meant; it stands at the foot, below the card."""

    def __init__(self, screen: Screen, doubt: Give, *, waits: bool = False) -> None:
        super().__init__(screen, waits=waits)
        self.doubt = self._doubt = doubt

    def supposing(self, *, role: str | None = None, waits: bool = False) -> Dialog:
        """Return the question as at a card that still waits."""
        del role
        return SecondYesPage(self.screen, self._doubt, waits=waits)

    def acts_on(self, card: Hashable, *, marked: bool) -> Hashable:
        """Return an identity of the card and of what the yes is for."""
        del marked
        return card, self._doubt.sure

    # fmt: off
    KEYS = (
        group(KeyTheme.SECOND_YES, lambda question: question.waits,
            row("enter", "yes, do it", "do what the line names",
                ARMED, lambda question, _: (Close(lambda: (question.doubt,)),))),
        group(KeyTheme.SECOND_YES, always, row("escape", "back", "do nothing of it", FREE, closes)),
        *SCROLLING, QUIT,
    )
    # fmt: on


class Typed(Dialog):
    """A dialog in which a text is typed; `file_name` is what an editor of one's own calls it."""

    @property
    def file_name(self) -> str:
        """What a file that holds the text is called."""
        return "line.txt"


def _edit_outside(dialog: Typed, _: str) -> Effects:
    field = dialog.field
    return () if field is None else (EditOutside(field.text, dialog.file_name, field.replace),)


# fmt: off
OUTSIDE: Group[Typed] = group(KeyTheme.TYPING, always,
    row("c-o c-x_c-e", "$EDITOR", "go on with the text in your own editor", FREE, _edit_outside))
# fmt: on

_DENIALS = frozenset({Purpose.REASON, Purpose.INTERRUPT, Purpose.ALWAYS_DENY})
LAST_REASONS = 5
OFFERED = 9  # reasons, as many as there are digits


class InputLine(Typed):
    """A line being typed, for the card `number` or none, while any card is selected."""

    CHOOSES = True

    def __init__(self, screen: Screen, ask: AskLine, number: int | None) -> None:
        self._screen = screen
        self.ask, self.number = ask, number
        self.box = LineInput(screen.lines[ask.purpose], ask.text)
        self.offers_seen = OFFERED  # as many of the offered lines as the screen has room for

    @property
    def field(self) -> LineInput:
        """What letters are typed into."""
        return self.box

    @property
    def prompt(self) -> str:
        """What the box says before the line."""
        if self.number is not None and self._screen.selection.ended:
            return f"#{self.number} has ended, nothing will be sent: "
        prompt, _ = self.ask.purpose.value
        return prompt.format(self.ask.subject or f"#{self.number}")

    @property
    def enters(self) -> str:
        """What enter does with the line, in words."""
        if self.ask.subject:
            return "go on"
        bare = self.ask.purpose is Purpose.REASON and not self.box.text.strip()
        _, enters = self.ask.purpose.value
        return "deny without a reason" if bare else enters

    @property
    def offers(self) -> Sequence[str]:
        """The lines that a digit gives, while none is being typed; of reasons the last first."""
        if self.box.text:
            return ()
        if self.ask.labels:
            return self.ask.labels[:OFFERED]
        if self.ask.purpose not in _DENIALS:
            return ()
        last = self._screen.lines[Purpose.REASON][: -LAST_REASONS - 1 : -1]
        return list(dict.fromkeys([*last, *self._screen.options.reasons]))[:OFFERED]

    def typed(self) -> None:
        """Tell what the line is now to what follows it letter by letter."""
        if self.ask.typed is not None:
            self.ask.typed(self.box.text)

    def closed(self) -> None:
        """Keep the line among the earlier lines."""
        self.box.leave()

    def enter(self) -> Effects:
        """Do with the line what it was typed for, if its card still waits."""
        card, number = self._screen.card, self.number
        waits = self._screen.waits and card is not None and card.number == number
        if number is not None and not waits:
            had_ended = f"#{number} had ended: nothing was sent. ↑ in a box finds the line"
            return Close(), Say(had_ended)
        text = self.box.text.strip()
        if self.ask.needs and not text:
            return (Say(self.ask.needs),)
        return (Close(lambda: self.ask.then(text)),)

    def give_offer(self, place: int) -> Effects:
        """Enter one of the offered reasons, if it could be seen."""
        seen = min(len(self.offers), self.offers_seen)
        if place >= seen:
            raise MissingRowError(place + 1, seen, "type a reason, a blank first if it begins so")
        self.box.insert(self.offers[place])
        return self.enter()

    def clear(self) -> Effects:
        """Close the box as if nothing stood in it."""
        self.box.replace("")
        self.typed()
        return (Close(),)

    def recall(self, step: int) -> Effects:
        """Show a line typed before (-1), or after that (+1)."""
        self.box.recall(step)
        self.typed()
        return ()

    # fmt: off
    KEYS = (
        group(KeyTheme.LINE, lambda line: not line.ask.kept,
            row("enter", "send", "send the line, or go on to what it would do",
                LINE, lambda line, _: line.enter())),
        group(KeyTheme.LINE, lambda line: bool(line.offers),
            row(DIGITS, "choose", "while nothing is typed: take that line",
                LINE, lambda line, key: line.give_offer(int(key) - 1))),
        group(KeyTheme.LINE, lambda line: line.ask.kept,
            row("enter", "keep",
                "keep the line, to go with what you send later: nothing is sent yet",
                LINE, lambda line, _: line.enter())),
        group(KeyTheme.LINE, lambda line: line.ask.typed is not None,
            row("escape", "show all", "show all that waits again",
                FREE, lambda line, _: line.clear())),
        group(KeyTheme.LINE, lambda line: line.ask.typed is None,
            row("escape", "leave", "send nothing (↑ in a box finds the line again)",
                FREE, closes)),
        group(KeyTheme.LINE, always,
            row("up", "earlier lines", "the line typed before",
                FREE, lambda line, _: line.recall(-1)),
            row("down", "", "the line typed after", FREE, lambda line, _: line.recall(+1))),
        OUTSIDE, QUIT,
    )
    # fmt: on
