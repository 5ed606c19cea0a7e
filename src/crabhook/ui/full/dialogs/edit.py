"""Edit a call before allowing it, or a result before the model reads it.

The law of this file: the whole input is sent with the change in it. The shown change is computed
from what would be sent.
"""

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from crabhook.desk.commands import AskObjections, Done, Outcome
from crabhook.desk.replica import Replica
from crabhook.model.card import Card, Risk, State
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import PayloadError
from crabhook.model.event import ToolCall
from crabhook.model.jsontext import Path, Value, at, parse_value, pretty, text_at
from crabhook.present.document import CallRisk
from crabhook.present.safe import TAB
from crabhook.present.summary import LONGEST, asked_again
from crabhook.ui.commands.decide import RewriteError, rewritten
from crabhook.ui.edits import asked_tool, subject_of, text_paths
from crabhook.ui.full.dialog import Go, always, closes, group, row
from crabhook.ui.full.dialogs.page import FREE, QUIT
from crabhook.ui.full.dialogs.prompts import OUTSIDE, Choice, Menu, Typed, YesPage, awaited
from crabhook.ui.full.effects import Effects, Give, Say
from crabhook.ui.full.panes.around import risk_rows
from crabhook.ui.full.text_input import LONGEST_TEXT, TextInput
from crabhook.ui.full.themes import KeyTheme
from crabhook.ui.full.work import Marks
from crabhook.ui.text.code import quoted, wrap_line
from crabhook.ui.text.diff import edit_rows
from crabhook.ui.text.layout import Content, Item, Line, Sheet, framed, page

_FILES = {"command": "command.sh", "plan": "plan.md"}
_STRING = r'"(?:[^"\\\n]|\\.)*'
_FIRST_VALUE = re.compile(rf'^ +(?:{_STRING}": )?(?:{_STRING}|[\w.+-]+)(?="?,?$)', re.MULTILINE)


@dataclass(slots=True)
class Edit:
    """A text being edited for a card.

    `subject` names the text: the command, the plan, a new text of a file, the input or the output.
    `path` leads to it in the input. `old` is the agent's text. `read` turns text into what would be
    decided, or raises RewriteError; `tell` turns that back into text, to compare with `old`.
    """

    card: Card
    subject: str
    old: str
    editor: TextInput
    read: Callable[[str], Decision]
    tell: Callable[[Decision], str]
    path: Path = ()

    @property
    def number(self) -> int:
        """The card's number."""
        return self.card.number

    @property
    def file_name(self) -> str:
        """What a file that holds the text is called, so that an editor knows its kind."""
        if not self.path:
            return f"{self.subject}.json"
        tool_input = self.card.event.given
        names = ("file_path", "filePath", "path")
        target = next(filter(None, (text_at(tool_input, name) for name in names)), "")
        ending = re.search(r"\.[A-Za-z0-9]{1,10}$", target)
        return _FILES.get(self.subject, f"text{ending[0] if ending else '.txt'}")


def begin(card: Card, edits: "Edits") -> Effects:
    """Open what there is to edit of a card, or a list where that is several texts."""
    paths = () if Beside.OUTPUT in card.choices.beside else text_paths(asked_tool(card))
    if len(paths) < 2:
        return edits.opened(card, *paths)
    rows: list[Choice] = []
    for path in paths:
        text = str(at(asked_tool(card).input, path))[:LONGEST]
        rows.append(Choice(f"{subject_of(path)}: ", partial(edits.opened, card, path), text))
    rows.append(Choice("all of the input, as JSON", partial(edits.opened, card, ())))
    return (Menu(f"#{card.number}: what do you want to change?", tuple(rows), card.number),)


