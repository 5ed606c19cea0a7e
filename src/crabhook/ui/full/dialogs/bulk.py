"""Many cards at once: marked, shown together, and decided alike.

A mark holds for one revision of a card (`Marks`), so no mark decides what nobody has seen.
"""

from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.desk.acts import KEYS, ActKey, Field, Place
from crabhook.model.card import Card, Level
from crabhook.model.decision import Decision, Verdict
from crabhook.model.wording import plural
from crabhook.present.card import CardDocument, card_document
from crabhook.present.document import CommandText, Description
from crabhook.present.sentence import MARKS, dangers, risk_words
from crabhook.present.summary import (
    is_plan,
    is_question,
    place,
    session_label,
    tool_label,
)
from crabhook.ui.commands.parse import alike as alike_among
from crabhook.ui.full.dialog import Group, group, row, row_of
from crabhook.ui.full.dialogs.page import BEGIN, FREE, ScreenPage
from crabhook.ui.full.dialogs.prompts import AskLine, Purpose, YesPage, sentence
from crabhook.ui.full.effects import Effects, GiveAll, Say
from crabhook.ui.full.panes.request import asked_rows
from crabhook.ui.full.themes import KeyTheme
from crabhook.ui.full.work import Marks
from crabhook.ui.text.code import quoted
from crabhook.ui.text.layout import Content, Line, Sheet, page
from crabhook.ui.text.width import cells

Blocks: TypeAlias = Callable[[Card, Decision], str]
"""Why a card's answer, which is held, is not to be replaced by a decision; empty if it may be."""


def refusal(card: Card, verdict: Verdict) -> str:
    """Return why a card cannot be decided so together with others; empty if it can."""
    if verdict not in card.choices.verdicts:
        return f"its event takes no {verdict}"
    asks = is_question(card.event) or is_plan(card.event)
    alone = verdict is Verdict.ALLOW and asks
    return "it asks you something: decide it by itself" if alone else ""


def mark_alike(card: Card, waiting: Sequence[Card], marks: Marks) -> Effects:
    """Mark all cards that ask exactly the same."""
    return _mark([card, *alike_among(card, waiting)], "that ask the very same", marks)


def mark_session(card: Card, waiting: Sequence[Card], marks: Marks) -> Effects:
    """Mark all that the card's session asks."""
    of_session = [each for each in waiting if each.event.session_key == card.event.session_key]
    return _mark(of_session, "of this session, all that it asks", marks)


def mark_shown(_: Card, waiting: Sequence[Card], marks: Marks) -> Effects:
    """Mark all that is shown: where a filter counts, what it lets through."""
    return _mark(waiting, "that are shown", marks)


def _mark(cards: Sequence[Card], shared: str, marks: Marks) -> Effects:
    marks.update((card.number, card) for card in cards)
    return (Say(f"marked: {len(cards)} {shared}. {len(marks)} in all, esc unmarks them"),)


def deny_marked(marks: Marks, blocks: Blocks) -> Effects:
    """Ask for one reason, then show what would be denied with it."""
    ask = AskLine(
        Purpose.REASON,
        lambda text: decide_marked(marks, Decision(Verdict.DENY, reason=text), blocks),
        subject=f"{len(marks)} marked",
        needs="a denial needs a reason: the models read it to know what to do instead",
    )
    return (ask,)


def decide_marked(marks: Marks, decision: Decision, blocks: Blocks) -> Effects:
    """Show what would be decided about all that are marked.

    `blocks` tells which cards have a stricter answer than this: they are left out.
    """
    bundle = bundle_of(marks.cards(), decision, marks.by_hand, blocks)

    def now() -> Bundle:
        nonlocal bundle
        if (cards := marks.cards()) != bundle.marked:
            bundle = bundle_of(cards, decision, marks.by_hand, blocks)
        return bundle

    def give_all() -> Effects:
        """Decide the cards shown; cards that are left out stay marked."""
        cards = now().cards
        for card in cards:
            marks.turn(card)
        return (GiveAll(cards, decision),)

    if not bundle.groups:
        return (Say(f"none of the marked can be told {decision.verdict}"),)
    skimmed = decision.verdict is Verdict.DENY
    return (YesPage(lambda: bundle_page(now(), decision), give_all, skimmed=skimmed),)


def _handler(key: ActKey) -> Callable[[ScreenPage, str], Effects]:
    """Return what an act does with all that are marked; where it needs words, it asks for them."""

    def do(page: ScreenPage, _: str) -> Effects:
        marks, blocks = page.screen.marks, page.screen.answers.blocks
        if key.bare or key.act.field is Field.NOTHING:
            return decide_marked(marks, key.act.decision(), blocks)
        return deny_marked(marks, blocks)

    return do


def _marks(
    mark: Callable[[Card, Sequence[Card], Marks], Effects],
) -> Callable[[ScreenPage, str], Effects]:
    """Return the handler that marks what is like the selected card and not answered already."""

    def handler(page: ScreenPage, _: str) -> Effects:
        screen, card = page.screen, page.card
        waiting = [each for each in screen.queue.cards() if not screen.answers.blocks(each)]
        return () if card is None else mark(card, waiting, screen.marks)

    return handler


def _turn(page: ScreenPage, _: str) -> None:
    if page.card is not None:
        page.screen.marks.turn(page.card)


