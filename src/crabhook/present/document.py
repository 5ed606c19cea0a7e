"""The blocks of a card: what there is to show, before any face draws it.

The history has only the start of long texts: a change that is not whole counts no lines.

A block keeps the fields that it stands for, as they were sent. A face without a drawing of its own
for a block draws its parts. The parts are blocks that each face can draw: JSON, a plan, a quote,
our words. No text of a block is safe to show yet.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from itertools import groupby
from typing import TypeAlias, TypeVar

from crabhook.datatypes import frozen
from crabhook.model.card import Because, FeedEntry, Level, Origin, Risk
from crabhook.model.decision import Suggestion
from crabhook.model.elicitation import FormField
from crabhook.model.event import ShownField
from crabhook.model.jsontext import CUT, Value
from crabhook.model.order import CAP
from crabhook.model.question import Question
from crabhook.model.wording import plural
from crabhook.present.compare import counted, line_count
from crabhook.present.safe import hidden, runs_leftward
from crabhook.present.summary import called


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
class OddInput(Block):
    """What a tool is given, where that is no JSON object and so has no fields."""

    value: Value


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
class UnifiedDiff(Block):
    """A change of a file as its agent's own diff tells it."""

    text: str

    @property
    def counts(self) -> Counts | None:
        """How many lines come and go; None where the diff is not here to its end."""
        if self.text.endswith(CUT):
            return None
        lines = [line for line in self.text.splitlines() if not line.startswith(("+++", "---"))]
        return sum(line[:1] == "+" for line in lines), sum(line[:1] == "-" for line in lines)


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
    the order in which it is read. `fields`: all of them, in blocks or not. `usual`: the names of
    those that have their usual value, and say nothing.
    """

    lead: tuple[Block, ...] = ()
    blocks: tuple[Block, ...] = ()
    fields: Mapping[str, Value] = field(default_factory=dict)
    usual: frozenset[str] = frozenset()

    @property
    def every(self) -> tuple[Block, ...]:
        """All of it, each field once: the lead, then the other blocks, then the rest as JSON."""
        rest = self.rest(self.blocks + self.lead)
        others = [block for block in self.blocks if block not in self.lead]
        return (*self.lead, *others, *([Json(rest)] if rest else []))

    def of(self, kind: type[B]) -> tuple[B, ...]:
        """Return the blocks of one kind."""
        return tuple(block for block in self.blocks if isinstance(block, kind))

    def rest(self, drawn: Iterable[Block], *, usual: bool = True) -> dict[str, Value]:
        """Return the fields that none of the drawn blocks stands for; `usual`: those as well."""
        shown = {key for block in drawn for key in block.fields} | (set() if usual else self.usual)
        return {key: value for key, value in self.fields.items() if key not in shown}


# What a card says beside that.


@frozen
class DeskBlock(Block):
    """What the desk says of a card: it stands for no field that an agent sent."""

    fields: Mapping[str, Value] = field(default_factory=dict, init=False, repr=False, compare=False)


@frozen
class OurWords(DeskBlock):
    """A sentence of ours."""

    text: str


@frozen
class Quote(DeskBlock):
    """A text behind our label; an agent's letters may be in it."""

    label: str
    text: str


def _quotes(*pairs: tuple[str, str]) -> tuple[Block, ...]:
    return tuple(Quote(label, text) for label, text in pairs if text)


_LOOKED_AT = 100_000  # letters of a text in which hidden ones are counted


