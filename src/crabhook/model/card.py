"""What waits for a decision: a request, its leg on a card, the card, its risk.

Values alone, for the broker, the rules' risk, and the screens.
"""

from dataclasses import field, replace
from enum import IntEnum, StrEnum
from ipaddress import IPv4Address, IPv6Address, ip_address

from crabhook.datatypes import frozen
from crabhook.model import wording
from crabhook.model.actor import OWNER, EndReason
from crabhook.model.ballot import Ballot, Terms
from crabhook.model.decision import PASS_ALONE, Choices, Decided, Decision
from crabhook.model.event import Event
from crabhook.model.signing import SignedOnly


class Level(IntEnum):
    """How bad a call may be: nothing known, look (▲), stop and look (▲▲)."""

    NONE = 0
    CAUTION = 1
    DANGER = 2


class Where(IntEnum):
    """Where a file is, the least of an operator's worries first."""

    INSIDE = 0
    TEMPORARY = 1
    UNKNOWN = 2
    OUTSIDE = 3


@frozen
class Effect:
    """One effect of a call: a name of kinds.toml, and words with their level.

    `objects` are in the words; `where`: the places of files.
    """

    kind: str
    level: Level
    words: str
    objects: tuple[str, ...] = ()
    where: Where | None = None


@frozen
class Risk:
    """The effects of a call, worst first.

    `unknown` says, each in words, what nobody knows. No effect and nothing unknown is "nothing
    risky found", which is not "safe".
    """

    level: Level = Level.NONE
    effects: tuple[Effect, ...] = ()
    unknown: tuple[str, ...] = ()


NO_RISK = Risk()
UNTOLD = Risk(Level.CAUTION, (Effect("untold", Level.CAUTION, "effect unknown"),))
"""The risk of a call that nobody could look at."""


