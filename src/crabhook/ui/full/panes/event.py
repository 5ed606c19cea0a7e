"""What an event tells besides a tool's input, in words.

Which fields come first, and how each is shown, is in the agent's own table of
events (`Event.told`); every other field follows under "the event itself", so
that nothing is left out.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from crabhook.broker.card import Card
from crabhook.broker.stops import CAP
from crabhook.model.decision import Verdict
from crabhook.model.event import Event
from crabhook.model.fields import How, Told
from crabhook.model.jsontext import Value
from crabhook.ui.text.code import field_rows, plain_rows, value_rows
from crabhook.ui.text.layout import Line, Sheet, framed
from crabhook.ui.text.markdown import mark_rows, marks_of

_A_NAME = 60  # letters of a model's name that stand beside its label

_Show: TypeAlias = Callable[[Told, Value, Sheet], Iterator[Line]]


def told_rows(event: Event, sheet: Sheet) -> Iterator[Line]:
    """Return the event's own fields in words, the telling ones first."""
    for key, told in event.told.items():
        if key in event.fields:
            yield from _SHOW[told.how](told, event.fields[key], sheet)


def going_rows(card: Card) -> Iterator[Line]:
    """Return how often an agent that wants to stop was told to go on."""
    if Verdict.KEEP_GOING not in card.choices.verdicts:
        return
    if not card.kept_going:
        yield [("", "not kept going so far"), ("dim", f" · {CAP} times in a row are the most")]
    elif card.kept_going < CAP:
        yield [("heading", f"kept going {card.kept_going} of {CAP} times in a row")]
    else:
        yield [("warning", f"! kept going {CAP} of {CAP} times in a row: now it stops anyway")]


def _prose(told: Told, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show a text as words, in full."""
    if not isinstance(value, str):
        yield from _field(told, value, sheet)
        return
    yield [("label", told.label)]
    yield from framed(plain_rows(value, sheet.inner, sheet.spell, words=True))


def _markdown(told: Told, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show what a model said."""
    if not isinstance(value, str):
        yield from _field(told, value, sheet)
        return
    yield [("label", told.label)]
    for mark in marks_of(value):
        yield from framed(mark_rows(mark, sheet.inner, sheet.spell))


def _field(told: Told, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show a short value beside its label, any other below it."""
    yield from framed(field_rows({told.label: value}, sheet.inner, sheet.spell))


def _result(told: Told, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show what a tool gave: its texts as they are, its other fields behind them."""
    if isinstance(value, str):
        yield from _prose(told, value, sheet)
        return
    yield [("label", told.label)]
    yield from _value(value, sheet)


def _value(value: Value, sheet: Sheet) -> Iterator[Line]:
    if isinstance(value, dict):
        yield from framed(field_rows(value, sheet.inner, sheet.spell))
    else:
        yield from framed(value_rows(value, sheet.inner, sheet.spell))


def _several(told: Told, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show a list of things one by one; say so where there are none."""
    if not isinstance(value, list):
        yield from _field(told, value, sheet)
        return
    if not value:
        yield [("dim", f"{told.label}: none")]
        return
    yield [("label", f"{told.label}: {len(value)}")]
    for place, item in enumerate(value, 1):
        yield [("dim", f"{place} of {len(value)}")]
        yield from _value(item, sheet)


def _money(told: Told, value: Value, sheet: Sheet) -> Iterator[Line]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield [("label", told.label), ("", f" about ${value:,.4f}")]
    else:
        yield from _field(told, value, sheet)


def _model(told: Told, value: Value, sheet: Sheet) -> Iterator[Line]:
    if isinstance(value, str) and len(value) <= _A_NAME:
        yield [("label", f"{told.label} "), ("heading", sheet.spell(value))]
    else:
        yield from _field(told, value, sheet)


def _flag(told: Told, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show true or false as one of two sentences; an empty sentence is not shown."""
    if not isinstance(value, bool):
        yield from _field(told, value, sheet)
    elif said := told.yes if value else told.no:
        yield [("", said)]


_SHOW: Mapping[How, _Show] = {
    How.FIELD: _field,
    How.PROSE: _prose,
    How.MARKDOWN: _markdown,
    How.SEVERAL: _several,
    How.RESULT: _result,
    How.MONEY: _money,
    How.MODEL: _model,
    How.FLAG: _flag,
}
