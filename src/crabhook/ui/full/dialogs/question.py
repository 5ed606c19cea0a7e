"""The dialog for a card's questions: what its keys do, and how it is drawn.

It shows the questions as tabs, the options of one of them row by row, and a
review of exactly what would be sent.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from crabhook.broker.cards import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import QuestionError
from crabhook.model.jsontext import Value, pretty
from crabhook.model.question import Option, Question
from crabhook.ui.cards.summary import brief
from crabhook.ui.full.dialogs.prompts import Purpose, ask_and_keep
from crabhook.ui.full.dialogs.question_state import Draft, Form
from crabhook.ui.full.effects import Effects, Give, Go, Reveal, Say
from crabhook.ui.full.filters import Mode
from crabhook.ui.full.panes.request import request_rows
from crabhook.ui.text.code import plain_rows
from crabhook.ui.text.layout import Item, Line, Page, Sheet, framed
from crabhook.ui.text.safe import TAB
from crabhook.ui.text.width import Speller, cells, clip

# What keys do.


def choose_number(form: Form, key: str) -> Effects:
    """Choose the option with that number, or take the choice back."""
    form.choose(int(key) - 1)
    return Go(Mode.FORM), Reveal(form.draft.cursor + 1)


def choose(form: Form) -> Effects:
    """Choose the row the operator stands on; below the options, type."""
    beyond = form.draft.cursor - len(form.question.options)
    if beyond < 0:
        form.choose(form.draft.cursor)
        return ()
    return own_words(form) if beyond == 0 else remark(form)


def own_words(form: Form) -> Effects:
    """Type an answer in own words."""
    return Go(Mode.FORM), ask_and_keep(Purpose.WORDS, form.say, form.draft.words)


def remark(form: Form) -> Effects:
    """Type a note beside the answer."""
    return Go(Mode.FORM), ask_and_keep(Purpose.REMARK, form.note, form.draft.note)


def next_question(form: Form) -> Effects:
    """Go to the next question; from the last one to the review."""
    if form.current + 1 == len(form.questions):
        return (Go(Mode.REVIEW),)
    return go_question(form, +1)


def go_question(form: Form, step: int) -> Effects:
    """Go to the question before or after."""
    form.go(step)
    return ()


def send(form: Form) -> Effects:
    """Send the answers that were reviewed."""
    try:
        updated = form.updated_input()
    except QuestionError as error:
        return (Say(str(error)),)
    if updated is None:
        return (Say("nothing is answered yet, so there is nothing to send; esc goes back"),)
    return (Give(Decision(Verdict.ALLOW, updated_input=updated)),)


# How it is drawn.


_INDENT = "      "
_TAB_CELLS = 24
_ALIGNED = 20  # options whose labels are measured to put the descriptions in a column
_LABEL = 24  # cells a label may push that column to


def tab_line(form: Form, columns: int, spell: Speller) -> Line:
    """Return one line that lists the questions and how each stands, the current one in view."""
    before = [_tab(form, place, spell) for place in range(max(form.current - 3, 0), form.current)]
    while before and sum(map(_tab_cells, before)) > columns // 2:
        del before[0]
    line = [span for tab in before for span in tab]
    for place in range(form.current, min(form.current + 8, len(form.questions))):
        line += _tab(form, place, spell)
    hidden = form.current - len(before)
    return [("dim", f" {hidden} before "), *line] if hidden else line


def _tab(form: Form, place: int, spell: Speller) -> Line:
    question = form.questions[place]
    name = clip(brief(question.header or question.text, spell), _TAB_CELLS)
    state = brief(form.state(place), spell)
    style = "current" if place == form.current else "dim"
    mark = "▸" if place == form.current else " "
    tab = [(style, f"{mark}({place + 1}) {name}")]
    if state:
        tab.append(("answered", f" ✓ {clip(state, _TAB_CELLS)}"))
    return [*tab, ("", "  ")]


def _tab_cells(tab: Line) -> int:
    return sum(cells(text) for _, text in tab)


@dataclass(frozen=True, slots=True)
class FormContent:
    """The current question: its text, its options, own words, the note, then the request in full.

    `focused`: whether keys go to the form, so that the row they act on is marked.
    """

    card: Card
    form: Form
    focused: bool

    @property
    def key(self) -> Hashable:
        """Which question of which card."""
        return self.card.number, "question", self.form.current

    @property
    def count(self) -> int:
        """The question, its rows, and the request."""
        return self.form.rows + 2

    def item(self, place: int) -> Item:
        """Return the question's text, one of its rows, or the request in full."""
        number, current, draft = self.card.number, self.form.current, self.form.draft
        if place == 0:
            return Item((number, current, "text"), self._text)
        row = place - 1
        if row == self.form.rows:
            legs = tuple(leg.id for leg in self.card.requests)
            return Item((number, legs, "in full"), self._request)
        here = self.focused and draft.cursor == row
        if row < len(self.form.question.options):
            chosen = row in draft.chosen
            return Item(
                (number, current, row, here, chosen), lambda sheet: self._option(sheet, row, here)
            )
        said = draft.words if row == len(self.form.question.options) else draft.note
        return Item((number, current, row, here, said), lambda sheet: self._own(sheet, row, here))

    def _text(self, sheet: Sheet) -> Iterator[Line]:
        text = self.form.question.text
        for _, row in plain_rows(text, sheet.columns - 1, sheet.spell, style="heading", words=True):
            yield [("", " "), *row]
        yield [("dim", f" {self._kind()}")]

    def _kind(self) -> str:
        question = self.form.question
        if not question.options:
            return "answer in your own words: o"
        return "choose any number" if question.several else "choose one"

    def _option(self, sheet: Sheet, row: int, here: bool) -> Iterator[Line]:  # noqa: FBT001 - a row's own state, never called from outside
        question = self.form.question
        option: Option = question.options[row]
        chosen = row in self.form.draft.chosen
        box = ("[x]" if chosen else "[ ]") if question.several else ("(x)" if chosen else "( )")
        style = "chosen" if chosen else ""
        head = f"{'▸' if here else ' '}{box} {row + 1} "
        width = sheet.columns - len(head)
        beside = self._beside(option, width, sheet.spell)
        label = plain_rows(option.label, width, sheet.spell, style=style)
        for place, (_, spans) in enumerate(label):
            yield [(style, head if place == 0 else " " * len(head)), *spans, *beside]
        if not beside:
            yield from _below(option.description, sheet, "dim")
        if option.preview and (here or chosen):
            yield [("label", f"{_INDENT}preview")]
            for line in framed(plain_rows(option.preview, sheet.inner - 6, sheet.spell)):
                yield [("", _INDENT), *line]

    def _beside(self, option: Option, width: int, spell: Speller) -> Line:
        """Return a description that fits beside its label, in a column with the others."""
        label, said = option.label, option.description
        if not said or "\n" in label + said or len(label) + len(said) > width:
            return []
        labels = (one.label for one in self.form.question.options[:_ALIGNED])
        column = min(max(cells(spell(other[:_LABEL])) for other in labels), _LABEL)
        used = cells(spell(label.replace("\t", TAB)))
        beside = " " * max(column - used + 2, 2) + spell(said)
        return [("dim", beside)] if used + cells(beside) <= width else []

    def _own(self, sheet: Sheet, row: int, here: bool) -> Iterator[Line]:  # noqa: FBT001 - as above
        draft: Draft = self.form.draft
        words = row == len(self.form.question.options)
        name, said = ("o own words", draft.words) if words else ("t note", draft.note)
        yield [
            ("chosen" if said else "", f"{'▸' if here else ' '}    {name}{':' if said else '…'}")
        ]
        yield from _below(said, sheet, "chosen")

    def _request(self, sheet: Sheet) -> Iterator[Line]:
        yield [("label", "the request in full")]
        yield from request_rows(self.card, sheet)