def edit_of(card: Card, path: Path | None = None) -> Edit:
    """Return a new edit of the text at `path`, by default the first text of lines.

    Raises RewriteError where the card has nothing to edit.
    """
    if Beside.OUTPUT in card.choices.beside:
        made = _of_output(card)
    else:
        tool = asked_tool(card)
        made = _of_input(card, tool, next(iter(text_paths(tool)), ()) if path is None else path)
    if len(made.old) > LONGEST_TEXT:
        raise RewriteError(f"the {made.subject} is too long to be edited here")
    if (
        not made.path
        and made.old[:1] in ("{", "[")
        and (first_value := _FIRST_VALUE.search(made.old))
    ):
        made.editor.cursor_position = first_value.end()
    return made


def _of_input(card: Card, tool: ToolCall, path: Path) -> Edit:
    def tell(value: Value) -> str:
        part = at(value, path) if path else None
        return part if isinstance(part, str) else pretty(value)

    old = tell(tool.input)
    return Edit(
        card,
        subject_of(path),
        old,
        TextInput(old),
        lambda text: Decision(Verdict.ALLOW, updated_input=rewritten(tool, text, path)),
        lambda decision: tell(dict(decision.updated_input or {})),
        path,
    )


def _of_output(card: Card) -> Edit:
    result = card.event.fields.get("tool_response")
    is_text = isinstance(result, str)

    def tell(value: Value) -> str:
        return value if isinstance(value, str) and is_text else pretty(value)

    def read(text: str) -> Decision:
        try:
            output = text if is_text else parse_value(text.encode(errors="replace"))
        except PayloadError as error:
            raise RewriteError(f"the output is JSON, and what you wrote is not: {error}") from error
        if tell(output) == tell(result):
            raise RewriteError("that changes nothing")
        return Decision(Verdict.ALLOW, output=output)

    old = tell(result)
    return Edit(card, "output", old, TextInput(old), read, lambda decision: tell(decision.output))


class Edits(dict[Path, Edit]):
    """The edits begun of one card, by part of the input."""

    def __init__(self, desk: Replica) -> None:
        super().__init__()
        self._desk = desk

    def of(self, card: Card, path: Path | None = None) -> Edit:
        """Return a card's edit as the operator left it; raises RewriteError.

        If the card changed since, a text edit goes on; JSON begins again, since it may lack new
        fields.
        """
        made = edit_of(card, path)
        kept = self.get(made.path)
        if kept is None or asked_again(kept.card, card):
            if kept is not None and made.path:
                made.editor.replace(kept.editor.text)
            self[made.path] = made
        return self[made.path]

    def opened(self, card: Card, path: Path | None = None) -> Effects:
        """Open a card's edit; of a text that is a part of the input, say which."""
        edit = self.of(card, path)
        notice = f"only the {edit.subject} is edited here. E edits all of the input, as JSON"
        return EditPage(edit, self, self._desk), Say(
            notice if edit.path and edit.subject not in _FILES else ""
        )


def edits_begun(_: Card, desk: Replica) -> Edits:
    """Return the edits of a card of which none is begun."""
    return Edits(desk)


class EditPage(Typed):
    """The editor of a card's text."""

    COVERS = True

    def __init__(self, edit: Edit, edits: Edits, desk: Replica) -> None:
        self.edit = edit
        self._edits, self._desk = edits, desk

    @property
    def field(self) -> TextInput:
        """What letters are typed into."""
        return self.edit.editor

    @property
    def file_name(self) -> str:
        """What a file that holds the text is called."""
        return self.edit.file_name

    def content(self) -> Content:
        """Return the text as drawn."""
        return edit_content(self.edit)

    def shows(self, card: Card | None, marks: Marks) -> Sequence[Card]:
        """Return no card: the text covers it."""
        del card, marks
        return ()

    def acts_on(self, card: Hashable, *, marked: bool) -> Hashable:
        """Return an identity of the card whose text is edited."""
        del marked
        return "edit", card

    def compare(self) -> Effects:
        """Show what the edit changes."""
        return compare(self.edit, self._edits, self._desk)

    # fmt: off
    KEYS = (
        group(KeyTheme.EDITOR, always,
            row("c-s c-d", "see the change", "see what would change, before anything is sent",
                FREE, lambda page, _: page.compare()),
            row("escape", "leave", "leave the editor, and keep what you typed for the next time",
                FREE, closes)),
        OUTSIDE, QUIT,
    )
    # fmt: on


