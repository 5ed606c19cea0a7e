"""A call changed by the operator before it is allowed, or a result before the model reads it.

The law of this file: what is sent is the whole input with the change in it,
and what is shown as the change is read from what would be sent.
"""

from collections.abc import Callable
from dataclasses import dataclass

from crabhook.broker.card import Card
from crabhook.model.choices import Beside
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import PayloadError
from crabhook.model.event import ToolCall
from crabhook.model.jsontext import Value, parse_value, pretty
from crabhook.ui.full.editor import LONGEST, Editor
from crabhook.ui.rewrite import RewriteError, edited_field, rewritten

_OUTPUT = "tool_response"
_FILES = {"command": "command.sh", "plan": "plan.md"}


@dataclass(slots=True)
class Edit:
    """A text being edited for a card.

    `subject` is what it is: the command, the plan, the input or the output.
    `old` is the text as the agent sent it.  `read` turns the text into what
    would be decided, or raises RewriteError; `tell` gives back the text of
    that, to be compared with `old`.  `card` is what it was made for.
    """

    card: Card
    subject: str
    old: str
    editor: Editor
    read: Callable[[str], Decision]
    tell: Callable[[Decision], str]

    @property
    def number(self) -> int:
        """The card's number."""
        return self.card.number

    def stale(self, card: Card) -> bool:
        """Whether the card was asked about again since: what was edited is not all there is."""
        known = {leg.id for leg in self.card.requests}
        return any(leg.id not in known for leg in card.requests)

    def decision(self) -> Decision:
        """Return what would be decided; raises RewriteError."""
        return self.read(self.editor.text)

    @property
    def file_name(self) -> str:
        """What a file that holds the text is called, so that an editor knows its kind."""
        return _FILES.get(self.subject, f"{self.subject}.json")


def edit_of(card: Card) -> Edit:
    """Return an edit to begin with; raises RewriteError where there is nothing to edit here."""
    made = _of_output(card) if Beside.OUTPUT in card.choices.beside else _of_input(card)
    if len(made.old) > LONGEST:
        raise RewriteError(f"the {made.subject} is too long to be edited here")
    return made


def asked_tool(card: Card) -> ToolCall:
    """Return the call as it was asked about last: an earlier leg may carry less of a plan."""
    tools = [leg.event.tool for leg in card.requests if leg.event.tool is not None]
    if not tools:
        raise RewriteError("this names no tool whose input could be changed")
    return tools[-1]


def _of_input(card: Card) -> Edit:
    tool = asked_tool(card)
    field = edited_field(tool)

    def tell(value: Value) -> str:
        said = value.get(field) if field and isinstance(value, dict) else None
        return said if isinstance(said, str) else pretty(value)

    old = tell(tool.input)
    return Edit(
        card,
        field or "input",
        old,
        Editor(old),
        lambda text: Decision(Verdict.ALLOW, updated_input=rewritten(tool, text)),
        lambda decision: tell(dict(decision.updated_input or {})),
    )


def _of_output(card: Card) -> Edit:
    given = card.event.fields.get(_OUTPUT)
    is_text = isinstance(given, str)

    def tell(value: Value) -> str:
        return value if isinstance(value, str) and is_text else pretty(value)

    def read(text: str) -> Decision:
        output: Value = text if is_text else _as_value(text)
        if tell(output) == tell(given):
            raise RewriteError("that changes nothing")
        return Decision(Verdict.ALLOW, output=output)

    old = tell(given)
    return Edit(card, "output", old, Editor(old), read, lambda decision: tell(decision.output))


def _as_value(text: str) -> Value:
    try:
        return parse_value(text.encode(errors="replace"))
    except PayloadError as error:
        raise RewriteError(f"the output is JSON, and what you wrote is not: {error}") from error


class Edits:
    """The edits begun, each kept while its card lives."""

    def __init__(self) -> None:
        self._edits: dict[int, Edit] = {}

    def __repr__(self) -> str:
        return f"<Edits of {sorted(self._edits)}>"

    def of(self, card: Card) -> Edit:
        """Return a card's edit, as it was left; raises RewriteError.

        Of a card that was asked about again since, what is itself a field of
        the input is kept; JSON that may lack what has come is begun anew.
        """
        kept = self._edits.get(card.number)
        if kept is None or kept.stale(card):
            made = self._edits[card.number] = edit_of(card)
            if kept is not None and kept.subject == made.subject in _FILES:
                made.editor.replace(kept.editor.text)
        return self._edits[card.number]

    def forget(self, number: int) -> None:
        """Forget the edit of a card."""
        self._edits.pop(number, None)
