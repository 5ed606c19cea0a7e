"""The blocks of a request: what there is to show, before any face draws it.

The history has only the start of long texts: a change that is not whole counts no lines. What of a
block was seen is the face's to know, row by row, since each face cuts and scrolls its own rows.

A block keeps the fields that it stands for, as they were sent. A face without a
drawing of its own for a block draws its parts, which are blocks that each face can draw.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TypeAlias, TypeVar

from crabhook.datatypes import frozen
from crabhook.model.elicitation import FormField
from crabhook.model.event import ShownField
from crabhook.model.jsontext import CUT, Value
from crabhook.model.question import Question
from crabhook.present.compare import counted, line_count


@frozen
class Block:
    """A part of what a tool is given, or of what an event tells beside that."""

    fields: Mapping[str, Value]

    @property
    def parts(self) -> tuple["Block", ...]:
        """The same in blocks that each face can draw: its fields as JSON, if nothing else fits."""
        return (Json(self.fields),)


B = TypeVar("B", bound=Block)
Counts: TypeAlias = tuple[int, int | None]
"""Lines that come, and lines that go, where these are known."""


@frozen
class Json(Block):
    """Fields that are shown as JSON, as they were sent."""


@frozen
class FilePath(Block):
    """A file that a call names."""

    path: str


@frozen
class CommandText(Block):
    """A command for a shell, or a patch."""

    text: str

    @property
    def is_patch(self) -> bool:
        """Whether it is a patch in the format of Codex's apply_patch."""
        return self.text.startswith("*** Begin Patch")


@frozen
class Description(Block):
    """What an agent says that its call does."""

    text: str


@frozen
class AgentMessage(Block):
    """What an agent says to another agent."""

    text: str


@frozen
class Name(Block):
    """What a call is about and no file: an address, a pattern, a query."""

    text: str


@frozen
class Plan(Block):
    """A plan, in Markdown."""

    text: str


@frozen
class Questions(Block):
    """Questions to the operator, and the answers by the question's text, if they were given.

    There are none where they cannot be read, and `unreadable` says why. An answer has no rows of
    its own: a card's dialog and the history draw it beside its question.
    """

    questions: tuple[Question, ...] = ()
    unreadable: str = ""
    answers: Mapping[str, Value] = field(default_factory=dict)


@frozen
class TextChange(Block):
    """What goes out of a file and what comes in its place."""

    before: str
    after: str

    @property
    def whole(self) -> bool:
        """Whether both texts are here to their ends."""
        return not (self.before.endswith(CUT) or self.after.endswith(CUT))

    @property
    def counts(self) -> Counts | None:
        """How many lines come and go."""
        return counted(self.before, self.after) if self.whole else None


@frozen
class ListedEdit:
    """One of several changes; `change` is None where its texts are none."""

    change: TextChange | None
    rest: Mapping[str, Value]  # its other fields


@frozen
class TextChanges(Block):
    """Several changes of a file."""

    edits: tuple[ListedEdit, ...]

    @property
    def whole(self) -> bool:
        """Whether all their texts are here to their ends."""
        return all(edit.change.whole for edit in self.edits if edit.change is not None)

    @property
    def counts(self) -> Counts | None:
        """How many lines come and go with all of them."""
        if not self.whole:
            return None
        every = [
            counted(edit.change.before, edit.change.after) for edit in self.edits if edit.change
        ]
        return sum(added for added, _ in every), sum(removed for _, removed in every)


@frozen
class NewText(Block):
    """The whole new text of a file or a cell; what goes for it is not known."""

    text: str

    @property
    def whole(self) -> bool:
        """Whether the text is here to its end."""
        return not self.text.endswith(CUT)

    @property
    def counts(self) -> Counts | None:
        """How many lines come; None for those that go."""
        return (line_count(self.text), None) if self.whole else None


@frozen
class McpForm(Block):
    """The fields of a form that an MCP server wants to have filled in."""

    entries: tuple[FormField, ...]


@frozen
class ServerAsks:
    """What an MCP server wants of a person: a form filled in, or the address `url` opened.

    `action`: how its form was answered at the agent; None where it was not.
    """

    server: str
    message: str
    url: str
    is_link: bool
    action: str | None = None


@frozen
class Fact(Block):
    """A field of the event itself.

    `shown`: how the agent's own table has a screen show it, None if that does not name it. `short`:
    its label on the plain desk, empty if it has none there.
    """

    key: str
    value: Value
    shown: ShownField | None
    short: str


@frozen
class Body:
    """All that a tool is given, or all that an event tells beside that.

    `lead`: what says what the call does, for a face that draws that apart. `blocks`: each block in
    the order in which it is read. `fields`: all of them, in blocks or not.
    """

    lead: tuple[Block, ...] = ()
    blocks: tuple[Block, ...] = ()
    fields: Mapping[str, Value] = field(default_factory=dict)

    def of(self, kind: type[B]) -> tuple[B, ...]:
        """Return the blocks of one kind."""
        return tuple(block for block in self.blocks if isinstance(block, kind))

    def rest(self, drawn: Iterable[Block]) -> dict[str, Value]:
        """Return the fields that none of the drawn blocks stands for."""
        shown = {key for block in drawn for key in block.fields}
        return {key: value for key, value in self.fields.items() if key not in shown}
