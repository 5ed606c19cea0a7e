"""The dialog for a card's questions: answers in the making, what its keys do, how it is drawn."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field

from crabhook.desk.replica import Replica
from crabhook.model.card import Card
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import QuestionError
from crabhook.model.jsontext import Value, object_at, pretty
from crabhook.model.question import (
    Answer,
    Option,
    Question,
    merge_answers,
    quote_label,
    read_questions,
)
from crabhook.present.safe import TAB, Speller
from crabhook.present.summary import brief, is_question
from crabhook.ui.full.dialog import DIGITS, Go, Group, always, closes, group, row
from crabhook.ui.full.dialogs import prompts
from crabhook.ui.full.dialogs.help import KEYS_AND_LEAVE
from crabhook.ui.full.dialogs.page import (
    ARMED,
    FREE,
    LOOKING,
    QUIT,
    READ,
    SCROLLING,
    SEEN,
    TAKE_BACK,
    WHOLE,
    ScreenPage,
)
from crabhook.ui.full.effects import Effects, Enter, Give, Say, reveal
from crabhook.ui.full.screen import Screen
from crabhook.ui.full.themes import KeyTheme
from crabhook.ui.text.code import plain_rows
from crabhook.ui.text.layout import Content, Item, Line, Sheet, framed, hung, page
from crabhook.ui.text.width import cells


@dataclass(slots=True)
class Draft:
    """An unfinished answer. `cursor` is the operator's row (see `Form.rows`)."""

    chosen: set[int] = field(default_factory=set)
    words: str = ""
    note: str = ""
    cursor: int = 0

    def answer(self) -> Answer:
        """Return the answer as it is now."""
        return Answer(tuple(sorted(self.chosen)), self.words.strip(), self.note.strip())


class Form:
    """Questions and the answers made so far; answerable in any order, none of them needed."""

    def __init__(self, tool_input: Value) -> None:
        """Read the questions; QuestionError if the input has none to answer."""
        self.questions = read_questions(tool_input)
        self.current = 0
        self._input = tool_input
        self._drafts = [Draft() for _ in self.questions]

    def __repr__(self) -> str:
        return f"<Form {self.current + 1} of {len(self.questions)}, {len(self.answers())} answered>"

    @property
    def question(self) -> Question:
        """The question at the operator's place."""
        return self.questions[self.current]

    @property
    def draft(self) -> Draft:
        """The answer in the making to that question."""
        return self._drafts[self.current]

    @property
    def beyond(self) -> int:
        """The operator's row below the options: 0 own words, 1 the note; negative for none."""
        return self.draft.cursor - len(self.question.options)

    @property
    def rows(self) -> int:
        """How many rows the operator can go to: the options, own words, the note."""
        return len(self.question.options) + 2

    def state(self, place: int) -> str:
        """Return in one or two words what the question at `place` has; empty if unanswered."""
        return tell(self.questions[place], self._drafts[place].answer())

    def go(self, step: int) -> None:
        """Stand at another question; the first and the last are ends."""
        self.current = min(max(self.current + step, 0), len(self.questions) - 1)

    def move(self, step: int) -> None:
        """Stand on another row of the question; the first and the last are ends."""
        self.draft.cursor = min(max(self.draft.cursor + step, 0), self.rows - 1)

    def choose(self, option: int) -> None:
        """Choose an option, or take it back; a single choice replaces the last.

        An option that does not exist changes nothing.
        """
        draft = self.draft
        if not 0 <= option < len(self.question.options):
            return
        draft.cursor = option
        if self.question.several or option in draft.chosen:
            draft.chosen ^= {option}
        else:
            draft.chosen, draft.words = {option}, ""

    def say(self, words: str) -> None:
        """Answer in own words; where one answer is asked for they replace the choice."""
        self.draft.words = words
        if words.strip() and not self.question.several:
            self.draft.chosen.clear()

    def note(self, text: str) -> None:
        """Set the note that goes to the model beside the answer."""
        self.draft.note = text

    def answers(self) -> Mapping[int, Answer]:
        """Return what there is to send, by the question's place."""
        made = {place: draft.answer() for place, draft in enumerate(self._drafts)}
        return {place: answer for place, answer in made.items() if not answer.empty or answer.note}

    def updated_input(self) -> dict[str, Value] | None:
        """Return the whole tool input with the answers in it, or None when there are none."""
        return merge_answers(self._input, self.answers())