def _below(text: str, sheet: Sheet, style: str) -> Iterator[Line]:
    """Return text under its heading."""
    if text:
        width = sheet.columns - len(_INDENT)
        for _, row in plain_rows(text, width, sheet.spell, style=style, words=True):
            yield [("", _INDENT), *row]


def review_page(card: Card, form: Form) -> Page:
    """Return exactly what would be sent, read from the merged input itself."""

    def rows(sheet: Sheet) -> Iterator[Line]:
        try:
            merged = form.updated_input()
        except QuestionError as error:
            yield [("warning", f" these answers cannot be sent: {sheet.spell(str(error))}")]
            return
        if merged is None:
            yield [("warning", " nothing is answered yet, so there is nothing to send")]
            return
        yield [("heading", " these answers will be sent:")]
        answers, remarks = _texts(merged, "answers"), _texts(merged, "annotations")
        for place, question in enumerate(form.questions):
            said, remark = answers.pop(question.text, None), remarks.pop(question.text, None)
            yield from _answer_rows(question, place, said, remark, sheet)
        for key, value in answers.items():
            yield from _foreign(key, value, sheet)

    return Page((card.number, "review"), lambda: repr(form.answers()), rows)


def _answer_rows(
    question: Question, place: int, said: Value, remark: Value, sheet: Sheet
) -> Iterator[Line]:
    yield [("label", f" ({place + 1}) "), ("dim", brief(question.text, sheet.spell))]
    if said is None:
        yield [("dim", f"{_INDENT}no answer")]
    else:
        yield from _below(_as_text(said), sheet, "chosen")
    notes = remark.get("notes") if isinstance(remark, dict) else None
    if notes:
        yield from _below(f"note: {_as_text(notes)}", sheet, "")


def _foreign(key: str, value: Value, sheet: Sheet) -> Iterator[Line]:
    yield [("warning", " the agent's input also carries an answer to no question here:")]
    yield from _below(f"{key}: {_as_text(value)}", sheet, "")


def _texts(merged: Mapping[str, Value], key: str) -> dict[str, Value]:
    value = merged.get(key)
    return dict(value) if isinstance(value, dict) else {}


def _as_text(value: Value) -> str:
    return value if isinstance(value, str) else pretty(value)
