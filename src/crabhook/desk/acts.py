"""Every act of an operator, once: what it is called, when it is possible, and what it decides.

Lines, keys, verbs, their help and the docs are made of this table, `acts.toml`. An act that is not
possible at a card, or not allowed to who sits at the desk, is not offered there.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from enum import IntEnum, StrEnum
from typing import Any, TypeAlias

from crabhook.data_files import tables
from crabhook.datatypes import frozen
from crabhook.model.actor import Role
from crabhook.model.decision import PASS_ALONE, Beside, Choices, Decision, Verdict


class Reach(IntEnum):
    """How many requests one line may decide with an act.

    An act that lets something happen needs numbers: "all" might include an unread request.
    """

    NONE = 0  # the act is about the desk
    ONE = 1
    NAMED = 2  # several, by their numbers, or all that ask the same as one
    ANY = 3  # all, or all of a session


class Taken(StrEnum):
    """From whom a line takes an act by its word."""

    LISTED = "LISTED"  # from everybody, and the help of programs lists it
    UNLISTED = "UNLISTED"  # from everybody, and the help of programs leaves it out
    PERSON = "PERSON"  # from a person at a terminal alone


class Kind(StrEnum):
    """What a card is about, as far as an act depends on it."""

    CALL = "call"
    QUESTIONS = "questions"
    PLAN = "plan"
    STOP = "stop"
    DENIAL = "denial"
    FORM = "form"


class Field(StrEnum):
    """The part of a decision that the operator types or chooses."""

    NOTHING = ""
    REASON = "reason"
    INSTRUCTION = "instruction"
    NOTE = "note"
    INPUT = "input"
    ANSWERS = "answers"
    OUTPUT = "output"
    CONTENT = "content"
    SUGGESTION = "suggestion"
    MODE = "mode"
    RULE = "rule"
    HALT = "halt"
    MESSAGE = "message"


_Part: TypeAlias = Callable[[Any], Mapping[str, Any]]


def _part(name: str) -> _Part:
    return lambda value: {name: value}


_PARTS: Mapping[Field, _Part] = {
    Field.NOTHING: lambda _: {},
    Field.REASON: _part("reason"),
    Field.INSTRUCTION: _part("reason"),
    Field.NOTE: _part("note"),
    Field.INPUT: _part("updated_input"),
    Field.ANSWERS: _part("updated_input"),
    Field.OUTPUT: _part("output"),
    Field.CONTENT: _part("content"),
    Field.SUGGESTION: lambda update: {"permissions": (update,)},
    Field.MODE: lambda update: {"permissions": (update,)},
    Field.RULE: _part("reason"),  # of a denial; the rule goes beside the decision
    Field.HALT: _part("halt"),
    Field.MESSAGE: _part("user_message"),
}
"""The parts of a decision that a field fills."""


class Guard(StrEnum):
    """When a key is obeyed. Every row names its own: there is no default.

    FREE: at once; the key only moves, shows or takes back. BEGIN: at once, but not while an answer
    is held for the card. The key marks it, begins work on it, or changes how long it waits. ARMED:
    the key acts on a card or says yes to a page, so the view needs the arming delay; while an
    answer is held, only a key that leads to a stricter answer acts. READ: as ARMED, but the key
    lets something happen, so the whole request must have been on the screen. LINE: as ARMED where
    the typed line is about a card.
    """

    FREE = "FREE"
    BEGIN = "BEGIN"
    ARMED = "ARMED"
    READ = "READ"
    LINE = "LINE"


class Place(StrEnum):
    """Where a key of an act is."""

    CARD = "CARD"
    MARKED = "MARKED"
    SESSION = "SESSION"
    ENTRY = "ENTRY"
    DESK = "DESK"


@frozen
class Asked:
    """What a card asks for, as far as acts depend on it.

    `suggests`: its agent suggests rules. `agent_waits`: its agent has not gone on.
    """

    choices: Choices = PASS_ALONE
    kind: Kind = Kind.CALL
    suggests: bool = False
    agent_waits: bool = True


def kind_of(choices: Choices, *, questions: bool, plan: bool) -> Kind:
    """Return what a card is about that can be told this, and asks questions or shows a plan."""
    for verdict, kind in _OF_A_VERDICT.items():
        if verdict in choices.verdicts:
            return kind
    return Kind.QUESTIONS if questions else Kind.PLAN if plan else Kind.CALL


_OF_A_VERDICT: Mapping[Verdict, Kind] = {
    Verdict.KEEP_GOING: Kind.STOP,
    Verdict.RETRY: Kind.DENIAL,
    Verdict.ACCEPT: Kind.FORM,
}


NOTHING_ASKED = Asked()


@frozen
class Act:
    """One row of the table; acts.toml says what its parts are."""

    name: str
    means: str
    pipes: str = ""
    takes: str = ""
    reach: Reach = Reach.ANY
    taken: Taken = Taken.LISTED
    role: Role = Role.DECIDER
    verb: str = ""
    shell: str = ""
    gives: Verdict | None = None
    interrupt: bool = False
    field: Field = Field.NOTHING
    beside: Beside = Beside.NOTHING
    kinds: frozenset[Kind] = frozenset(Kind)
    suggests: bool = False
    agent_waits: bool = False

    @property
    def id(self) -> str:
        """Its name in one word: what a program names it by, and its verb in a shell."""
        return "-".join(re.findall("[a-z!]+", self.name))

    def field_at(self, choices: Choices) -> Field:
        """Return what is typed or chosen for it at a card: nothing that could not be carried."""
        unread = self.field is Field.REASON and Beside.WORDLESS in choices.beside
        unheard = self.field is Field.NOTE and Beside.NOTE not in choices.beside
        return Field.NOTHING if unread or unheard else self.field

    @property
    def closes(self) -> bool:
        """Whether its decision lets nothing happen."""
        return self.gives in (Verdict.DENY, Verdict.DECLINE, Verdict.CANCEL)

    def fits(self, asked: Asked) -> bool:
        """Whether it can be done at a card that asks for this."""
        return (
            (self.gives is None or self.gives in asked.choices.verdicts)
            and self.beside in asked.choices.beside
            and asked.kind in self.kinds
            and (asked.suggests or not self.suggests)
            and (asked.agent_waits or not self.agent_waits)
        )

    def is_for(self, role: str) -> bool:
        """Whether an operator of this role may do it; an empty role is the server's own desk."""
        return not role or Role(role).includes(self.role)

    def refusal(self, role: str) -> str:
        """Return why an operator of this role may not do it; empty if they may."""
        needed = "an admin" if self.role is Role.ADMIN else f"a {self.role}"
        return "" if self.is_for(role) else f"{self.name} is for {needed}, and you are a {role}"

    def decision(self, value: Any = None, choices: Choices = PASS_ALONE) -> Decision:  # noqa: ANN401 - of its field
        """Return its decision with what was typed or chosen for its field, None for nothing.

        To halt denies the call as well where it has not happened yet, so that nothing slips
        through.
        """
        if self.gives is None:
            raise ValueError(f"{self.name} decides no card")
        decision = Decision(self.gives, interrupt=self.interrupt)
        if value is not None:
            decision = replace(decision, **_PARTS[self.field](value))
        if self.field is Field.HALT and Beside.INPUT in choices.beside:
            decision = replace(decision, verdict=Verdict.DENY, reason=value or "")
        return decision


