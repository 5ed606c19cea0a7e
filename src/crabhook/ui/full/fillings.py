"""The forms of MCP servers on the cards that were looked at, each kept while its card lives."""

from collections.abc import Iterable, Mapping
from typing import Final

from crabhook.broker.card import Card
from crabhook.broker.desk import Desk
from crabhook.model.event import Event
from crabhook.model.jsontext import Value
from crabhook.ui.full.fillin import FillIn

ASKED: Final = "Elicitation"
ANSWERED: Final = "ElicitationResult"


def is_form(event: Event) -> bool:
    """Whether the event is about a form of an MCP server, or about the answer to one."""
    return event.name in (ASKED, ANSWERED)


def is_link(event: Event) -> bool:
    """Whether the event asks to open an address instead of filling in a form."""
    return is_form(event) and (event.text("mode") == "url" or bool(event.text("url")))


class Fillings:
    """Forms by the number of their card."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._forms: dict[int, FillIn] = {}

    def __repr__(self) -> str:
        return f"<Fillings of {sorted(self._forms)}>"

    def of(self, card: Card | None) -> FillIn | None:
        """Return a card's form, if it asks for one or tells of the answer to one."""
        if card is None or not is_form(card.event) or is_link(card.event):
            return None
        if card.number not in self._forms:
            self._forms[card.number] = FillIn(self._form(card.event))
        return self._forms[card.number]

    def forget(self, number: int) -> None:
        """Forget the form of a card that nobody looks at any more."""
        self._forms.pop(number, None)

    def _form(self, event: Event) -> Mapping[str, Value]:
        if event.name == ASKED:
            return event.fields
        return answered_form(event, (card.event for card in reversed(self._desk.ended())))


def answered_form(event: Event, earlier: Iterable[Event]) -> Mapping[str, Value]:
    """Return the form that an answer was given to, with what was given in its fields.

    The answer does not carry the form: it is that of the last question of the
    same server in `earlier`, the newest first, or else what the values
    themselves tell of it.
    """
    content = event.fields.get("content")
    given = content if isinstance(content, dict) else {}
    asked = next((one for one in earlier if _same_form(one, event)), None)
    schema = asked.fields.get("requested_schema") if asked else None
    whole = schema if isinstance(schema, dict) else {"type": "object"}
    listed = whole.get("properties")
    known = listed if isinstance(listed, dict) else {}
    properties: dict[str, Value] = {
        name: about if isinstance(about, dict) else {} for name, about in known.items()
    }
    for name, value in given.items():
        about = properties.get(name, {"type": _kind(value)})
        properties[name] = {**(about if isinstance(about, dict) else {}), "default": value}
    return {**event.fields, "requested_schema": {**whole, "properties": properties}}


def _same_form(asked: Event, answered: Event) -> bool:
    keys = ("mcp_server_name", "elicitation_id")
    return (
        asked.name == ASKED
        and asked.session == answered.session
        and all(asked.text(key) == answered.text(key) for key in keys)
    )


def _kind(value: Value) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return names.get(type(value), "json")
