"""Edit, then allow: a call is changed before it is allowed, or a result before the model reads it.

The law of this file: what is sent is the whole input with the change in it,
and what is shown as the change is read from what would be sent.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from crabhook.desk.commands import AskObjections, Done, Outcome
from crabhook.desk.replica import Replica
from crabhook.model.card import Card, State
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import PayloadError
from crabhook.model.event import ToolCall
from crabhook.model.jsontext import Value, parse_value, pretty
from crabhook.ui.cards.summary import asked_again
from crabhook.ui.commands.decide import RewriteError, edited_field, rewritten
from crabhook.ui.full.dialogs.prompts import Arrived, Menu, Proposal
from crabhook.ui.full.effects import Effect, Effects, Give, Go, Say, Submit
from crabhook.ui.full.filters import Mode
from crabhook.ui.full.text_input import LONGEST_TEXT, TextInput
from crabhook.ui.text.code import quoted, wrap_line
from crabhook.ui.text.diff import edit_rows
from crabhook.ui.text.layout import Content, Item, Line, Sheet, framed, page
from crabhook.ui.text.safe import TAB

_FILES = {"command": "command.sh", "plan": "plan.md"}


@dataclass(slots=True)
class Edit(Effect):
    """A text being edited for a card; as an effect it is opened.

    `subject` is what it is: the command, the plan, the input or the output.
    `old` is the text as the agent sent it.  `read` turns the text into what
    would be decided, or raises RewriteError; `tell` gives back the text of
    that, to be compared with `old`.  `card` is what it was made for.
    """

    card: Card
    subject: str
    old: str
    editor: TextInput
    read: Callable[[str], Decision]
    tell: Callable[[Decision], str]

    @property
    def number(self) -> int:
        """The card's number."""
        return self.card.number

    @property
    def file_name(self) -> str:
        """What a file that holds the text is called, so that an editor knows its kind."""
        return _FILES.get(self.subject, f"{self.subject}.json")


def edit_of(card: Card) -> Edit:
    """Return an edit to begin with; raises RewriteError where there is nothing to edit here."""
    made = _of_output(card) if Beside.OUTPUT in card.choices.beside else _of_input(card)
    if len(made.old) > LONGEST_TEXT:
        raise RewriteError(f"the {made.subject} is too long to be edited here")
    return made


def asked_tool(card: Card) -> ToolCall:
    """Return the call as it was asked about last: an earlier leg may carry less of a plan."""
    for leg in reversed(card.requests):
        if leg.event.tool is not None:
            return leg.event.tool
    raise RewriteError("this names no tool whose input could be changed")


def _of_input(card: Card) -> Edit:
    tool = asked_tool(card)
    field = edited_field(tool)

    def tell(value: Value) -> str:
        said = value.get(field) if field and isinstance(value, dict) else None
        return said if isinstance(said, str) else pretty(value)

    old = tell(tool.input)
    return Edit(
        card,
        field or "input",
        old,
        TextInput(old),
        lambda text: Decision(Verdict.ALLOW, updated_input=rewritten(tool, text)),
        lambda decision: tell(dict(decision.updated_input or {})),
    )


def _of_output(card: Card) -> Edit:
    given = card.event.fields.get("tool_response")
    is_text = isinstance(given, str)

    def tell(value: Value) -> str:
        return value if isinstance(value, str) and is_text else pretty(value)

    def read(text: str) -> Decision:
        try:
            output = text if is_text else parse_value(text.encode(errors="replace"))
        except PayloadError as error:
            raise RewriteError(f"the output is JSON, and what you wrote is not: {error}") from error
        if tell(output) == tell(given):
            raise RewriteError("that changes nothing")
        return Decision(Verdict.ALLOW, output=output)

    old = tell(given)
    return Edit(card, "output", old, TextInput(old), read, lambda decision: tell(decision.output))


class Edits(dict[int, Edit]):
    """The edits begun, by the number of the card, each kept while its card lives."""

    def of(self, card: Card) -> Edit:
        """Return a card's edit, as it was left; raises RewriteError.

        Of a card that was asked about again since, what is itself a field of
        the input is kept; JSON that may lack what has come is begun anew.
        """
        kept = self.get(card.number)
        if kept is None or asked_again(kept.card, card):
            made = self[card.number] = edit_of(card)
            if kept is not None and kept.subject == made.subject in _FILES:
                made.editor.replace(kept.editor.text)
        return self[card.number]


_CHANGED = "the rules have changed since: look again at what they say"