# fmt: off
MARKED: Group[ScreenPage] = group(KeyTheme.MARKED,
    lambda page: bool(page.screen.marks) and page.may("deny"),
    *(row_of(key, _handler(key)) for key in KEYS if key.place is Place.MARKED))
UNMARK: Group[ScreenPage] = group(KeyTheme.MARKED, lambda page: bool(page.screen.marks),
    row("escape", "unmark", "unmark all", FREE, lambda page, _: page.screen.marks.clear()))
MARKING: Group[ScreenPage] = group(KeyTheme.MARKING, lambda page: page.waits,
    row("space", "mark", "mark it, or unmark it, to decide many at once", BEGIN, _turn),
    row("*", "mark alike", "mark all that ask the very same", BEGIN, _marks(mark_alike)),
    row("&", "mark session", "mark all that this session asks",
        BEGIN, _marks(mark_session)),
    row("%", "mark all", "mark all that is shown, as the filter lets it through",
        BEGIN, _marks(mark_shown)))
# fmt: on


_NAMED = 12  # cards or sessions whose names are listed
_OF_A_COMMAND = {CommandText, Description}


@frozen
class Bundle:
    """Cards to decide alike, grouped by request, and cards that cannot be, each with the reason."""

    marked: Sequence[Card]
    groups: Sequence[Sequence[Card]]
    left_out: Sequence[tuple[Card, str]]

    @property
    def cards(self) -> tuple[Card, ...]:
        """All to be decided, by number."""
        return tuple(sorted(chain.from_iterable(self.groups), key=lambda card: card.number))


def bundle_of(
    marked: Sequence[Card],
    decision: Decision,
    by_hand: Container[int] = frozenset(),
    blocks: Blocks = lambda _card, _decision: "",
) -> Bundle:
    """Return which of the marked cards can be told the decision; dangers only those `by_hand`."""
    groups: dict[Hashable, list[Card]] = {}
    left_out: list[tuple[Card, str]] = []
    verdict = decision.verdict
    for card in marked:
        by_itself = verdict is not Verdict.ALLOW or card.number in by_hand
        if why := refusal(card, verdict) or blocks(card, decision):
            left_out.append((card, why))
        elif not by_itself and (risks := dangers(card.risk)):
            left_out.append((card, f"▲▲ {'; '.join(risks)}: mark it by itself, with space"))
        else:
            groups.setdefault(_asked(card), []).append(card)
    return Bundle(marked, list(groups.values()), left_out)


def _asked(card: Card) -> Hashable:
    """Return a key that is equal for cards with the same request and the same text to read."""
    first = card.event
    if first.tool is None:
        return card.number
    tools = ((leg.event.name, leg.event.tool) for leg in card.requests)
    asked = tuple((name, tool and (tool.name, tool.fingerprint)) for name, tool in tools)
    return first.platform, first.machine, first.cwd, asked


def bundle_page(bundle: Bundle, decision: Decision) -> Content:
    """Return how many cards, of which sessions, and what they ask: the same thing once."""
    cards = bundle.cards
    legs = tuple((card.number, tuple(leg.id for leg in card.requests)) for card in cards)
    left = tuple((card.number, why) for card, why in bundle.left_out)

    def rows(sheet: Sheet) -> Iterator[Line]:
        sessions = len({card.event.session_key for card in cards})
        many = f"{plural(len(cards), 'request')} of {plural(sessions, 'session')}"
        title = f"{decision.verdict.upper()} {many}: {_numbers(cards)}"
        yield from sentence(title, "heading", sheet)
        if decision.reason:
            yield [("label", "the model reads")]
            yield from quoted(decision.reason, sheet)
        for alike in bundle.groups:
            yield from _group_rows(alike, sheet)
        for number, why in left:
            yield from sentence(f"#{number} is left out, {why}", "warning", sheet)

    return page(("bundle", legs, decision.verdict, decision.reason), rows, left)


def _group_rows(group: Sequence[Card], sheet: Sheet) -> Iterator[Line]:
    """Return a group's common request on one line with who asks, and below that the rest.

    A command too long for the line is wrapped, never cut.
    """
    spell, event = sheet.spell, group[0].event
    whose = (f"{place(card.event, spell)} {session_label(card.event, spell)}" for card in group)
    head = f"{_numbers(group)} · {_listed(list(dict.fromkeys(whose)))} · {tool_label(event, spell)}"
    mark = MARKS[group[0].risk.level][1]
    document = card_document(group[0])
    head, command = f"{mark} {head}".lstrip(), _command_alone(document)
    if command is None or cells(head) + cells(command) + 3 > sheet.columns:
        yield from sentence(head, "label", sheet)
        if command is None:
            yield from asked_rows(document, replace(sheet, roomy=False))
        else:
            yield from quoted(command, sheet)
    else:
        yield [("label", head + "  "), ("", spell(command))]
    if group[0].risk.level is Level.DANGER:
        yield from sentence("    " + risk_words(group[0].risk, spell), "warning", sheet)


def _command_alone(document: CardDocument) -> str | None:
    """Return the card's whole request if it is a single command line, else None."""
    blocks = document.body.every
    alone = len(document.card.requests) == 1 and {*map(type, blocks)} <= _OF_A_COMMAND
    commands = [block.text for block in blocks if isinstance(block, CommandText)] if alone else []
    return commands[0] if len(commands) == 1 and "\n" not in commands[0] else None


def _numbers(cards: Sequence[Card]) -> str:
    return _listed([f"#{card.number}" for card in cards])


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
