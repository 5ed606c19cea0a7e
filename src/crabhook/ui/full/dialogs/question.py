"""The dialog for a card's questions: what its keys do, and how it is drawn.

It shows the questions as tabs, the options of one of them row by row, and a
review of exactly what would be sent.
"""

from collections.abc import Iterator, Mapping

from crabhook.broker.cards import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import QuestionError
from crabhook.model.jsontext import Value, pretty
from crabhook.model.question import Option, Question
from crabhook.ui.cards.summary import brief
from crabhook.ui.full.dialogs.prompts import Purpose, ask_and_keep, option_head
from crabhook.ui.full.dialogs.question_state import Form
from crabhook.ui.full.effects import Effects, Give, Go, Reveal, Say
from crabhook.ui.full.filters import Mode
from crabhook.ui.full.panes.request import rows_in_full
from crabhook.ui.text.code import plain_rows
from crabhook.ui.text.layout import Content, Item, Line, Sheet, framed, hung, line_cells, page
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
    form.go(+1)
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
    while before and sum(map(line_cells, before)) > columns // 2:
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


def form_content(card: Card, form: Form, *, focused: bool) -> Content:
    """Return the current question, its options, own words, the note, then the request in full.

    `focused`: whether keys go to the form, so that the row they act on is marked.
    """
    number, current, draft, question = card.number, form.current, form.draft, form.question
    options = question.options

    def item(place: int) -> Item:
        row = place - 1
        if place == 0:
            return Item((number, current, "text"), lambda sheet: _question_rows(question, sheet))
        if row == form.rows:
            legs = tuple(leg.id for leg in card.requests)
            return Item((number, legs, "in full"), lambda sheet: rows_in_full(card, sheet))
        here = focused and draft.cursor == row
        if row < len(options):
            chosen = row in draft.chosen
            return Item(
                (number, current, row, here, chosen),
                lambda sheet: _option(question, row, sheet, here=here, chosen=chosen),
            )
        words = row == len(options)
        name, said = ("o own words", draft.words) if words else ("t note", draft.note)
        key = (number, current, row, here, said)
        return Item(key, lambda sheet: _own(name, said, sheet, here=here))

    return Content((number, "question", current), form.rows + 2, item)


def _question_rows(question: Question, sheet: Sheet) -> Iterator[Line]:
    width, spell = sheet.columns - 1, sheet.spell
    yield from hung(" ", plain_rows(question.text, width, spell, style="heading", words=True))
    if not question.options:
        yield [("dim", " answer in your own words: o")]
    else:
        yield [("dim", " choose any number" if question.several else " choose one")]


def _option(
    question: Question, row: int, sheet: Sheet, *, here: bool, chosen: bool
) -> Iterator[Line]:
    option = question.options[row]
    style = "chosen" if chosen else ""
    head = option_head(row + 1, here=here, chosen=chosen, several=question.several)
    width = sheet.columns - len(head)
    beside = _beside(question, option, width, sheet.spell)
    label = plain_rows(option.label, width, sheet.spell, style=style)
    yield from ([*line, *beside] for line in hung(head, label, style))
    if not beside:
        yield from _below(option.description, sheet, "dim")
    if option.preview and (here or chosen):
        yield [("label", f"{_INDENT}preview")]
        for line in framed(plain_rows(option.preview, sheet.inner - 6, sheet.spell)):
            yield [("", _INDENT), *line]


def _beside(question: Question, option: Option, width: int, spell: Speller) -> Line:
    """Return a description that fits beside its label, in a column with the others."""
    label, said = option.label, option.description
    if not said or "\n" in label + said or len(label) + len(said) > width:
        return []
    labels = (one.label for one in question.options[:_ALIGNED])
    column = min(max(cells(spell(other[:_LABEL])) for other in labels), _LABEL)
    used = cells(spell(label.replace("\t", TAB)))
    beside = " " * max(column - used + 2, 2) + spell(said)
    return [("dim", beside)] if used + cells(beside) <= width else []


def _own(name: str, said: str, sheet: Sheet, *, here: bool) -> Iterator[Line]:
    mark = "▸" if here else " "
    yield [("chosen", f"{mark}    {name}:")] if said else [("", f"{mark}    {name}…")]
    yield from _below(said, sheet, "chosen")


def _below(text: str, sheet: Sheet, style: str) -> Iterator[Line]:
    """Return text under its heading."""
    if text:
        width = sheet.columns - len(_INDENT)
        yield from hung(_INDENT, plain_rows(text, width, sheet.spell, style=style, words=True))


def review_page(card: Card, form: Form) -> Content:
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
            yield [("warning", " the agent's input also carries an answer to no question here:")]
            yield from _below(f"{key}: {_as_text(value)}", sheet, "")

    return page((card.number, "review"), rows, repr(form.answers()))


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


def _texts(merged: Mapping[str, Value], key: str) -> dict[str, Value]:
    value = merged.get(key)
    return dict(value) if isinstance(value, dict) else {}


def _as_text(value: Value) -> str:
    return value if isinstance(value, str) else pretty(value)