def tell(question: Question, answer: Answer) -> str:
    """Return an answer in the words for the model, a note marked as such; not yet safe to show."""
    labels = [question.options[index].label for index in answer.chosen]
    parts = [*labels, *([answer.words] if answer.words else [])]
    words = ", ".join(map(quote_label, parts)) if question.several else "".join(parts[:1])
    return words or ("(a note, no answer)" if answer.note else "")


def read_form(card: Card, _: Replica) -> Form | QuestionError | None:
    """Return a card's form, or why its questions cannot be read; None if it asks none."""
    if card.event.tool is None or not is_question(card.event):
        return None
    try:
        return Form(card.event.tool.input)
    except QuestionError as error:
        return error


def form_of(screen: Screen) -> Form | None:
    """Return the selected card's form, if it can be read, and still be answered."""
    if (card := screen.card) is None or Beside.INPUT not in card.choices.beside:
        return None
    form = screen.work.begun(card, read_form)
    return form if isinstance(form, Form) else None


def choose_number(form: Form, key: str) -> Effects:
    """Choose the option with that number, or take the choice back; raises MissingRowError."""
    if int(key) > len(form.question.options):
        raise prompts.MissingRowError(int(key), len(form.question.options))
    form.choose(int(key) - 1)
    return Enter(), reveal(form.draft.cursor + 1)


def choose(form: Form) -> Effects:
    """Choose the current row; below the options, type."""
    if form.beyond >= 0:
        return _BELOW_OPTIONS[form.beyond](form)
    form.choose(form.draft.cursor)
    return ()


def own_words(form: Form) -> Effects:
    """Type an answer in own words, then go on as with an option."""

    def then(text: str) -> Effects:
        form.say(text)
        return next_question(form) if text and not form.question.several else ()

    return Enter(), prompts.AskLine(prompts.Purpose.WORDS, then, form.draft.words, kept=True)


def remark(form: Form) -> Effects:
    """Type a note beside the answer."""
    return Enter(), prompts.ask_and_keep(prompts.Purpose.REMARK, form.note, form.draft.note)


_BELOW_OPTIONS = (own_words, remark)


def enter(form: Form) -> Effects:
    """Choose the current row and go on, but take nothing back.

    Where several options may be chosen, only a chosen option goes on.
    """
    draft = form.draft
    if form.beyond >= 0 or draft.cursor not in draft.chosen:
        typing = choose(form)
        if typing or form.question.several:
            return typing
    return next_question(form)


def enters(form: Form) -> str:
    """Return what `enter` does at the operator's place, in words."""
    if form.beyond >= 0:
        return ("own words…", "note…")[form.beyond]
    on = "review" if form.current + 1 == len(form.questions) else "next question"
    chosen = form.draft.cursor in form.draft.chosen
    return prompts.chooses(on, chosen=chosen, several=form.question.several)


def next_question(form: Form) -> Effects:
    """Go to the next question; from the last question to the review."""
    if form.current + 1 == len(form.questions):
        return Enter(), Go(ReviewPage)
    form.go(+1)
    return ()


def send(form: Form) -> Effects:
    """Send the answers that were reviewed; raises QuestionError where they cannot be sent."""
    if (updated := form.updated_input()) is None:
        return (Say("nothing is answered yet, so there is nothing to send. esc goes back"),)
    return (Give(Decision(Verdict.ALLOW, updated_input=updated)),)