_CHANGED = "the rules have changed since: look again at what they say"


def compare(edit: Edit, edits: Edits, desk: Replica) -> Effects:
    """Show what the edit changes, to be confirmed; raises RewriteError for what cannot be sent."""
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
    """Ask the rules about a change, then go on with their objections."""
    number = edit.number

    def told(outcome: Outcome) -> Effects:
        objections = desk.objections(number, decision)
        if outcome != Done() or objections is None:
            return Go(EditPage), Say(outcome.why)
        return then(objections)

    meanwhile = f"#{number}: the rules are asked about the change…"
    return awaited(meanwhile, number, AskObjections(number, decision), told)


def _proposal(
    edit: Edit, decision: Decision, edits: Edits, desk: Replica, *, again: bool = False
) -> YesPage:
    """Return the page with the difference; where rules object, a first yes asks `again`."""
    risk = desk.changed_risk(edit.number, decision)
    difference = difference_page(edit, edit.tell(decision), decision.despite, risk, again=again)

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

    return YesPage(lambda: difference, send, number=edit.number)


def _begun_anew(edit: Edit, edits: Edits, desk: Replica) -> Effects:
    """Return the effects that begin the edit again if its call has changed, else nothing."""
    card = desk.card(edit.number)
    if card is None or not asked_again(edit.card, card):
        return ()
    notice = f"#{card.number} was asked again, there is more to see: look at the text again"
    return Go(), EditPage(edits.of(card, edit.path), edits, desk), Say(notice)


_CURSOR = "cursor"
_AGAINST = "! the rules are against it as you changed it. After a yes you are asked again:"
_ANYWAY = "! SEND IT ALL THE SAME? The rules are against it:"


def edit_content(edit: Edit) -> Content:
    """Return the text as items, one a line; the cursor stands out in its line."""

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
    cursors = (place for place, row in enumerate(rows) if any(span[0] == _CURSOR for span in row))
    return here.cursor_position_row, next(cursors, 0)


def _line_rows(text: str, letter: int | None, sheet: Sheet) -> Iterator[Line]:
    parts = [("", text)]
    if letter is not None:
        before, here, after = text[:letter], text[letter : letter + 1] or " ", text[letter + 1 :]
        parts = [span for span in (("", before), (_CURSOR, here), ("", after)) if span[1]]
    line = [(style, sheet.spell(part.replace("\t", TAB))) for style, part in parts]
    rows = wrap_line(line, sheet.inner.columns)
    yield from framed((place == 0, row) for place, row in enumerate(rows))


def difference_page(
    edit: Edit,
    new: str,
    against: tuple[str, ...] = (),
    risk: Risk | None = None,
    *,
    again: bool = False,
) -> Content:
    """Return the difference to the agent's text, and what the rules say about the new text.

    `against`: the objection of a denial or protected place. `risk`: what the new call may do.
    `again`: the operator has said yes to the objection once and is asked once more.
    """

    def rows(sheet: Sheet) -> Iterator[Line]:
        if against:
            yield [("warning", _ANYWAY if again else _AGAINST)]
            for objection in against:
                yield from quoted(objection, sheet, style="warning", words=True)
        yield [("heading", f"the {edit.subject} as it will be sent")]
        yield from framed(edit_rows(edit.old, new, sheet.inner))
        if risk is not None:
            yield [("label", "what it may do then")]
            yield from risk_rows(CallRisk(risk), sheet)

    # the difference itself is the key, so that another one has to be looked at anew
    return page((edit.number, "difference", new, against, again, risk), rows)
