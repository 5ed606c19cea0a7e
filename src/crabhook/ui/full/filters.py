"""What decides which keys make sense: where they go, and what can be done there now."""

from collections.abc import Callable
from enum import StrEnum, auto

from crabhook.datatypes import frozen
from crabhook.desk.acts import NOTHING_ASKED, Act, ActKey, Asked


class Mode(StrEnum):
    """Where keys go."""

    QUEUE = auto()
    TEXT = auto()
    FORM = auto()
    REVIEW = auto()
    BOX = auto()
    EDIT = auto()
    MENU = auto()
    CONFIRM = auto()
    FILL = auto()
    NOTES = auto()
    HELP = auto()
    SEARCH = auto()
    PALETTE = auto()
    ALL = auto()
    SURE = auto()
    SESSIONS = auto()
    HISTORY = auto()
    ENTRY = auto()


VIEWS = (Mode.QUEUE, Mode.SESSIONS, Mode.HISTORY)
"""The three views; all other modes stand over one of them."""


@frozen
class KeyContext:
    """What the keys need to know of the selected card and of the mode."""

    mode: Mode = Mode.QUEUE
    card: bool = False  # a card is selected
    waits: bool = False  # and has not ended
    form: bool = False  # and asks questions that we can read
    held: bool = False  # an allow is held and can be taken back
    asked: Asked = NOTHING_ASKED  # what the card can be told, and what it is about
    role: str = ""  # who sits at the desk, empty at the server's own
    marked: bool = False  # some cards are marked
    away: bool = False  # the operator is away
    fields: bool = False  # the card is a form to fill in
    plan: bool = False  # the card asks about a plan
    revised: bool = False  # and a plan of this agent was denied before
    turns: bool = False  # all rows of the list share a setting that can change
    keeps: bool = False  # the typed line is sent later, with something else
    enters: str = ""  # what enter does now, in words
    offers: bool = False  # a digit takes an offered line
    filters: bool = False  # the typed line filters the view
    filtered: bool = False  # the view is filtered
    entry: bool = False  # a row of the view is selected


@frozen
class Filter:
    """A condition that keys depend on; `&` joins two conditions and `~` negates a condition."""

    met: Callable[[KeyContext], bool]

    def __call__(self, context: KeyContext) -> bool:
        """Whether the condition holds."""
        return self.met(context)

    def __and__(self, other: "Filter") -> "Filter":
        """Return the condition that holds where both hold."""
        this, that = self.met, other.met
        return Filter(lambda context: this(context) and that(context))

    def __invert__(self) -> "Filter":
        """Return the opposite."""
        met = self.met
        return Filter(lambda context: not met(context))


def at(*modes: Mode) -> Filter:
    """Return the condition that keys go to one of these modes."""
    return Filter(lambda context: context.mode in modes)


always = Filter(lambda _: True)
away = Filter(lambda context: context.away) & at(Mode.QUEUE, Mode.TEXT)
here = ~Filter(lambda context: context.away) & at(Mode.QUEUE, Mode.TEXT)
_form = Filter(lambda context: context.form)
_card = Filter(lambda context: context.card)
_waits = Filter(lambda context: context.waits)
_marked = Filter(lambda context: context.marked)
_plan = Filter(lambda context: context.plan)

with_a_card = _card & at(Mode.QUEUE)
with_any_card = _card & at(Mode.QUEUE, Mode.TEXT, Mode.FORM, Mode.REVIEW, Mode.FILL, Mode.NOTES)
in_view = _waits & at(Mode.QUEUE, Mode.TEXT, Mode.FORM)
"""At a card that waits, wherever it is looked at."""
deciding = in_view & ~_marked
"""At a card that waits, to be decided alone: while some are marked, keys decide those."""
markable = _waits & at(Mode.QUEUE, Mode.TEXT)
"""At a card that waits and whose keys are not taken by its form."""
with_marks = _marked & at(Mode.QUEUE, Mode.TEXT)
answering = _waits & _form & at(Mode.QUEUE, Mode.FORM)
"""At a card whose questions wait, in the form or still in the queue."""
in_the_form = _waits & at(Mode.FORM)
doubting = _waits & at(Mode.SURE)
reviewing = _waits & at(Mode.REVIEW)
filling = _waits & Filter(lambda context: context.fields) & at(Mode.FILL)
noting = _waits & _plan & at(Mode.NOTES)
with_changes = _plan & Filter(lambda context: context.revised) & at(Mode.QUEUE, Mode.TEXT)
filtering = Filter(lambda context: context.filters) & at(Mode.BOX)
_filtered = Filter(lambda context: context.filtered)
with_filter = _filtered & ~_marked & at(Mode.QUEUE)
with_past_filter = _filtered & at(Mode.HISTORY)
on_a_row = Filter(lambda context: context.entry)
keeping = Filter(lambda context: context.keeps) & at(Mode.BOX)
offering = Filter(lambda context: context.offers) & at(Mode.BOX)
turning = Filter(lambda context: context.turns) & at(Mode.MENU)
taking_back = Filter(lambda context: context.held) & at(
    Mode.QUEUE, Mode.TEXT, Mode.FORM, Mode.REVIEW
)


def possible(key: ActKey) -> Filter:
    """Return the condition that an act can be done by its key at the selected card."""
    return deciding & Filter(lambda context: key.fits(context.asked, context.role))


def allowed(act: Act) -> Filter:
    """Return the condition that who sits here may do an act that is about no card."""
    return Filter(lambda context: act.is_for(context.role))
