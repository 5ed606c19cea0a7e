"""What asks the operator: a list to choose from, a page that asks for a yes, a line to type."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import Enum

from crabhook.datatypes import frozen
from crabhook.desk.commands import Ask, Outcome
from crabhook.model.errors import CrabhookError
from crabhook.model.wording import plural
from crabhook.ui.full.effects import Effect, Effects, Leave, Submit
from crabhook.ui.full.text_input import LineInput
from crabhook.ui.tally import NO_OPINION, WAITS_ON
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


@dataclass(slots=True)
class Menu(Effect):
    """A list and its selected row; as an effect it is shown.

    `number` is the card that the list is about, None for the whole desk. `beneath` is to be read
    with the list. `turn` returns the list with its common setting changed.
    """

    title: str
    choices: tuple[Choice, ...]
    number: int | None = None
    beneath: tuple[Beneath, ...] = ()
    cursor: int = 0
    turn: "Callable[[int], Menu] | None" = None

    def move(self, step: int) -> None:
        """Stand on another row; the first and the last are ends."""
        self.cursor = max(min(self.cursor + step, len(self.choices) - 1), 0)

    @property
    def key(self) -> Hashable:
        """What tells it from any other list."""
        rows = tuple((one.ours, one.theirs, one.warning, one.beneath) for one in self.choices)
        return "menu", self.number, self.title, rows, self.beneath


class MissingRowError(CrabhookError):
    """A digit that chooses no row: there are fewer, or none yet.  Nothing was chosen."""

    def __init__(self, row: int, rows: int, otherwise: str = "", what: str = "row") -> None:
        listed = f"there is no {what} {row}, only {plural(rows, what)}"
        told = listed if rows else f"{row} chose nothing: there is nothing to choose from yet"
        super().__init__("; ".join(filter(None, (told, otherwise))))


@frozen
class Arrived(Effect):
    """What the list `waiting` stood for has come: close that list, then perform `then`.

    Nothing happens if the operator has left the list.
    """

    waiting: Menu
    then: Effects


def awaited(said: str, number: int | None, ask: Ask, told: Callable[[Outcome], Effects]) -> Effects:
    """Ask the desk, and show an empty list meanwhile; `told` returns what follows the answer."""
    waiting = Menu(said, (), number)
    return waiting, Submit(ask, lambda outcome: (Arrived(waiting, told(outcome)),))


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
    said = choice.ours + (in_words(sheet.spell)(choice.theirs) if choice.theirs else "")
    style = "chosen" if here else "dim" if choice.faint else ""
    for turn, row in enumerate(wrapped(said, sheet.columns - 4, str, words=True)):
        mark = f"{'▸' if here else ' '} {digit}" if turn == 0 else "    "
        yield [("mark" if here else "key", mark), (style, row)]
    warning, whereof = choice.warning
    if warning:
        said = clip(f"! {warning}{sheet.spell(whereof)}", _WARNED * (sheet.columns - 6))
        for turn, row in enumerate(wrapped(said, sheet.columns - 6, str, words=True)):
            yield [("", "      " if turn else "    "), ("warning", row)]


def _beneath(menu: Menu, sheet: Sheet) -> Iterator[Line]:
    here = menu.choices[menu.cursor].beneath if menu.choices else ()
    for one in (*menu.beneath, *here):
        if one.text:
            yield [(one.style or "label", one.what)]
            yield from quoted(one.text, sheet, style=one.style, words=one.words)


@frozen
class Proposal(Effect):
    """A page that asks for a yes; as an effect it is shown.

    `content` is made anew each time, so that it stays true; a new key restarts the arming delay.
    `number` is the card it is about, if it is about one. All of the page must be read before a yes;
    if the yes lets nothing happen, only its end.
    """

    content: Callable[[], Content]
    carry_out: Callable[[], Effects]
    number: int | None = None
    skimmed: bool = False


def statement(*said: tuple[str, str]) -> Content:
    """Return a page of a few sentences of ours, each with an agent's words beneath it."""

    def rows(sheet: Sheet) -> Iterator[Line]:
        for place, (ours, theirs) in enumerate(said):
            yield from sentence(ours, "" if place else "heading", sheet)
            if theirs:
                yield from quoted(theirs, sheet)

    return page(("statement", said), rows)


