"""The rows of the queue and of the feed, in columns that give way on a narrow screen."""

from collections.abc import Sequence
from dataclasses import dataclass

from crabhook.model.bounded_dict import Bounded
from crabhook.model.card import Card, FeedEntry, State
from crabhook.ui.answers import HeldAnswer
from crabhook.ui.cards.summary import (
    agent_label,
    brief,
    is_plan,
    is_question,
    outcome,
    project,
    summary,
    tool_label,
)
from crabhook.ui.text.clock import Clock, bar, lasting
from crabhook.ui.text.layout import Line, clip_line, ends
from crabhook.ui.text.width import Speller, clip, fit

HELD_BAR = 6  # cells


@dataclass(frozen=True, slots=True)
class CardRow:
    """A card with what its row shows besides: how it stands with the operator.

    `armed`: keys may decide it.  `marked`: it is to be decided with others.
    """

    card: Card
    selected: bool = False
    armed: bool = False
    held: HeldAnswer | None = None
    marked: bool = False

    @property
    def aside(self) -> bool:
        """Whether the operator has put the card aside."""
        return self.card.snoozed_until > 0 and not self.ended

    @property
    def ended(self) -> bool:
        """Whether nothing can be done about the card any more."""
        return self.card.state is not State.WAITING

    @property
    def mark(self) -> str:
        """The mark before the selected card: hollow until it is armed."""
        if not self.selected:
            return " "
        return "▸" if self.armed or self.ended else "▹"

    @property
    def style(self) -> str:
        """The style of its words."""
        if self.ended:
            return "ended"
        return "selected" if self.selected else "dim" if self.aside else ""

    @property
    def number_style(self) -> str:
        """The style of its number: dim until it is armed."""
        return "unarmed" if self.selected and not self.armed and not self.ended else self.style

    @property
    def tick(self) -> str:
        """The sign behind the mark of a card that is to be decided with others."""
        return "✓" if self.marked else " "

    def sending(self, clock: Clock) -> Line:
        """Return that an answer is about to be sent, and how soon; nothing where none is."""
        if self.held is None:
            return []
        left = bar(self.held.left(clock.now), HELD_BAR)
        return [("held", f"{self.held.decision.verdict.upper()} {left} u takes it back")]


WORDS_KEPT = 512  # cards whose words are remembered; more than any screen has rows
BAR = 6  # cells of a bar on a screen of middle width
_SUBJECT = 16  # cells at least of what an event is about, where what became of it follows
URGENT = 0.15  # the part of its time from which a card is marked


# From the widest screen down: at least so many columns, and the cells of tool, project, agent and
# bar; 0 leaves a column out.
_WIDTHS = (
    (150, (18, 24, 22), BAR * 2),
    (110, (15, 16, 18), BAR),
    (76, (9, 10, 9), 4),
    (60, (10, 10, 0), 0),
    (0, (8, 0, 0), 0),
)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a card's row that never change, safe to show."""

    tool: str
    project: str
    agent: str
    summary: str


class WordsOfCards:
    """The words of the cards shown lately: reading them out of a large input is done once."""

    def __init__(self, spell: Speller) -> None:
        self._spell = spell
        self._words: Bounded[int, Words] = Bounded(WORDS_KEPT)

    def of(self, card: Card) -> Words:
        """Return a card's words: a tool that asks bears our own name, in its head its true name."""
        if (words := self._words.get(card.number)) is None:
            event, spell = card.event, self._spell
            own = "Question" if is_question(event) else "Plan" if is_plan(event) else ""
            tool, agent = own or tool_label(event, spell), agent_label(event, spell)
            words = Words(tool, project(event, spell), agent, summary(event, spell))
            self._words[card.number] = words
        return words


def card_row(standing: CardRow, words: Words, clock: Clock, columns: int) -> Line:
    """Return the row of a card in the queue."""
    widths, bar_cells = next(row[1:] for row in _WIDTHS if columns >= row[0])
    style = standing.style
    told = zip((words.tool, words.project, words.agent), widths, strict=True)
    left: Line = [
        ("mark", f" {standing.mark}"),
        ("chosen", standing.tick),
        (standing.number_style, f"#{standing.card.number:<4}"),
        *((style, " " + fit(text, width)) for text, width in told if width),
        (style, " " + words.summary),
    ]
    return ends(left, [("", " "), *_state(standing, clock, bar_cells), ("", " ")], columns)


def _state(standing: CardRow, clock: Clock, bar_cells: int) -> Line:
    """Return what stands at the end of a row: how it ended, or the time that goes by."""
    card = standing.card
    if standing.ended:
        return [("outcome", outcome(card))]
    if standing.held is not None:
        return standing.sending(clock)
    if standing.aside:
        return [("dim", f"aside, back in {lasting(card.snoozed_until - clock.now)}")]
    age, left = clock.now - card.asked_at, card.wait_until - clock.now
    whole = card.wait_until - card.asked_at
    part = left / whole if whole > 0 else 0.0
    style, end = ("urgent", "!") if part < URGENT else ("time", " ")
    shrinking = [(style, bar(part, bar_cells) + " ")] if bar_cells else []
    return [("dim", f"{lasting(age):>5} "), *shrinking, (style, f"{lasting(left):>5}{end}")]


def feed_rows(
    entries: Sequence[FeedEntry], clock: Clock, columns: int, count: int, spell: Speller
) -> list[Line]:
    """Return the last `count` lines of what went by, the newest last."""
    some = [entries[-place] for place in range(min(count, len(entries)), 0, -1)]
    return [clip_line(_feed_row(entry, clock, columns, spell), columns) for entry in some]


def _feed_row(entry: FeedEntry, clock: Clock, columns: int, spell: Speller) -> Line:
    event, text, about_card = entry.event, entry.text or entry.outcome, entry.number is not None
    row: Line = [("dim", f" {clock.of_day(entry.at)} "), ("", fit(project(event, spell), 14) + " ")]
    name = f"#{entry.number}" if about_card else brief(event.name, spell)
    row.append(("heading" if about_card else "dim", f"{name} "))
    if event.tool is not None:
        row.append(("", tool_label(event, spell) + " "))
    if not about_card and (subject := summary(event, spell)):
        room = columns // 3 if text else columns
        row.append(("", clip(subject, max(room, _SUBJECT)) + (" · " if text else "")))
    if text:
        look = "warning" if entry.alarm else "outcome" if about_card else "dim"
        row.append((look, spell(text)))
    return row