@frozen
class HiddenLetters(DeskBlock):
    """The texts of an input, for the letters in them that nobody sees, or that run leftward."""

    texts: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many letters are invisible."""
        return sum(hidden(text[:_LOOKED_AT]) for text in self.texts)

    @property
    def leftward(self) -> bool:
        """Whether a terminal may show words in another order than they were sent in."""
        return any(runs_leftward(text[:_LOOKED_AT]) for text in self.texts)

    @property
    def parts(self) -> tuple[Block, ...]:
        """A warning for each."""
        count, parts = self.count, []
        if self.leftward:
            parts.append(OurWords("letters run right to left: words may stand in another order"))
        return (*parts, OurWords(plural(count, "hidden character"))) if count else tuple(parts)


@frozen
class AsAllowed(DeskBlock):
    """That a request is shown as it is allowed, and not as it was asked.

    `waits`: it is not given yet. `answered`: its questions were answered, and nothing was edited.
    """

    waits: bool
    answered: bool

    @property
    def parts(self) -> tuple[Block, ...]:
        """The same as a sentence."""
        done, will = "answered" if self.answered else "edited", "to be " if self.waits else ""
        return (OurWords(f"{done}: {will}allowed as it is here"),)


@frozen
class ChangedFields(DeskBlock):
    """How a call was changed before it is allowed: field, text before, text after."""

    changes: tuple[tuple[str, str, str], ...]

    @property
    def parts(self) -> tuple[Block, ...]:
        """A change of text for each."""
        return tuple(TextChange({}, before, after) for _, before, after in self.changes)


@frozen
class KeptGoing(DeskBlock):
    """How often in a row an agent that wants to stop was sent on."""

    times: int

    @property
    def parts(self) -> tuple[Block, ...]:
        """The same as a sentence."""
        return (OurWords(f"kept going {self.times} of {CAP} times in a row"),)


@frozen
class AskedAgain(DeskBlock):
    """What another hook of the same call gives its tool beside the first: `event` names it."""

    event: str
    body: Body

    @property
    def parts(self) -> tuple[Block, ...]:
        """Its blocks behind the name of its event."""
        return (Quote("asked again as", self.event), *self.body.every)


@frozen
class OfferedRules(DeskBlock):
    """What the agent suggests to allow from now on, in the order of their numbers."""

    offered: tuple[Suggestion, ...]

    @property
    def parts(self) -> tuple[Block, ...]:
        """A quote for each."""
        numbered = enumerate(self.offered, 1)
        return _quotes(
            *((f"suggestion {number}", f"{it.what} {it.where}".rstrip()) for number, it in numbered)
        )


LEVELS = {Level.NONE: "also", Level.CAUTION: "caution", Level.DANGER: "danger"}
"""How a level of risk is said."""
NOTHING_RISKY = "no known risk"


@frozen
class CallRisk(DeskBlock):
    """What a call may do."""

    risk: Risk

    @property
    def levels(self) -> Iterator[tuple[Level, tuple[str, ...]]]:
        """The words of what it may do, the worst level first."""
        for level, effects in groupby(self.risk.effects, key=lambda effect: effect.level):
            yield level, tuple(effect.words for effect in effects)

    @property
    def parts(self) -> tuple[Block, ...]:
        """A quote for each level, and for what nobody knows."""
        nothing = [OurWords(NOTHING_RISKY)] if self.risk.level is Level.NONE else []
        levels = ((LEVELS[level], "; ".join(words)) for level, words in self.levels)
        return (*nothing, *_quotes(*levels, ("not known", "; ".join(self.risk.unknown))))


RESTORED = "it came before this server began to serve"


@frozen
class CardReason(DeskBlock):
    """Why a card is here, and what a decision cannot bring about at its agent.

    `votes`: who said yes so far, and for whom it waits; empty where one yes is enough.
    """

    because: Because
    restored: bool = False
    limits: tuple[str, ...] = ()
    votes: str = ""

    @property
    def parts(self) -> tuple[Block, ...]:
        """The reason, the votes, and a quote for each limit."""
        why = _quotes(("asked because", self.because.words), ("votes", self.votes))
        before = [OurWords(RESTORED)] if self.restored else []
        return (*why, *before, *_quotes(*(("limit", limit) for limit in self.limits)))


LAST_WORDS = "the agent said"


@frozen
class LastCalls(DeskBlock):
    """The calls of a session that ended before a card, the newest last."""

    calls: tuple[FeedEntry, ...]

    @property
    def parts(self) -> tuple[Block, ...]:
        """A quote for each: how it ended, and what it was."""
        return _quotes(*((call.outcome, called(call.event, str)) for call in self.calls))


@frozen
class CardContext(DeskBlock):
    """What the desk knows about a card besides the card itself."""

    words: str = ""  # the agent's last words or its plan, as `whose` says
    before: str = ""  # counts the decisions on similar calls
    whose: str = LAST_WORDS
    prompt: str = ""  # the user's last request

    @property
    def parts(self) -> tuple[Block, ...]:
        """A quote for each."""
        quoted = ((self.whose, self.words), ("the user asked", self.prompt))
        return _quotes(("before", self.before), *quoted)


@frozen
class SentEvent(DeskBlock):
    """What one hook of a card sent, and from where: for who wants to see all of it.

    `tool` is empty where the event is about no tool. `rest`: the fields of the event that the card
    does not show.
    """

    event: str
    tool: str
    rest: Mapping[str, Value]
    origin: Origin

    @property
    def parts(self) -> tuple[Block, ...]:
        """The fields as JSON, behind the name of the event."""
        return (Quote("the event itself", self.event), Json(self.rest))