def _with_form(
    do: Callable[[Form], Effects | None],
) -> Callable[[ScreenPage, str], Effects | None]:
    """Return the handler for the selected card's form."""
    return lambda page, _: None if (form := form_of(page.screen)) is None else do(form)


def _choose_number(page: ScreenPage, key: str) -> Effects:
    form = form_of(page.screen)
    return () if form is None else choose_number(form, key)


def is_open(page: ScreenPage) -> bool:
    """Whether the questions of the selected card wait for answers."""
    return page.waits and form_of(page.screen) is not None


# fmt: off
IN_THE_FORM: Group[ScreenPage] = group(KeyTheme.FORM, lambda page: page.waits,
    row("space", "choose", "choose the marked row, or take the choice back",
        ARMED, _with_form(choose)),
    row("enter", "choose, go on",
        "choose the marked row, then the next question or the review",
        ARMED, _with_form(enter)))
ANSWERING: Group[ScreenPage] = group(KeyTheme.ANSWERING, is_open,
    row(DIGITS, "choose", "choose that option, or take it back", ARMED, _choose_number),
    row("o", "own words", "answer the question in your own words", ARMED, _with_form(own_words)),
    row("t", "note", "put a note to the model beside the answer", ARMED, _with_form(remark)),
    row("r", "review & send", "see exactly which answers would be sent",
        FREE, lambda *_: (Enter(), Go(ReviewPage))))
BETWEEN_QUESTIONS: Group[ScreenPage] = group(KeyTheme.QUESTIONS, always,
    row("left s-tab", "", "the question before", FREE, _with_form(lambda form: form.go(-1))),
    row("right tab", "", "the question after", FREE, _with_form(lambda form: form.go(+1))),
    row("escape", "queue", "back to the queue, and keep the answers", FREE, closes))
# fmt: on


class ReviewPage(ScreenPage):
    """The page that shows exactly which answers would be sent."""

    def acts_on(self, card: Hashable, *, marked: bool) -> Hashable:
        """Return an identity of the card whose answers are reviewed."""
        return None if card is None else (card, marked, "review")

    # fmt: off
    KEYS = (
        TAKE_BACK,
        group(KeyTheme.REVIEW, lambda page: page.waits and page.may("answer"),
            row("enter y", "send", "send exactly the answers shown", READ, _with_form(send))),
        LOOKING,
        group(KeyTheme.OUT, always, row("escape r", "form", "back to the form", FREE, closes)),
        *SCROLLING, WHOLE, SEEN, KEYS_AND_LEAVE, QUIT,
    )
    # fmt: on


_INDENT = "      "
_ALIGNED = 20  # options whose labels are measured to put the descriptions in a column
_LABEL = 24  # cells a label may push that column to


def form_content(card: Card, form: Form, *, focused: bool) -> Content:
    """Return the question, its options, own words and note; `focused` marks the current row."""
    number, current, draft, question = card.number, form.current, form.draft, form.question
    own = (("o own words", draft.words), ("t note", draft.note))

    def item(place: int) -> Item:
        row, beyond = place - 1, place - 1 - len(question.options)
        if place == 0:
            return Item((number, current, "text"), lambda sheet: _question_rows(question, sheet))
        here = focused and draft.cursor == row
        if beyond >= 0:
            name, words = own[beyond]
            key = (number, current, row, here, words)
            return Item(key, lambda sheet: _own(name, words, sheet, here=here))
        chosen = row in draft.chosen
        return Item(
            (number, current, row, here, chosen),
            lambda sheet: _option(question, row, sheet, here=here, chosen=chosen),
        )

    return Content((number, "question", current), form.rows + 1, item)


def _question_rows(question: Question, sheet: Sheet) -> Iterator[Line]:
    yield from hung(" ", plain_rows(question.text, sheet.less(1), style="heading", words=True))
    asked = "choose one or more" if question.several else "choose one"
    yield [("dim", f" {asked if question.options else 'answer in your own words: o'}")]


