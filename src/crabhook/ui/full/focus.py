"""What the operator has begun: the stack of what is open, and the work about each card.

A view lies at the bottom: the queue, the sessions, the history. Over it open pages and dialogs: a
line, a text, a list, or a page that asks for a yes. Keys go to the top.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from crabhook.datatypes import frozen
from crabhook.desk.replica import Replica
from crabhook.model.card import Card, State
from crabhook.model.decision import Beside, Decision
from crabhook.model.errors import QuestionError
from crabhook.present.around import CardContexts
from crabhook.ui.full.dialogs.edit import Edit, Edits
from crabhook.ui.full.dialogs.mcp_form_state import FillIn, read_filling
from crabhook.ui.full.dialogs.plan import PlanNotes, denied_before, plan_of
from crabhook.ui.full.dialogs.prompts import (
    AskLine,
    ForAct,
    Menu,
    MissingRowError,
    Proposal,
    Purpose,
    Typing,
)
from crabhook.ui.full.dialogs.question import Form, read_form
from crabhook.ui.full.effects import EditOutside, Effects, Give, Say
from crabhook.ui.full.filters import VIEWS, Mode
from crabhook.ui.full.text_input import LineInput, TextInput

_Open = TypeVar("_Open")


@dataclass(slots=True)
class Finder:
    """The typed words of a search for keys, its start time, and the selected row."""

    since: float
    box: LineInput = field(default_factory=lambda: LineInput([]))
    cursor: int = 0
    _sought: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The words to search for."""
        return tuple(self.box.text.lower().split())

    def move(self, step: int) -> None:
        """Select another row; `row` keeps within the rows."""
        self.cursor += step

    def row(self, count: int) -> int:
        """Return the selected row among so many; a new text selects the first."""
        if self.box.text != self._sought:
            self.cursor, self._sought = 0, self.box.text
        self.cursor = max(min(self.cursor, count - 1), 0)
        return self.cursor


@frozen
class KeysPage:
    """The page of keys: those of the selected card or all, and the words that are sought."""

    all_keys: bool = False
    finder: Finder | None = None


@frozen
class Layer:
    """One layer of the stack: where keys go while it is on top, and what is open there."""

    mode: Mode
    open: Typing | Edit | Menu | Proposal | Give | Finder | KeysPage | None = None


_WITHIN = {
    Mode.TEXT: Mode.QUEUE,
    Mode.FORM: Mode.QUEUE,
    Mode.FILL: Mode.QUEUE,
    Mode.NOTES: Mode.QUEUE,
    Mode.REVIEW: Mode.FORM,
    Mode.ENTRY: Mode.HISTORY,
}
"""The pages that belong to a view or to another page, and go back there."""

_DENIALS = frozenset({Purpose.REASON, Purpose.INTERRUPT, Purpose.ALWAYS_DENY})
LAST_REASONS = 5
OFFERED = 9  # reasons, as many as there are digits


