"""What the operator has begun: where keys go, what is open there, and the work about each card.

Open are a line, a text, a list, or a page that asks for a yes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from crabhook.desk.replica import Replica
from crabhook.model.card import Card, State
from crabhook.model.decision import Beside, Decision
from crabhook.model.errors import QuestionError
from crabhook.ui.cards.context import CardContexts
from crabhook.ui.full.dialogs.edit import Edit, Edits
from crabhook.ui.full.dialogs.mcp_form_state import FillIn, read_filling
from crabhook.ui.full.dialogs.plan import PlanNotes, denied_before, plan_of
from crabhook.ui.full.dialogs.prompts import (
    AskLine,
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


_ABOVE = {Mode.REVIEW: Mode.FORM, Mode.ENTRY: Mode.HISTORY}  # where one goes back to
LAST_REASONS = 5
OFFERED = 9  # reasons, as many as there are digits


class Focus:
    """The mode and what is open in it; None means that nothing of that kind is open.

    A denial always offers `reasons`, after the reasons that were typed last.
    """

    def __init__(self, reasons: Sequence[str] = ()) -> None:
        self._reasons = reasons
        self.offers_seen = OFFERED  # as many of the offered lines as the screen has room for
        self.view = self._mode = Mode.QUEUE
        self.typing: Typing | None = None
        self.edit: Edit | None = None
        self.menu: Menu | None = None
        self.proposal: Proposal | None = None
        self.doubt: Give | None = None  # what wants a second yes
        self.finder: Finder | None = None
        self.all_keys = False  # whether the page of keys shows all of them
        self.came_from = Mode.QUEUE
        self._under_menu = (Mode.QUEUE, Mode.QUEUE)  # where keys went, and came from before that
        self._histories: dict[Purpose, list[str]] = {purpose: [] for purpose in Purpose}

    @property
    def mode(self) -> Mode:
        """The mode that gets the keys; `view` is the view below it."""
        return self._mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._mode = mode
        if mode in VIEWS:
            self.view = mode

    @property
    def editing(self) -> bool:
        """Whether the operator edits a text, or looks at the difference that the edit makes."""
        back = self.proposal.back if self.mode is Mode.CONFIRM and self.proposal else self.mode
        return back is Mode.EDIT

    @property
    def field(self) -> LineInput | TextInput | None:
        """What letters are typed into."""
        if self.mode is Mode.EDIT and self.edit is not None:
            return self.edit.editor
        if self.mode in (Mode.SEARCH, Mode.PALETTE) and self.finder is not None:
            return self.finder.box
        return self.typing.box if self.typing is not None else None

    @property
    def offers(self) -> Sequence[str]:
        """The reasons that a digit gives, while none is being typed."""
        typing = self.typing
        denies = typing is not None and typing.ask.purpose in (Purpose.REASON, Purpose.INTERRUPT)
        if self.mode is not Mode.BOX or typing is None or not denies or typing.box.text:
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
        page = {Mode.MENU: self.menu, Mode.CONFIRM: self.proposal}.get(self.mode)
        return page.number if page else None

    def visit(self, mode: Mode) -> None:
        """Send keys elsewhere, to come back from there to the mode that they go to now."""
        self.came_from, self.mode = self.mode, mode

    def open_line(self, ask: AskLine, card: Card | None) -> None:
        """Open the input box: for the selected card, or for a subject that is no card."""
        number = card.number if card is not None and not ask.subject else None
        if number is not None or ask.subject:
            box = LineInput(self._histories[ask.purpose], ask.text)
            self.typing = Typing(ask, number, box)
            self.visit(Mode.BOX)

    def open_finder(self, mode: Mode, now: float) -> None:
        """Let commands be found by their names, or the keys of the page that shows them."""
        self.finder = Finder(now)
        if mode is Mode.PALETTE:
            self.visit(mode)
        self.mode = mode

    def turn_all_keys(self) -> None:
        """Show all keys, or only those of the selected card again."""
        self.all_keys, self.finder = not self.all_keys, None

    def open_edit(self, edit: Edit) -> None:
        """Open a text to be edited."""
        self.edit = edit
        self.visit(Mode.EDIT)

    def open_menu(self, menu: Menu) -> None:
        """Show a list to choose from."""
        self.menu = menu
        if self.mode is not Mode.MENU:
            self._under_menu = self.mode, self.came_from
        self.mode = Mode.MENU

    def back(self) -> None:
        """Go back to where the operator came from."""
        if self.mode is Mode.MENU:
            self.menu = None
            self.mode, self.came_from = self._under_menu
        elif self.mode in (Mode.HELP, Mode.ALL, Mode.PALETTE):
            self.finder, self.all_keys = None, False
            self.mode = self.came_from
        elif self.mode is Mode.SEARCH:
            self.finder, self.mode = None, Mode.HELP
        elif self.mode is Mode.CONFIRM and self.proposal is not None:
            self.mode = self.proposal.back
        else:
            self.mode = _ABOVE.get(self.mode, Mode.QUEUE)

    def confirm(self) -> Effects:
        """Do what was proposed."""
        proposal, self.proposal = self.proposal, None
        self.mode = Mode.QUEUE
        return () if proposal is None else proposal.carry_out()

    def be_sure(self) -> Effects:
        """Say the second yes."""
        doubt, self.doubt, self.mode = self.doubt, None, Mode.QUEUE
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
        if self.menu is not None and self.menu.turn is not None:
            self.menu = self.menu.turn(self.menu.cursor)

    def enter_line(self, card: Card | None) -> Effects:
        """Do with the typed line what it was typed for; `card` is the selected one."""
        typing = self.typing
        if typing is None:
            return ()
        number = typing.number
        waits = card is not None and card.number == number and card.state is State.WAITING
        if number is not None and not waits:
            self.leave_line()
            return (Say(f"#{number} had ended: nothing was sent; ↑ in a box finds the line"),)
        if typing.ask.needs and not typing.box.text.strip():
            return (Say(typing.ask.needs),)
        self.leave_line()
        return typing.ask.then(typing.box.text.strip())

    def clear_line(self) -> None:
        """Close the box as if nothing stood in it."""
        if self.typing is not None:
            self.typing.box.replace("")
            self.typing.typed()
        self.leave_line()

    def leave_line(self) -> None:
        """Close the box; what was typed is kept among the earlier lines."""
        typing, self.typing = self.typing, None
        self.mode = self.came_from
        if typing is not None:
            typing.box.leave()

    def leave_edit(self) -> None:
        """Leave the editor; its text is kept while the card lives."""
        self.edit = None
        self.mode = self.came_from

    def edit_outside(self) -> Effects:
        """Open the text in the box or the editor in the operator's own editor."""
        if (field := self.field) is None:
            return ()
        name = self.edit.file_name if self.mode is Mode.EDIT and self.edit else "line.txt"
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
        if Beside.MESSAGE in card.choices.beside:
            decision = replace(decision, user_message=begun.message)
        return replace(decision, suppress_output=True) if begun.quiet else decision
