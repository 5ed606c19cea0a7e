"""What the large part of the screen shows: the page of keys, another page, or a card.

A card has a head (who asks, for what, its state), a content that fits the request, and below that
its risk and context.
"""

from collections.abc import Iterator

from crabhook.model.card import Card, State
from crabhook.present.address import about_address
from crabhook.present.body import server_asks
from crabhook.present.document import ServerAsks
from crabhook.present.past import look
from crabhook.present.phrases import Clock, joined
from crabhook.present.safe import Speller
from crabhook.present.sentence import sentence
from crabhook.present.summary import brief, outcome
from crabhook.ui.full.dialog import Dialog
from crabhook.ui.full.dialogs.card import FormPage
from crabhook.ui.full.dialogs.help import KeysPage
from crabhook.ui.full.dialogs.mcp_form import FillPage, fill_content, filling_of
from crabhook.ui.full.dialogs.plan import (
    NotesPage,
    changes_page,
    notes_content,
    notes_of,
    plan_before,
)
from crabhook.ui.full.dialogs.prompts import InputLine
from crabhook.ui.full.dialogs.question import (
    Form,
    ReviewPage,
    answered_page,
    form_content,
    form_of,
    review_page,
)
from crabhook.ui.full.panes.help import help_content
from crabhook.ui.full.panes.request import beside, request_page
from crabhook.ui.full.panes.rows import CardRow
from crabhook.ui.full.panes.viewed import view_content
from crabhook.ui.full.screen import Screen
from crabhook.ui.text import layout
from crabhook.ui.text.code import paragraph, quoted
from crabhook.ui.text.width import clip


def head_lines(standing: CardRow, sheet: layout.Sheet, clock: Clock) -> list[layout.Line]:
    """Return the rows above a card's content: its request and its state."""
    style = standing.style if standing.ended or standing.aside else ""
    wants: layout.Line = [(style, sentence(standing.card, sheet.spell).asked)]
    return [
        layout.ends(wants, [("dim", beside(standing.card.event, sheet))], sheet.columns),
        _standing(standing, sheet, clock),
    ]


def _standing(standing: CardRow, sheet: layout.Sheet, clock: Clock) -> layout.Line:
    """Return that an answer will be sent soon, or how the card ended and why, or nothing."""
    card, spell = standing.card, sheet.spell
    if standing.held:
        return standing.sending(clock, sheet.columns)
    if not standing.ended:
        return []
    why = card.why or (card.decision.reason or card.decision.note if card.decision else "")
    fate = {True: "delivered", False: "NOT DELIVERED, the hook did not take it", None: ""}
    state = joined(standing.outcome, brief(why, spell), fate[card.delivered])
    whole, ended = clip(state, sheet.columns), len(outcome(card))
    return [(look(card), whole[:ended]), ("outcome", whole[ended:])]


_TAB_CELLS = 24


def tab_line(form: Form, columns: int, spell: Speller) -> layout.Line:
    """Return one line of the questions with the state of each, and the current question in view."""
    before = [_tab(form, place, spell) for place in range(max(form.current - 3, 0), form.current)]
    while before and sum(map(layout.line_cells, before)) > columns // 2:
        del before[0]
    line = [span for tab in before for span in tab]
    for place in range(form.current, min(form.current + 8, len(form.questions))):
        line += _tab(form, place, spell)
    hidden = form.current - len(before)
    return [("dim", f" {hidden} before "), *line] if hidden else line


def _tab(form: Form, place: int, spell: Speller) -> layout.Line:
    question = form.questions[place]
    name = clip(brief(question.header or question.text, spell), _TAB_CELLS)
    style, mark = ("current", "▸") if place == form.current else ("dim", " ")
    state = clip(brief(form.state(place), spell), _TAB_CELLS)
    answered = [("answered", f" ✓ {state}")] if state else []
    return [(style, f"{mark}({place + 1}) {name}"), *answered, ("", "  ")]


def link_page(card: Card, asks: ServerAsks) -> layout.Content:
    """Return the page of a link: the address, and what to know of it."""

    def rows(sheet: layout.Sheet) -> Iterator[layout.Line]:
        server = brief(asks.server, sheet.spell) or "an MCP server"
        yield [("label", f"{server} asks to open this address:")]
        yield from quoted(asks.url, sheet, style="name")
        for style, words in about_address(asks.url):
            yield from paragraph(words, sheet, style)
        if asks.message:
            yield [("label", "it says")]
            yield from quoted(asks.message, sheet, words=True)
        yield [("dim", "accept lets the agent go on. It opens nothing on this machine")]

    return layout.page((card.number, "address", tuple(leg.id for leg in card.requests)), rows)


def _questions(screen: Screen, card: Card, form: Form, page: Dialog) -> layout.Content:
    """Return the answers that are on their way or were given, or else the form, or its review."""
    if (sent_input := screen.answers_given(card)) is not None:
        return answered_page(card, form, sent_input, sent=card.state is not State.WAITING)
    if isinstance(page, ReviewPage):
        return review_page(card, form)
    return form_content(card, form, focused=isinstance(page, FormPage))


def card_content(screen: Screen, card: Card) -> layout.Content:
    """Return the way to show the selected card that fits what it asks."""
    page = screen.stack.top
    if isinstance(page, InputLine):  # while a line is typed, its subject stays in view
        page = screen.stack.below
    if (form := form_of(screen)) is not None:
        return _questions(screen, card, form, page)
    if (asks := server_asks(card.event)) and asks.is_link:
        return link_page(card, asks)
    if (filling := filling_of(screen)) is not None:
        return fill_content(card, filling, focused=isinstance(page, FillPage))
    notes = notes_of(screen)
    if notes is not None and isinstance(page, NotesPage):
        return notes_content(card, notes)
    changes = notes is not None and screen.work.changes.number == card.number
    if notes is not None and changes and (before := plan_before(screen)):
        return changes_page(card, before, notes.plan)
    held = screen.answers.held(card.number)
    turn = held.turn if held else 0
    if screen.stack.top.doubt is not None:
        turn = screen.answers.turn + 1  # of the answer that waits for a second yes
    return request_page(screen.document(card), turn)


def content_of(screen: Screen) -> layout.Content | None:
    """Return the content to show; nothing without a card or page."""
    top = screen.stack.top
    if isinstance(top, KeysPage):
        return help_content(screen, top)
    if top.COVERS:
        return top.content()
    if screen.listing is not None:
        return view_content(screen)
    return None if screen.card is None else card_content(screen, screen.card)


def view_of(screen: Screen) -> layout.Detail:
    """Return the window on that content."""
    over = screen.stack.top.COVERS or screen.listing is not None
    view = screen.page_window if over else screen.card_window
    view.show(content_of(screen) or layout.NOTHING)
    return view