class Focus:
    """A stack of layers, a view at its bottom: keys go to the top, and back leads one down.

    A denial always offers `reasons`, after the reasons that were typed last.
    """

    def __init__(self, reasons: Sequence[str] = ()) -> None:
        self._reasons = reasons
        self.offers_seen = OFFERED  # as many of the offered lines as the screen has room for
        self._layers = [Layer(Mode.QUEUE)]
        self._histories: defaultdict[Purpose | ForAct, list[str]] = defaultdict(list)

    @property
    def layers(self) -> Sequence[Layer]:
        """The stack as it stands, to `restore` it later."""
        return tuple(self._layers)

    def restore(self, layers: Sequence[Layer]) -> None:
        """Let the stack be as it was."""
        self._layers = list(layers)

    @property
    def mode(self) -> Mode:
        """The mode that gets the keys."""
        return self._layers[-1].mode

    @property
    def view(self) -> Mode:
        """The view at the bottom."""
        return self._layers[0].mode

    @property
    def below(self) -> Mode:
        """The mode under the top layer, where back leads; at the bottom the view itself."""
        return self._layers[-2:][0].mode

    @property
    def typing(self) -> Typing | None:
        """The line that is typed."""
        return self._open(Typing)

    @property
    def edit(self) -> Edit | None:
        """The text that is edited."""
        return self._open(Edit)

    @property
    def menu(self) -> Menu | None:
        """The list to choose from."""
        return self._open(Menu)

    @property
    def proposal(self) -> Proposal | None:
        """The page that asks for a yes."""
        return self._open(Proposal)

    @property
    def doubt(self) -> Give | None:
        """The decision that wants a second yes."""
        return self._open(Give)

    @property
    def finder(self) -> Finder | None:
        """The search for keys or commands."""
        page = self._open(KeysPage)
        return page.finder if page is not None else self._open(Finder)

    @property
    def all_keys(self) -> bool:
        """Whether the page of keys shows all of them."""
        page = self._open(KeysPage)
        return page is not None and page.all_keys

    def _open(self, kind: type[_Open]) -> _Open | None:
        top = self._layers[-1].open
        return top if isinstance(top, kind) else None

    @property
    def editing(self) -> bool:
        """Whether the operator edits a text, or looks at the difference that the edit makes."""
        return any(layer.mode is Mode.EDIT for layer in self._layers)

    @property
    def field(self) -> LineInput | TextInput | None:
        """What letters are typed into."""
        if (edit := self.edit) is not None:
            return edit.editor
        if self.mode in (Mode.SEARCH, Mode.PALETTE) and (finder := self.finder) is not None:
            return finder.box
        return self.typing.box if self.typing is not None else None

    @property
    def offers(self) -> Sequence[str]:
        """The reasons that a digit gives, while none is being typed."""
        typing = self.typing
        denies = typing is not None and typing.ask.purpose in _DENIALS
        if typing is None or not denies or typing.box.text:
            return ()
        last = self._histories[Purpose.REASON][: -LAST_REASONS - 1 : -1]
        return list(dict.fromkeys([*last, *self._reasons]))[:OFFERED]

    def give_offer(self, place: int, card: Card | None) -> Effects:
        """Enter one of the offered reasons; one that could not be seen is none."""
        seen = min(len(self.offers), self.offers_seen)
        if place >= seen or self.typing is None:
            raise MissingRowError(place + 1, seen, "type a reason, a blank first if it begins so")
        self.typing.box.insert(self.offers[place])
        return self.enter_line(card)

    @property
    def on_page(self) -> bool:
        """Whether keys go to a page over the cards that asks for something."""
        return self.mode in (Mode.MENU, Mode.CONFIRM)

    @property
    def number(self) -> int | None:
        """The card that the list or the proposal in view is about."""
        page = self.menu or self.proposal
        return page.number if page else None

    # Changing the stack.

    def go(self, mode: Mode) -> None:
        """Go to a layer that lies below, or to a view or one of its pages; the rest closes."""
        modes = [layer.mode for layer in self._layers]
        if mode in modes:
            self._close(modes.index(mode) + 1)
            return
        if mode not in _WITHIN and mode not in VIEWS:
            return  # the dialog was left meanwhile
        path = [mode]
        while (above := _WITHIN.get(path[0])) is not None:
            path.insert(0, above)
        self._close(0)
        self._layers = [Layer(page) for page in path]

    def visit(self, mode: Mode, what: KeysPage | None = None) -> None:
        """Send keys elsewhere, to come back from there."""
        self._layers.append(Layer(mode, what))

    def back(self) -> None:
        """Go back to where the operator came from; at a view, to the queue."""
        if self.mode is Mode.SEARCH:
            self._replace(Layer(Mode.HELP, KeysPage(all_keys=self.all_keys)))
        elif len(self._layers) > 1:
            self._close(len(self._layers) - 1)
        else:
            self.go(Mode.QUEUE)

    def _close(self, height: int) -> None:
        """Close the layers above that height; a typed line is kept among the earlier lines."""
        for layer in self._layers[height:]:
            if isinstance(layer.open, Typing):
                layer.open.box.leave()
        del self._layers[height:]

    def _replace(self, layer: Layer) -> None:
        self._layers[-1] = layer

    # Opening a dialog.

    def open_line(self, ask: AskLine, card: Card | None) -> None:
        """Open the input box: for the selected card, or for a subject that is no card."""
        number = card.number if card is not None and not ask.subject else None
        if number is not None or ask.subject:
            box = LineInput(self._histories[ask.purpose], ask.text)
            self._layers.append(Layer(Mode.BOX, Typing(ask, number, box)))

    def open_palette(self, now: float) -> None:
        """Let commands be found by their names."""
        self._layers.append(Layer(Mode.PALETTE, Finder(now)))

    def search_keys(self, now: float) -> None:
        """Let the keys of the page of keys be found by their words."""
        self._replace(Layer(Mode.SEARCH, KeysPage(self.all_keys, Finder(now))))

    def keep_search(self) -> None:
        """Show the keys that were found on the page of keys."""
        self._replace(Layer(Mode.HELP, KeysPage(self.all_keys, self.finder)))

    def turn_all_keys(self) -> None:
        """Show all keys, or only those of the selected card again."""
        self._replace(Layer(Mode.HELP, KeysPage(not self.all_keys)))

    def open_edit(self, edit: Edit) -> None:
        """Open a text to be edited."""
        self._layers.append(Layer(Mode.EDIT, edit))

    def open_menu(self, menu: Menu) -> None:
        """Show a list to choose from; a list that is open gives its place."""
        self._put(Layer(Mode.MENU, menu))

    def open_proposal(self, proposal: Proposal) -> None:
        """Show a page that asks for a yes; a page that is open gives its place."""
        self._put(Layer(Mode.CONFIRM, proposal))

    def ask_again(self, doubt: Give) -> None:
        """Ask for a second yes."""
        self._put(Layer(Mode.SURE, doubt))

    def _put(self, layer: Layer) -> None:
        if self.mode is layer.mode:
            self._close(len(self._layers) - 1)
        self._layers.append(layer)

    # What the keys of a dialog do.

    def confirm(self) -> Effects:
        """Do what was proposed."""
        proposal = self.proposal
        self.back()
        return () if proposal is None else proposal.carry_out()

    def be_sure(self) -> Effects:
        """Say the second yes."""
        doubt = self.doubt
        self.back()
        return () if doubt is None else (doubt,)

    def pick(self, place: int | None = None) -> Effects:
        """Choose a row of the list, the marked row by default; raises MissingRowError."""
        if (menu := self.menu) is None:
            return ()
        if place is None and not menu.choices:
            return ()
        place = menu.cursor if place is None else place
        if not 0 <= place < len(menu.choices):
            raise MissingRowError(place + 1, len(menu.choices))
        self.back()
        return menu.choices[place].does()

    def turn(self) -> None:
        """Change what the list lets the operator change about all its rows."""
        if (menu := self.menu) is not None and menu.turn is not None:
            self.open_menu(menu.turn(menu.cursor))

    def enter_line(self, card: Card | None) -> Effects:
        """Do with the typed line what it was typed for; `card` is the selected one."""
        typing = self.typing
        if typing is None:
            return ()
        number = typing.number
        waits = card is not None and card.number == number and card.state is State.WAITING
        if number is not None and not waits:
            self.back()
            return (Say(f"#{number} had ended: nothing was sent; ↑ in a box finds the line"),)
        if typing.ask.needs and not typing.box.text.strip():
            return (Say(typing.ask.needs),)
        self.back()
        return typing.ask.then(typing.box.text.strip())

    def clear_line(self) -> None:
        """Close the box as if nothing stood in it."""
        if self.typing is not None:
            self.typing.box.replace("")
            self.typing.typed()
        self.back()

    def edit_outside(self) -> Effects:
        """Open the text in the box or the editor in the operator's own editor."""
        if (field := self.field) is None:
            return ()
        name = self.edit.file_name if self.edit is not None else "line.txt"
        return (EditOutside(field.text, name, field.replace),)


