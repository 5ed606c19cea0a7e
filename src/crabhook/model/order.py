"""Standing orders: what an operator said once, for a while, about events still to come."""

from dataclasses import field, fields, replace
from hashlib import sha256
from math import inf
from typing import Self

from crabhook.datatypes import frozen
from crabhook.model.actor import HERE, Actor, Operator, OrderKind
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact

__all__ = ["CAP", "LASTING", "LETS_PASS", "UNHEARD_DAYS", "Order", "OrderKind", "Standing"]

CAP = 8
"""How often in a row an agent can be kept going; it stops at the next stop all the same."""

LETS_PASS = frozenset(
    {OrderKind.ALLOW_ALL, OrderKind.KEEP_GOING, OrderKind.AWAY, OrderKind.LET_ONCE}
)
"""Orders by which calls pass: a decider may end them, and a key that lies open."""

OF_A_CALL = frozenset({OrderKind.LET_ONCE, OrderKind.DENY_AGAIN})
"""Orders about one call, if it comes again: a card alone gives them."""

LASTING = frozenset({OrderKind.HALT}) | OF_A_CALL
"""Orders that outlive every server: each is a row of its record."""

UNHEARD_DAYS = 7
"""An order about a session ends when so long no event of the session came.

A session whose end nobody heard is then surely over, as if it ended while no server ran.
"""
_UNHEARD = UNHEARD_DAYS * 86_400.0

LET_ONCE_FOR = 600.0  # seconds in which a call that may run once has to come again
RULED_FOR = 3600.0  # seconds in which a ruling waits for a call that nobody decided in time
_NAME = 200  # letters of a tool's name


def call_of(event: Event) -> str:
    """Return what two events of the very same call have in common; empty without a call.

    The agent, the tool and its whole input, and where it runs, since a relative path means another
    file in another folder. A call that is served for another session is another call.
    """
    tool = event.tool
    if tool is None:
        return ""
    caller = event.text("caller_session_id")
    same: list[Value] = [event.platform, event.cwd, caller, tool.name, tool.fingerprint.hex()]
    return sha256(compact(same).encode()).hexdigest()


@frozen
class Order:
    """An order as it is given.

    `name` is an event's, or the tool's of the one call that may run. `session` and `project` narrow
    it, empty for any; a project is the last part of the working folder, or all of it. `agent` is
    the subagent of the session that is halted, or that may make the call. `until` is on the
    broker's clock, None for no end by time. `times` is how often it still applies, None for always.
    `words` is what a kept-going agent is told, why a session was halted, or the card of the call.
    `machine` is the machine of the session, whose hooks showed its token, None for any. Another
    machine's session of the same id is another session. Three more are for servers alone. `call` is
    which call it is about (`call_of`). `note` is the number of the note that tells its model, 0 for
    none. `law` is which question of the rules a person has answered with it, empty for none.
    """

    kind: OrderKind
    name: str = ""
    session: str = ""
    project: str = ""
    until: float | None = None
    times: int | None = None
    words: str = ""
    agent: str = ""
    machine: str | None = None
    call: str = field(default="", compare=False)
    note: int = field(default=0, compare=False)
    law: str = field(default="", compare=False)

    @classmethod
    def letting_run(cls, event: Event, until: float, card: int, law: str = "") -> "Order":
        """Return the order of a card by which its call may run once, if it comes until then."""
        return replace(_of_call(event, until, card, law), kind=OrderKind.LET_ONCE, times=1)

    @classmethod
    def denying(cls, event: Event, until: float, card: int, law: str, why: str) -> "Order":
        """Return the order of a card by which its call is denied if it comes until then."""
        order = _of_call(event, until, card, law)
        return replace(order, words=f"{order.words}: {why}") if why else order

    def __str__(self) -> str:
        parts = [self.kind.value, self.name, self.session and f"session={self.session}"]
        parts += [f"machine={self.machine}" if self.machine else ""]
        parts += [self.agent and f"agent={self.agent}"]
        parts += [self.project and f"project={self.project}"]
        parts += [f"times={self.times}" if self.times is not None else "", self.words]
        return " ".join(part for part in parts if part)

    @property
    def about(self) -> tuple[str | None, ...]:
        """What an order has in common with the order that it replaces."""
        ruling = OrderKind.LET_ONCE if self.kind in OF_A_CALL else self.kind  # the later counts
        return (
            *(ruling, self.name, self.session, self.project, self.agent, self.machine),
            self.call,
        )

    @property
    def event(self) -> Event:
        """An event for the feed, since nothing an agent did is behind an order's news."""
        return Event("", "Desk", session=self.session, machine=self.machine or "")

    def over(self, now: float) -> bool:
        """Whether the order's time has come to its end."""
        return self.until is not None and self.until <= now

    def speaks_of(self, event: Event) -> bool:
        """Whether the order is about the event's session and project."""
        folder = event.cwd.rstrip("/")
        here = self.project in ("", folder, folder.rpartition("/")[2])
        return here and (not self.session or self.is_of(event))

    def is_of(self, event: Event) -> bool:
        """Whether the order is about the event's session."""
        return self.session == event.session and self.machine in (None, event.machine)

    def halts(self, event: Event) -> bool:
        """Whether a halt is about the event's agent: of its session, or of that subagent alone."""
        return self.is_of(event) and self.agent in ("", event.agent_id)

    def rules_on(self, event: Event) -> bool:
        """Whether it is about the very call of the event, of that agent of that session."""
        return (
            self.kind in OF_A_CALL
            and self.is_of(event)
            and self.agent == event.agent_id
            and self.call == call_of(event)
        )


def _of_call(event: Event, until: float, card: int, law: str) -> Order:
    tool = event.tool
    assert tool is not None  # noqa: S101 - a ruling is about a call of a tool
    return Order(
        OrderKind.DENY_AGAIN,
        tool.name[:_NAME],
        event.session,
        until=until,
        words=f"#{card}",
        agent=event.agent_id,
        machine=event.machine,
        call=call_of(event),
        law=law,
    )


@frozen
class Standing(Order):
    """A standing order: `id` is the server's, `by` is its giver.

    `heard` is when its session was last heard of, to the hour, on the server's clock.
    """

    id: int = field(kw_only=True)
    by: Actor = field(kw_only=True)
    heard: float = field(default=0.0, kw_only=True, compare=False)

    @classmethod
    def of(cls, order: Order, number: int, by: Actor, heard: float = 0.0) -> Self:
        """Return `order` with this number and giver."""
        attributes = {attribute.name: getattr(order, attribute.name) for attribute in fields(Order)}
        return cls(**attributes, id=number, by=by, heard=heard)

    @property
    def ends_unheard(self) -> float:
        """When it ends, unless its session is heard of before; never for one about all."""
        return self.heard + _UNHEARD if self.session else inf

    def __str__(self) -> str:
        by = self.by
        if isinstance(by, Operator) and by.desk not in ("", HERE):
            return f"{Order.__str__(self)} (by {by.name}, at {by.desk})"
        return Order.__str__(self)
