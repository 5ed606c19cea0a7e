"""The operator's answers to a card's questions while they are made; nothing is drawn here."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from crabhook.broker.cards import Card
from crabhook.model.errors import QuestionError
from crabhook.model.jsontext import Value
from crabhook.model.question import Answer, Question, merge_answers, quote_label, read_questions
from crabhook.ui.cards.summary import is_question


@dataclass(slots=True)
class Draft:
    """An answer in the making.  `cursor` is the row the operator stands on (see `Form.rows`)."""

    chosen: dict[int, None] = field(default_factory=dict)
    words: str = ""
    note: str = ""
    cursor: int = 0

    def answer(self) -> Answer:
        """Return the answer as it is now."""
        return Answer(tuple(sorted(self.chosen)), self.words.strip(), self.note.strip())


class Form:
    """Questions and the answers made so far; answerable in any order, none of them needed."""

    def __init__(self, tool_input: Value) -> None:
        """Read the questions.  Raises QuestionError for an input that has none to answer."""
        self.questions = read_questions(tool_input)
        self.current = 0
        self._input = tool_input
        self._drafts: dict[int, Draft] = {}

    def __repr__(self) -> str:
        return f"<Form {self.current + 1} of {len(self.questions)}, {len(self.answers())} answered>"

    @property
    def question(self) -> Question:
        """The question the operator stands at."""
        return self.questions[self.current]

    @property
    def draft(self) -> Draft:
        """The answer in the making to that question."""
        return self._drafts.setdefault(self.current, Draft())

    @property
    def rows(self) -> int:
        """How many rows the operator may stand on: the options, then own words, then the note."""
        return len(self.question.options) + 2

    def state(self, place: int) -> str:
        """Return in a word or two how the question at `place` stands; empty when unanswered."""
        draft = self._drafts.get(place)
        return tell(self.questions[place], draft.answer()) if draft else ""

    def go(self, step: int) -> None:
        """Stand at another question; the first and the last are ends."""
        self.current = min(max(self.current + step, 0), len(self.questions) - 1)

    def move(self, step: int) -> None:
        """Stand on another row of the question; the first and the last are ends."""
        self.draft.cursor = min(max(self.draft.cursor + step, 0), self.rows - 1)

    def choose(self, option: int) -> None:
        """Choose an option, or take the choice back; where one is asked for it replaces the last.

        An option that is not there changes nothing.
        """
        draft = self.draft
        if not 0 <= option < len(self.question.options):
            return
        draft.cursor = option
        if option in draft.chosen:
            del draft.chosen[option]
        elif self.question.several:
            draft.chosen[option] = None
        else:
            draft.chosen, draft.words = {option: None}, ""

    def say(self, words: str) -> None:
        """Answer in own words; where one answer is asked for they replace the choice."""
        draft = self.draft
        draft.words = words
        if words.strip() and not self.question.several:
            draft.chosen.clear()

    def note(self, text: str) -> None:
        """Set the note that goes to the model beside the answer."""
        self.draft.note = text

    def answers(self) -> Mapping[int, Answer]:
        """Return what there is to send, by the question's place."""
        made = {place: draft.answer() for place, draft in sorted(self._drafts.items())}
        return {place: one for place, one in made.items() if not one.empty or one.note}

    def updated_input(self) -> dict[str, Value] | None:
        """Return the whole tool input with the answers in it, or None when there are none."""
        return merge_answers(self._input, self.answers())


def tell(question: Question, answer: Answer) -> str:
    """Return an answer in the words the model will read, a note marked as one.

    The text is an agent's and the operator's, and not yet safe to show.
    """
    labels = [question.options[index].label for index in answer.chosen]
    parts = [*labels, *([answer.words] if answer.words else [])]
    said = ", ".join(map(quote_label, parts)) if question.several else "".join(parts[:1])
    return said or ("(a note, no answer)" if answer.note else "")


class Forms(dict[int, Form | QuestionError]):
    """The forms of the cards that were looked at, by number, each kept while its card lives."""

    def of(self, card: Card | None) -> Form | None:
        """Return a card's form, if it asks questions that can be read."""
        found = self._read(card)
        return found if isinstance(found, Form) else None

    def error(self, card: Card | None) -> str:
        """Return why a card's questions cannot be read; empty where they can, or there are none."""
        found = self._read(card)
        return str(found) if isinstance(found, QuestionError) else ""

    def _read(self, card: Card | None) -> Form | QuestionError | None:
        if card is None or card.event.tool is None or not is_question(card.event):
            return None
        if card.number not in self:
            try:
                self[card.number] = Form(card.event.tool.input)
            except QuestionError as error:
                self[card.number] = error
        return self[card.number]