@frozen
class ActKey:
    """A key of an act; acts.toml says what its parts are.

    `fit` is the act with the kinds of card that the key is for.
    """

    act: Act
    key: str
    guard: Guard
    label: str
    means: str
    place: Place = Place.CARD
    bare: bool = False
    fit: Act = field(kw_only=True)

    def fits(self, asked: Asked, role: str) -> bool:
        """Whether the key does something at a card that asks for this, for who has this role."""
        return self.fit.fits(asked) and self.act.is_for(role)

    @property
    def leads(self) -> Decision | None:
        """The decision that it gives or ends in, where that may be stricter than a held answer.

        A key to an allow is none, but at a denial of the agent's own, which it leaves as it is.
        """
        act = self.act
        if act.field is Field.HALT:
            return act.decision("for a reason that is typed", Choices(beside=Beside.INPUT))
        strict = act.closes or act.field is Field.NOTHING or self.fit.kinds == {Kind.DENIAL}
        return act.decision() if act.gives and strict and self.guard is not Guard.BEGIN else None


_READ: Mapping[str, Callable[[Any], Any]] = {
    "reach": lambda name: Reach[name],
    "taken": Taken,
    "role": Role,
    "gives": Verdict,
    "field": Field,
    "beside": lambda name: Beside[name],
    "kinds": lambda names: frozenset(map(Kind, names.split())),
}
"""How a part of a row is read, where that is no text."""


def _read(row: Mapping[str, Any]) -> Act:
    return Act(**{part: _READ.get(part, lambda value: value)(row[part]) for part in row})


_TABLE = tables(__file__, "acts")
ACTS: Mapping[str, Act] = {act.id: act for act in map(_read, _TABLE["act"])}
"""Every act by its id, in the order in which lines are listed."""


def _first(listed: Iterable[str]) -> Iterable[Act]:
    """Return the acts that decide a card, those that are listed first."""
    places = {name: place for place, name in enumerate(listed)}
    deciding = (act for act in ACTS.values() if act.gives is not None)
    return sorted(deciding, key=lambda act: places.get(act.id, len(places)))


OFFERED: tuple[Act, ...] = tuple(_first(_TABLE["offered"]["first"].split()))
"""The acts that decide a card, in the order in which a card offers them by their words."""


def offered(asked: Asked, role: str = "") -> list[Act]:
    """Return the acts that decide a card which asks for this, for an operator of this role."""
    return [act for act in OFFERED if act.fits(asked) and act.is_for(role)]


def _key(row: Mapping[str, Any]) -> ActKey:
    act = ACTS[row["act"].replace(" ", "-")]
    bare = row.get("bare", False)
    more = "" if bare or act.field is Field.NOTHING else "…"
    fit = {part: _READ[part](row[part]) for part in ("kinds", "beside") if part in row}
    return ActKey(
        act,
        " ".join("123456789") if row["key"] == "1-9" else row["key"],
        Guard[row["guard"]],
        row.get("label", act.name + more),
        row.get("means", act.means),
        Place[row.get("place", "CARD")],
        bare,
        fit=replace(act, **fit),
    )


KEYS: tuple[ActKey, ...] = tuple(map(_key, _TABLE["key"]))
"""The keys of acts, the most needed first."""


def key_of(act: str, place: Place) -> ActKey:
    """Return the key of an act at a place where it has one."""
    return next(key for key in KEYS if key.act.id == act and key.place is place)