def number_of(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a host is the number of; None for a name, which may lead anywhere."""
    try:
        return ip_address(host)
    except ValueError:
        return None


class Stance(StrEnum):
    """How the agent's own dialog and the hook share a question.

    GATE holds every call before the agent's own rules see it. COMPANION leaves the agent's dialog
    usable, and the first answer wins; before a call it holds only what a rule or a protected place
    wants asked. SUPERVISOR also holds the end of a turn.
    """

    GATE = "gate"
    COMPANION = "companion"
    SUPERVISOR = "supervisor"


@frozen
class Origin:
    """The asker, as the client says: shown to the operator, trusted for nothing.

    `machine` alone is proven, by the machine's own token; empty without one.
    """

    host: str = ""
    pid: int = 0
    user: str = ""
    machine: str = ""

    def is_at(self, host: str) -> bool:
        """Whether a hook says it is on that host, and shows no machine's token.

        A team's machine may claim any name, and the name decides whose files are read.
        """
        return self.host == host and not self.machine


@frozen
class Leg:
    """One invocation of a hook on a card, without its ticket's secret.

    On the broker's clock (monotonic seconds) we answer by `wait_until`, and the hook gives up at
    `gives_up_at`. `note` goes to the model with any answer. `size`: its input's bytes. `when_lost`:
    what its hook does without a decision ("pass", "ask", "deny"); empty if unknown. `strict`: what
    is signed for its hook; None for a hook that prints any reply.
    """

    id: str
    event: Event
    wait_until: float
    stance: Stance = Stance.GATE
    origin: Origin = Origin()
    gives_up_at: float = 0.0
    note: str = ""
    size: int = 0
    when_lost: str = ""
    strict: SignedOnly | None = None


@frozen
class Request(Leg):
    """A hook's request as its client sends it; `id` and `secret` are the client's ticket.

    `terms`: whose signatures the hook itself wants, beside those whom rules name.
    """

    secret: str = field(kw_only=True, repr=False)
    terms: tuple[Terms, ...] = field(kw_only=True, default=())

    def leg(self, note: str) -> Leg:
        """Return its leg on a card, with a note for the model."""
        return Leg(
            self.id,
            self.event,
            self.wait_until,
            self.stance,
            self.origin,
            self.gives_up_at,
            note or self.note,
            self.size,
            self.when_lost,
            self.strict,
        )


class Brought(StrEnum):
    """What brings a card to the operator."""

    RULE = "rule"  # a rule that asks, or a denial that can only be a question here
    PROTECTED = "protected"  # a place that always reaches a person
    UNSURE = "unsure"  # the server could not check if a rule applies
    ORDER = "order"  # a standing order
    GUARD = "guard"  # the guard of files that two sessions change
    HOOK = "hook"  # how its hook was installed
    AGENT = "agent"  # the agent itself asks


@frozen
class Because:
    """Why a card is here, in `words` for a person; may have an agent's letters.

    `kind` is None where an older server tells only words. `name`: the rule, the order, or the
    protected entry. `note`: a rule's own. `full`: the words for programs and the record, where they
    are others: a rule with its place.
    """

    kind: Brought | None
    words: str
    name: str = ""
    note: str = ""
    full: str = ""

    @property
    def in_full(self) -> str:
        """The reason with all places; an agent's letters may be in it."""
        return self.full or self.words

    @property
    def of_rules(self) -> bool:
        """Whether the owner's rules want a person to decide."""
        return self.kind in _OF_RULES


_OF_RULES = {Brought.RULE, Brought.PROTECTED, Brought.UNSURE}
NO_REASON = Because(None, "")
"""The reason of a card that tells none."""


@frozen
class TimesAsked:
    """How often a card's call was asked about, and when its agent went on without a decision.

    `went_on_at` is on the broker's clock, 0 while the agent waits. A card whose agent went on stays
    open: its decision is a ruling about the next such call.
    """

    times: int = 1
    went_on_at: float = 0.0


ONCE = TimesAsked()
"""Of a card whose agent waits, and asked once."""


class State(StrEnum):
    """Where a card is in its life."""

    WAITING = "waiting"
    DECIDED = "decided"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


@frozen
class Card:
    """One call that an operator decides once, however many hooks ask about it.

    `number` is what the operator calls it; `requests` are the legs that wait (of an ended card,
    those it ended with), the first to come first. Times are seconds on the broker's clock. `end`
    says how an undecided card ended. `delivered` is None until the reply's fate is known. `reason`:
    why it is here: a rule, a standing order, or how its hook was installed. `restored`: it was put
    back after a restart of the server. `kept_going`: how often in a row its agent was already told
    to go on. `snoozed_until`: the operator has put it aside until then; 0 when it is not aside.
    `choices`: what can be decided, about all of its requests at once. `limits`: what a decision
    will not bring about at this agent, a sentence each. `alarms`: what a hook told about the call
    that cannot be true, or what ran in place of the call; a sentence each, with agents' words in
    it. `risk`: what its call may do; of a call that was allowed changed, as it was changed.
    `revision`: raised by every change of the card. `grown`: the revision in which something came
    that a decision needs to have seen: a leg, an alarm, another proposal. `ballot`: who must allow
    it, and who has, where a rule says that; None where any decider may. `repeats`: its call was
    decided a moment ago, and this hook too wants that signed: the desk that decided may do so.
    `asked`: how often its call was asked about, and whether its agent went on.
    """

    number: int
    requests: tuple[Leg, ...]
    asked_at: float
    state: State = State.WAITING
    decided: Decided | None = None
    end: EndReason | None = None
    ended_at: float = 0.0
    delivered: bool | None = None
    kept_going: int = 0
    restored: bool = False
    reason: Because = NO_REASON
    snoozed_until: float = 0.0
    choices: Choices = PASS_ALONE
    limits: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()
    risk: Risk = UNTOLD
    revision: int = 0
    grown: int = 0
    ballot: Ballot | None = None
    repeats: bool = False
    asked: TimesAsked = ONCE

    @property
    def event(self) -> Event:
        """The event the call first arrived with."""
        return self.requests[0].event

    @property
    def went_on(self) -> bool:
        """Whether its agent went on without a decision, so that it decides the next such call."""
        return self.asked.went_on_at > 0

    def needs(self, person: str) -> bool:
        """Whether a yes of this person, by id, would bring it on; any does without a ballot."""
        return self.ballot is None or self.ballot.standing.includes(person)

    @property
    def still_needs(self) -> str:
        """Whose yes it still waits for, in words; empty where it has ended or any yes decides."""
        if self.ballot is None or self.state is not State.WAITING:
            return ""
        return self.ballot.standing.why

    @property
    def decision(self) -> Decision | None:
        """The decision, whether a person, a rule or an order made it; None while there is none."""
        return None if self.decided is None else self.decided.decision

    def given(self, decision: Decision) -> "Card":
        """Return the card as it will be once its operator's decision is carried out."""
        return replace(self, decided=Decided(decision, OWNER))

    @property
    def why(self) -> str:
        """How it ended undecided, in words; an agent's letters may be in them."""
        if self.end is None:
            return wording.NOT_KNOWN if self.state is State.WITHDRAWN else ""
        return wording.why(self.end)

    @property
    def wait_until(self) -> float:
        """When the last of its hooks stops waiting."""
        return max(request.wait_until for request in self.requests)

    @property
    def outcome(self) -> str:
        """How it ended, in the words of the screen and the record; empty while it waits."""
        if self.decision is not None and self.state is State.DECIDED:
            return self.decision.verdict.done
        return "" if self.state is State.WAITING else self.state.name


@frozen
class FeedEntry:
    """One line of the feed: an observed event, or a card's news.

    `text`: what we did; `outcome`: how a call or turn ended. `event`: without a card only its start
    (`Event.brief`). `alarm`: something is wrong. `about`: replaces the earlier line with the same
    value; empty for none.
    """

    at: float
    event: Event
    text: str
    number: int | None = None
    outcome: str = ""
    alarm: bool = False
    about: str = ""