@dataclass(slots=True)
class CardWork:
    """What the operator began about one card.

    `form`: its questions, or why they cannot be read. `filling`: the form of an MCP server. `plan`:
    the notes on its plan; `before`: the plan that was denied before this one. `message` goes with
    the decision to the agent's user. `quiet`: the decision suppresses the hook's output.
    """

    form: Form | QuestionError | None
    filling: FillIn | None
    plan: PlanNotes | None = None
    before: str | None = None
    edits: Edits = field(default_factory=Edits)
    message: str = ""
    quiet: bool = False


class OneCard:
    """The number of the one card that is shown in another way."""

    number: int | None = None

    def turn(self, card: Card | None) -> None:
        """Show this card so, or no longer."""
        number = card.number if card else None
        self.number = None if self.number == number else number


class Work(dict[int, CardWork]):
    """What the operator began about cards, each kept while its card lives.

    `bare`: the card with its secrets shown; `unfolded`: the card with its blanks shown; `changes`:
    the card that shows what its plan changes of the plan before.
    """

    def __init__(self, desk: Replica) -> None:
        super().__init__()
        self._desk = desk
        self.surroundings = CardContexts(desk)
        self.bare, self.unfolded, self.changes = OneCard(), OneCard(), OneCard()

    def about(self, card: Card) -> CardWork:
        """Return what was begun about a card."""
        if card.number not in self:
            self[card.number] = CardWork(read_form(card), read_filling(card, self._desk))
        return self[card.number]

    def plan(self, card: Card) -> PlanNotes | None:
        """Return the notes on a card's plan, if it asks about one; a plan that changed has none."""
        plan, begun = plan_of(card), self.about(card)
        if begun.plan is None or begun.plan.plan != plan:
            begun.plan = PlanNotes(plan) if plan else None
        return begun.plan

    def before(self, card: Card) -> str:
        """Return the plan that was denied before this card's; empty where none was."""
        begun = self.about(card)
        if begun.before is None:
            begun.before = denied_before(card, self._desk)
        return begun.before

    def forget(self, number: int) -> None:
        """Forget what was begun about a card that is no longer looked at."""
        self.pop(number, None)
        self.surroundings.forget(number)

    def with_extras(self, card: Card, decision: Decision) -> Decision:
        """Return a decision with the extras that the operator prepared for it."""
        begun = self.about(card)
        if begun.message and Beside.MESSAGE in card.choices.beside:
            decision = replace(decision, user_message=begun.message)
        return replace(decision, suppress_output=True) if begun.quiet else decision