def compare(edit: Edit | None, edits: Edits, desk: Replica) -> Effects:
    """Show what the edit changes, to be confirmed; raises RewriteError for what cannot be sent."""
    if edit is None:
        return ()
    if anew := _begun_anew(edit, edits, desk):
        return anew
    card = desk.card(edit.number)
    if card is None or card.state is not State.WAITING:
        return (Say(f"#{edit.number} has ended: nothing can be sent"),)
    decision = edit.read(edit.editor.text)

    def judged(objections: tuple[str, ...]) -> Effects:
        return (_proposal(edit, replace(decision, despite=objections), edits, desk),)

    return _judged(edit, decision, desk, judged)


def _judged(
    edit: Edit, decision: Decision, desk: Replica, then: Callable[[tuple[str, ...]], Effects]
) -> Effects:
    """Have the rules asked about a change, and go on with their objections; nothing before."""
    waiting = Menu(f"#{edit.number}: the rules are asked about the change…", (), edit.number)

    def told(outcome: Outcome) -> Effects:
        said = desk.objections(edit.number, decision)
        if outcome != Done() or said is None:
            return (Arrived(waiting, then=(Go(Mode.EDIT), Say(outcome.why))),)
        return (Arrived(waiting, then=then(said)),)

    return waiting, Submit(AskObjections(edit.number, decision), told)


def _proposal(
    edit: Edit, decision: Decision, edits: Edits, desk: Replica, *, again: bool = False
) -> Proposal:
    """Return the page with the difference; where the rules object, a first yes asks `again`."""
    difference = difference_page(edit, edit.tell(decision), decision.despite, again=again)

    def send() -> Effects:
        if anew := _begun_anew(edit, edits, desk):
            return anew
        if decision.despite and not again:
            return (_proposal(edit, decision, edits, desk, again=True),)
        return _judged(edit, decision, desk, judged)

    def judged(objections: tuple[str, ...]) -> Effects:
        """Send what was shown, if the rules still say the same and nothing has come."""
        if objections != decision.despite:
            return (*compare(edit, edits, desk), Say(_CHANGED))
        return _begun_anew(edit, edits, desk) or (Give(decision),)

    return Proposal(lambda: difference, send, number=edit.number, back=Mode.EDIT)


def _begun_anew(edit: Edit, edits: Edits, desk: Replica) -> Effects:
    """Return how the edit begins anew with what it has, if its call was asked about again."""
    card = desk.card(edit.number)
    if card is None or not asked_again(edit.card, card):
        return ()
    said = f"#{card.number} was asked again, there is more to see: look at the text anew"
    return Go(Mode.QUEUE), edits.of(card), Say(said)


_CURSOR = "cursor"
_AGAINST = "! the rules are against it as you changed it; after a yes you are asked again:"
_ANYWAY = "! SEND IT ALL THE SAME? The rules are against it:"


def edit_content(edit: Edit) -> Content:
    """Return the lines of the text, an item each; the cursor stands out in one of them."""

    def item(place: int) -> Item:
        here = edit.editor.document
        text = here.lines[place]
        letter = here.cursor_position_col if here.cursor_position_row == place else None
        key = (edit.number, "edit", text, letter)
        return Item(key, lambda sheet: _line_rows(text, letter, sheet))

    return Content((edit.number, "edit"), edit.editor.document.line_count, item)


def cursor_place(edit: Edit, sheet: Sheet) -> tuple[int, int]:
    """Return the item of `edit_content` that holds the cursor, and the row in it."""
    here = edit.editor.document
    rows = _line_rows(here.current_line, here.cursor_position_col, sheet)
    found = (place for place, row in enumerate(rows) if any(span[0] == _CURSOR for span in row))
    return here.cursor_position_row, next(found, 0)


def _line_rows(text: str, letter: int | None, sheet: Sheet) -> Iterator[Line]:
    parts = [("", text)]
    if letter is not None:
        before, here, after = text[:letter], text[letter : letter + 1] or " ", text[letter + 1 :]
        parts = [span for span in (("", before), (_CURSOR, here), ("", after)) if span[1]]
    line = [(style, sheet.spell(part.replace("\t", TAB))) for style, part in parts]
    rows = wrap_line(line, sheet.inner.columns)
    yield from framed((place == 0, row) for place, row in enumerate(rows))


def difference_page(
    edit: Edit, new: str, against: tuple[str, ...] = (), *, again: bool = False
) -> Content:
    """Return what an edit takes out of what the agent sent and puts in, and what rules say to it.

    `against`: what a denial or a protected place says.  `again`: the operator
    has said yes to that once, and is asked a second time.
    """

    def rows(sheet: Sheet) -> Iterator[Line]:
        if against:
            yield [("warning", _ANYWAY if again else _AGAINST)]
            for said in against:
                yield from quoted(said, sheet, style="warning", words=True)
        yield [("heading", f"the {edit.subject} as it will be sent")]
        yield from framed(edit_rows(edit.old, new, sheet.inner))

    # the difference itself is the key, so that another one has to be looked at anew
    return page((edit.number, "difference", new, against, again), rows)
