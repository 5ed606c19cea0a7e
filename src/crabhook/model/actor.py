"""Who decided: an operator, a rule, a standing order, an empty desk; or why nobody did.

`crabhook.model.wording` has the words for people; no code decides by those words.
"""

from enum import StrEnum
from typing import TypeAlias

from crabhook.datatypes import frozen


class Ended(StrEnum):
    """An end without further detail; the record and programs use the value."""

    HOOK_LEFT = "hook-left"  # the agent ended the hook, or its connection was lost
    DESK_CLOSED = "desk-closed"  # the operator left before a decision
    SERVER_STOPPED = "server-stopped"  # the server was told to end, as `crabhook down` does
    AWAY = "away"  # the operator is away, so the agent's own user is to decide
    NEVER_CAME_BACK = "never-came-back"  # the server began again, and the hook did not return
    LEFT_BEFORE = "left-before"  # the same call was left to the agent's own user a moment ago
    SESSION_OVER = "session-over"  # its agent had gone on, and has ended before anybody ruled


class Follows(StrEnum):
    """What a hook does with an event that nobody decided in time."""

    GOES_ON = "goes-on"  # it was no question
    DENIED = "denied"  # its hook denies it
    USER_ASKED = "user-asked"  # the hook hands it to the agent's own user, if possible
    OWN_RULES = "own-rules"  # the agent's own rules decide
    OWN_USER = "own-user"  # the agent's own user decides
    DENIED_OR_OWN_RULES = "denied-or-own-rules"  # whether its hook denies it is not known
    DENIED_OR_OWN_USER = "denied-or-own-user"


@frozen
class AnsweredAtAgent:
    """The agent tells that it was answered there; `outcome` in its words, empty for none."""

    outcome: str = ""


@frozen
class TimeUp:
    """Nobody decided in time."""

    follows: Follows


EndReason: TypeAlias = Ended | AnsweredAtAgent | TimeUp


class OrderKind(StrEnum):
    """What a standing order is about."""

    HOLD = "hold"  # hold events that are otherwise only observed
    HOLD_ALL = "hold everything of"
    ALLOW_ALL = "allow everything of"
    KEEP_GOING = "keep going"
    AWAY = "away"
    HALT = "halt"  # deny every call of a session that was halted, until its next prompt
    LET_ONCE = "let run once"  # allow a call that was not allowed in time, if it comes again
    DENY_AGAIN = "deny again"  # deny a call that nobody had decided in time, if it comes again


class ShownBy(StrEnum):
    """How somebody at a desk elsewhere showed who they are; the record has the value."""

    # By the device's key, which lies encrypted under it.
    PASSPHRASE = "passphrase"  # noqa: S105 - a name, and no password
    SIGNATURE = "signature"  # by an SSH key of theirs, over this one call
    PASSKEY = "passkey"  # by a passkey of theirs, over this one call
    # By the device's key that lies open, or a page's cookie: any program of theirs can.
    OPEN_KEY = "open-key"


class Role(StrEnum):
    """What a person may do; each role may do all that those before it may."""

    VIEWER = "viewer"
    DECIDER = "decider"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        """Whether this role may do everything that the other may."""
        order = list(Role)
        return order.index(self) >= order.index(other)


@frozen
class Operator:
    """A person. `id` is the server's name for them, `name` their own, `desk` their place.

    An unknown id is empty. At a desk elsewhere, `desk` is the device's name and `address` its
    network address. `role` is the person's role in the team, and `shown` their proof, a `ShownBy`.
    Both are empty at the server's own terminal.
    """

    id: str
    name: str
    desk: str
    address: str = ""
    role: str = ""
    shown: str = ""


@frozen
class RuleActor:
    """A rule of the owner's: its text and place; empty for what protects the owner by itself."""

    ref: str


@frozen
class StandingOrder:
    """A standing order of an operator's. `times`: how often it still applied, None for always.

    An unknown id is 0.
    """

    id: int
    kind: OrderKind
    times: int | None = None


@frozen
class Headless:
    """A desk without a person: the answer was chosen at the server's start."""


@frozen
class Nobody:
    """Nobody decided: the wait ended, for this reason."""

    why: EndReason


Actor: TypeAlias = Operator | RuleActor | StandingOrder | Headless | Nobody

HERE = "this terminal"
OWNER = Operator("owner", "operator", HERE)
"""The operator at the server's own terminal."""
UNKNOWN = Operator("", "operator", "")
"""An operator of whom no more was kept."""