def leaving(counts: Callable[[], tuple[int, int]], *, elsewhere: bool = False) -> Proposal:
    """Return the page that asks before leaving; `counts`: how many wait, and are held.

    `elsewhere`: the server goes on without this desk.
    """

    def told() -> Content:
        waiting, held = counts()
        requests = "1 request waits" if waiting == 1 else f"{waiting} requests wait"
        answers = "1 answer is" if held == 1 else f"{held} answers are"
        said = [(f"leave the desk? {requests}", ""), (WAITS_ON if elsewhere else NO_OPINION, "")]
        said += [(f"{answers} not sent yet, and will not be.", "")] if held else []
        return statement(*said)

    return Proposal(told, lambda: (Leave(sure=True),))


def quitting(waiting: int, held: int, *, elsewhere: bool = False) -> str:
    """Return what a second Ctrl-C would do."""
    unsent = f", {held} of them answered and not sent yet" if held else ""
    requests = plural(waiting, "waiting request")
    then = "will go on waiting at the server" if elsewhere else "will be released with no opinion"
    return f"Ctrl-C again to quit; {requests} {then}{unsent}"


def sentence(said: str, style: str, sheet: Sheet) -> Iterator[Line]:
    """Return a sentence that is safe to show, in rows of one style."""
    for row in wrapped(said, sheet.columns, str, words=True):
        yield [(style, row)]


def option_head(number: int, *, here: bool, chosen: bool, several: bool) -> str:
    """Return the start of an option's row: cursor, choice, number."""
    opens, closes = "[]" if several else "()"
    return f"{'▸' if here else ' '}{opens}{'x' if chosen else ' '}{closes} {number} "


def chooses(on: str, *, chosen: bool, several: bool) -> str:
    """Return what enter does on an option; `on` is where it goes from a chosen one."""
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
    MESSAGE = ("{}, a word to the agent's user, sent with your decision: ", "keep message")
    WORDS = ("{}, in your own words: ", "keep words")
    REMARK = ("{}, a note beside the answer: ", "keep note")
    FIELD = ("{}, in this field: ", "keep value")
    NOTE_ON_PLAN = ("{}, what to change here: ", "keep note")
    FILTER = ("show of {} what tells: ", "go on")
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
class AskLine(Effect):
    """Ask for a line about the selected card, or about another `subject`.

    `then` gets the line and returns effects; `needs` says why an empty line is refused. `text` is
    the first content. `kept`: enter only keeps the line, to send it later. `typed` gets the line
    after each key, and an empty one when the operator leaves.
    """

    purpose: Purpose | ForAct
    then: Callable[[str], Effects]
    text: str = ""
    needs: str = ""
    subject: str = ""
    kept: bool = False
    typed: Callable[[str], object] | None = None


def ask_and_keep(purpose: Purpose, keep: Callable[[str], object], text: str) -> AskLine:
    """Return the question for a line that is only kept when it is entered."""

    def then(line: str) -> Effects:
        keep(line)
        return ()

    return AskLine(purpose, then, text, kept=True)


@frozen
class Typing:
    """A line being typed, for the card `number` or none, whatever is selected meanwhile."""

    ask: AskLine
    number: int | None
    box: LineInput

    @property
    def prompt(self) -> str:
        """What the box says before the line."""
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
    def ended_prompt(self) -> str:
        """What it says once the card has ended."""
        return f"#{self.number} has ended, nothing will be sent: "

    def typed(self) -> None:
        """Tell what the line is now to what follows it letter by letter."""
        if self.ask.typed is not None:
            self.ask.typed(self.box.text)

    def recall(self, step: int) -> None:
        """Show a line typed before (-1), or after that (+1)."""
        self.box.recall(step)
        self.typed()
