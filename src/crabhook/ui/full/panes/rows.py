"""The rows of the queue and of the feed, in columns that give way on a narrow screen."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from crabhook.datatypes import Bounded, frozen
from crabhook.model.card import Card, FeedEntry, Level, State
from crabhook.model.decision import Verdict
from crabhook.present.body import server_asks
from crabhook.present.past import look, look_of
from crabhook.present.phrases import WENT_ON, Clock, ago, bar, joined, lasting
from crabhook.present.safe import Speller
from crabhook.present.sentence import MARKS
from crabhook.present.summary import (
    AT,
    MAIN_AGENT,
    agent_label,
    agent_name,
    as_allowed,
    brief,
    called,
    is_command,
    is_plan,
    is_question,
    machine,
    on_machine,
    outcome,
    project,
    summary,
    to_be_said,
    tool_label,
)
from crabhook.ui.answers import HeldAnswer
from crabhook.ui.text.code import in_red
from crabhook.ui.text.layout import Line, ends
from crabhook.ui.text.width import ELLIPSIS, cells, clip, fit

HELD_BAR = 6  # cells
_KEPT = 18  # cells at least of what an agent keeps


@frozen
class CardRow:
    """A card and its state at this desk.

    `armed`: keys may decide it. `held`: the answer that waits to be sent or to be confirmed.
    `marked`: it will be decided with others. `by`: who decided it at another desk, and when.
    `kept`: what the held answer has the agent keep beyond this call.
    """

    card: Card
    selected: bool = False
    armed: bool = False
    held: HeldAnswer | None = None
    marked: bool = False
    by: str = ""
    kept: str = ""

    @property
    def outcome(self) -> str:
        """How the card ended, and by whom where that was not decided here."""
        return " ".join(filter(None, (outcome(self.card), self.by)))

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
        """The sign before the number of a card that will be decided with others."""
        return "✓" if self.marked else " "

    def sending(self, clock: Clock, columns: int) -> Line:
        """Return that an answer will be sent, and how soon, or was sent and is not confirmed.

        What the agent keeps of it stands there too, as far as `columns` have room.
        """
        if (held := self.held) is None:
            return []
        done = to_be_said(held.card.event, held.decision)
        done += " + RULE" if held.rule is not None else ""
        done += clip(f" + {self.kept}", max(columns // 2, _KEPT)) if self.kept else ""
        verdict = (look_of(held.decision.verdict), done)
        if held.due <= clock.now:
            return [verdict, ("held", " given, not confirmed yet")]
        left = f"in {held.seconds(clock.now)} s {bar(held.left(clock.now), HELD_BAR)}"
        return [verdict, ("held", f" {left} u takes it back")]


WORDS_KEPT = 512  # cards whose words are remembered; more than any screen has rows
_SUBJECT = 34  # columns of a row that its number, project and subject keep before how it ended
_ROOMY = 60  # columns of a panel from which its title tells how long its card has waited
SOON, URGENT = 120.0, 30.0  # seconds left from which a clock is yellow, and red

_KINDS = ((Verdict.ACCEPT, "form:"), (Verdict.KEEP_GOING, "stop:"))  # what a row calls it

# From the widest list down: minimum columns, most cells of a project, of a machine and of an agent
# (0: none), and whether the elapsed time and the time left are shown.
_WIDTHS = (
    (100, ((24, 24, 22), True, True)),
    (76, ((16, 16, 16), True, True)),
    (50, ((12, 12, 0), False, True)),
    (0, ((8, 9, 0), False, False)),
)


@frozen
class Words:
    """The words of a card's row that never change, safe to show."""

    project: str
    machine: str
    agent: str
    subject: str


class WordsOfCards:
    """The words of the cards shown lately: reading them out of a large input is done once."""

    def __init__(self, spell: Speller) -> None:
        self._spell = spell
        self._words: Bounded[tuple[int, bool, int], Words] = Bounded(WORDS_KEPT)

    def of(self, standing: CardRow) -> Words:
        """Return a card's words; with its tool's name where the subject alone is unclear."""
        card, event = standing.card, as_allowed(standing.card)
        key = card.number, event is card.event, standing.held.turn if standing.held else 0
        if (words := self._words.get(key)) is None:
            spell = self._spell
            own = "?" if is_question(event) else "plan:" if is_plan(event) else ""
            own = own or next((kind for can, kind in _KINDS if can in card.choices.verdicts), "")
            asks = server_asks(event)
            own = "link:" if own == "form:" and asks and asks.is_link else own
            tool = own or ("" if is_command(event) else tool_label(event, spell))
            subject = " ".join(filter(None, (tool, summary(event, spell))))
            where = project(event, spell), machine(event, spell)
            words = Words(*where, agent_label(event, spell), subject)
            self._words[key] = words
        return words


class QueueRow(NamedTuple):
    """A row of a view: its line, and the name of what a click on it selects: a card's number."""

    line: Line
    name: Hashable = None