def _option(
    question: Question, row: int, sheet: Sheet, *, here: bool, chosen: bool
) -> Iterator[Line]:
    option = question.options[row]
    style = "chosen" if chosen else ""
    head = prompts.option_head(row + 1, here=here, chosen=chosen, several=question.several)
    width = sheet.columns - len(head)
    beside = _beside(question, option, width, sheet.spell)
    label = plain_rows(option.label, sheet.less(len(head)), style=style)
    yield from ([*line, *beside] for line in hung(head, label, style))
    if not beside:
        yield from _below(option.description, sheet, "dim")
    if option.preview and (here or chosen):
        yield [("label", f"{_INDENT}preview")]
        for line in framed(plain_rows(option.preview, sheet.inner.less(6))):
            yield [("", _INDENT), *line]


def _beside(question: Question, option: Option, width: int, spell: Speller) -> Line:
    """Return a description that fits beside its label, in a column with the others."""
    label, description = option.label, option.description
    if not description or "\n" in label + description or len(label) + len(description) > width:
        return []
    labels = (each.label for each in question.options[:_ALIGNED])
    column = min(max(cells(spell(other[:_LABEL])) for other in labels), _LABEL)
    used = cells(spell(label.replace("\t", TAB)))
    beside = " " * max(column - used + 2, 2) + spell(description)
    return [("dim", beside)] if used + cells(beside) <= width else []


def _own(name: str, words: str, sheet: Sheet, *, here: bool) -> Iterator[Line]:
    mark = "▸" if here else " "
    yield [("chosen", f"{mark}    {name}:")] if words else [("", f"{mark}    {name}…")]
    yield from _below(words, sheet, "chosen")


def _below(text: str, sheet: Sheet, style: str) -> Iterator[Line]:
    if text:
        rows = plain_rows(text, sheet.less(len(_INDENT)), style=style, words=True)
        yield from hung(_INDENT, rows)


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
        yield from _answers_in(merged, form, sheet)

    return page((card.number, "review"), rows, repr(form.answers()))


def answered_page(
    card: Card, form: Form, sent_input: Mapping[str, Value], *, sent: bool
) -> Content:
    """Return the answers of a decision: what is on its way and may be taken back, or was `sent`."""

    def rows(sheet: Sheet) -> Iterator[Line]:
        yield [
            ("heading", " these answers were given:" if sent else " these answers will be sent:")
        ]
        yield from _answers_in(sent_input, form, sheet)

    return page((card.number, "answered", sent), rows, repr(sent_input))


def _answers_in(sent_input: Mapping[str, Value], form: Form, sheet: Sheet) -> Iterator[Line]:
    """Yield each question with the answer that an input carries, and answers to no question."""
    answers, remarks = (dict(object_at(sent_input, key)) for key in ("answers", "annotations"))
    for place, question in enumerate(form.questions):
        answer, remark = answers.pop(question.text, None), remarks.pop(question.text, None)
        yield from _answer_rows(question, place, answer, remark, sheet)
    for key, value in answers.items():
        yield [("warning", " the agent's input also carries an answer to no question here:")]
        yield from _below(f"{key}: {_as_text(value)}", sheet, "")


def _answer_rows(
    question: Question, place: int, answer: Value, remark: Value, sheet: Sheet
) -> Iterator[Line]:
    yield [("label", f" ({place + 1}) "), ("dim", brief(question.text, sheet.spell))]
    if answer is None:
        yield [("dim", f"{_INDENT}no answer")]
    else:
        yield from _below(_as_text(answer), sheet, "chosen")
    notes = remark.get("notes") if isinstance(remark, dict) else None
    if notes:
        yield from _below(f"note: {_as_text(notes)}", sheet, "")


def _as_text(value: Value) -> str:
    return value if isinstance(value, str) else pretty(value)