def queue_rows(
    standings: Sequence[CardRow],
    words: WordsOfCards,
    heads: Mapping[int, int],
    clock: Clock,
    columns: int,
) -> list[QueueRow]:
    """Return the rows of cards in aligned columns; `heads` gives the sizes of groups."""
    texts = [words.of(standing) for standing in standings]
    (project_cells, machine_cells, agent_cells), *_ = _widths(columns)
    agents = any(each.agent != MAIN_AGENT for each in texts)
    widths = (
        max((len(str(standing.card.number)) + 1 for standing in standings), default=0),
        min(max((cells(each.project) for each in texts), default=0), project_cells),
        machine_width([each.machine for each in texts], machine_cells),
        min(max(cells(each.agent) for each in texts), agent_cells) if agents else 0,
    )
    rows: list[QueueRow] = []
    for standing, each in zip(standings, texts, strict=True):
        number = standing.card.number
        if count := heads.get(number):
            whose = joined(
                clip(each.project, project_cells),
                machine_cell(each.machine, min(cells(each.machine) + len(AT), machine_cells)),
                by=" ",
            )
            head = f" {whose.rstrip()} · {count} of one session "
            rows.append(QueueRow([("dim", head + "─" * max(columns - cells(head), 0))], number))
        rows.append(QueueRow(_card_row(standing, each, widths, clock, columns), number))
    return rows


def machine_width(names: Sequence[str], most: int) -> int:
    """Return the cells of a column of machines, 0 where no row has one."""
    widest = max(map(cells, names), default=0)
    return min(widest + len(AT), most) if widest else 0


def machine_cell(name: str, width: int) -> str:
    """Return a machine in exactly so many cells; of a long name its end stays, which differs."""
    shown = f"{AT}{name}" if name else ""
    if cells(shown) > width:
        while cells(name) > width - len(AT + ELLIPSIS):
            name = name[1:]
        shown = f"{AT}{ELLIPSIS}{name}"
    return fit(shown, width)


def _widths(columns: int) -> tuple[tuple[int, int, int], bool, bool]:
    return next(row for least, row in _WIDTHS if columns >= least)


def _card_row(
    standing: CardRow, words: Words, widths: tuple[int, int, int, int], clock: Clock, columns: int
) -> Line:
    style, (number_cells, project_cells, machine_cells, agent_cells) = standing.style, widths
    look, risk = MARKS[standing.card.risk.level]
    number = f"#{standing.card.number}"
    columns_of_text = (
        fit(words.project, project_cells),
        machine_cell(words.machine, machine_cells),
        fit(words.agent, agent_cells),
    )
    left: Line = [
        ("mark", standing.mark),
        ("ended" if standing.ended else look, f"{risk:>2}"),
        ("chosen", standing.tick),
        (standing.number_style, f"{number:<{number_cells}}"),
        *((style, " " + text) for text in columns_of_text if text),
        *in_red([(style, " " + words.subject)]),
    ]
    row = ends(left, [("", " "), *_state(standing, clock, columns)], columns)
    if standing.ended or standing.card.risk.level is not Level.DANGER:
        return row
    return [(f"risky {look}".strip(), text) for look, text in row]


def _state(standing: CardRow, clock: Clock, columns: int) -> Line:
    card, (_, with_age, with_left) = standing.card, _widths(columns)
    if standing.ended:
        room = max(columns - _SUBJECT, columns // 2)
        return [(look(standing.card), clip(standing.outcome, room))]
    if standing.held is not None:
        return standing.sending(clock, columns)
    if standing.aside:
        return [("dim", f"aside, back in {lasting(card.snoozed_until - clock.now)}")]
    left = card.wait_until - clock.now
    if card.went_on:
        return [("noted", WENT_ON)]
    age: Line = [("dim", f"{ago(clock.now - card.asked_at):>5} · ")] if with_age else []
    end = "!" if left < URGENT else " "
    left_span: Line = [(time_look(left), f"{lasting(left):>5}{end}")]
    return [*age, *left_span] if with_left or left < SOON else []


def time_look(left: float) -> str:
    """Return how a time that is left looks: dim, yellow, then red."""
    return "urgent" if left < URGENT else "soon" if left < SOON else "dim"


def title_of(standing: CardRow, clock: Clock, spell: Speller, columns: int) -> tuple[Line, Line]:
    """Return a card's title: who asks, where, how long it has waited and how long it will."""
    card = standing.card
    event, left = card.event, card.wait_until - clock.now
    where = project(event, spell)
    if named := on_machine(event.machine, spell):  # no folder's name pushes it out of the title
        where = f"{clip(where, columns // 3)} {named}"
    who = (f"#{card.number}", agent_name(event, spell), where)
    title: Line = [("", " · ".join(filter(None, who)))]
    if standing.ended:
        return title, [(look(card), outcome(card))]
    if card.went_on:
        return title, [("noted", WENT_ON), ("dim", f" · open for {lasting(left)}")]
    age = f"{ago(clock.now - card.asked_at)} · " if columns >= _ROOMY else ""
    end = "!" if left < URGENT else ""
    return title, [("dim", age), (time_look(left), f"{lasting(left)} left{end}")]


def only_marks(standing: CardRow) -> str:
    """Return the marks before a card's title where no row of a queue has them."""
    _, risk = MARKS[standing.card.risk.level]
    return "".join(f"{mark} " for mark in (standing.mark.strip(), risk) if mark)


def call_lines(
    calls: Sequence[FeedEntry], clock: Clock, columns: int, spell: Speller
) -> list[Line]:
    """Return a row for each of a session's last calls: when, what, and what came of it."""
    if not calls:
        return [[("dim", "   no result of a call yet")]]
    rows: list[Line] = []
    for entry in calls:
        end = brief(entry.outcome, spell)
        what = called(entry.event, spell)
        left: Line = [("dim", f"   {clock.of_day(entry.at)}  "), ("", what)]
        rows.append(ends(left, [("dim", f"  {clip(end, columns // 3)} ")], columns))
    return rows
