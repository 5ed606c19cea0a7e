"""Tests of the broker that read as sequence diagrams: a fact goes in, its effects come out.

    book = Playbook()
    book.asks(bash("a", "ls")).sees("#1 waiting: a")
    book.answers(1, ALLOW).sees("a hears PreToolUse allow, confirms", "#1 decided ALLOWED: a")

Effects are compared as these short lines; a failure shows the whole exchange
so far. `WakeAt` is not a line: the latest is kept in `alarm`. Nor is it one
that a call ran as it was allowed, and an allow's echo of what was asked is
left out; what else an allow sends back is told.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from crabhook.broker.broker import Broker
from crabhook.broker.call_outcomes import CallOutcome
from crabhook.broker.messages import (
    Answered,
    Arrived,
    Closing,
    Commanded,
    Conflict,
    Delivered,
    Effect,
    Escalated,
    Fact,
    FeedLine,
    FirstClaim,
    Left,
    NoteToldOf,
    OrderSpent,
    Outcome,
    Refuse,
    Resolve,
    Show,
    TimePassed,
    Voted,
    VotesVoid,
    WakeAt,
)
from crabhook.broker.pending import LIMITS, Limits
from crabhook.desk.commands import GiveOrder
from crabhook.model.actor import OWNER, Actor
from crabhook.model.ballot import NOBODY_VOTES, Electorate, names_of
from crabhook.model.card import Card, Request, Stance
from crabhook.model.decision import Decision, Reply, Verdict
from crabhook.model.order import Order
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import Ruling
from tests.support.ruled import Judge, no_rules

ALLOW = Decision(Verdict.ALLOW)
DENY = Decision(Verdict.DENY, reason="not here")
ASK = Decision(Verdict.ASK)
PASS = Decision(Verdict.PASS)

WAIT = 600.0  # seconds, that a request waits unless told otherwise


def asking(
    ticket: str,
    event: str,
    *,
    session: str = "s",
    agent: str = "",
    secret: str = "",
    stance: Stance = Stance.GATE,
    wait: float = WAIT,
    platform: str = "claude",
    **fields: Any,
) -> Request:
    """A hook's request as it comes from the wire; `wait` is made a time when it is sent."""
    said = {"hook_event_name": event, "session_id": session, "cwd": "/p", **fields}
    if agent:
        said |= {"agent_id": agent, "agent_type": "general-purpose"}
    read = PLATFORMS[platform].read(json.dumps(said).encode())
    return Request(ticket, read, wait, stance, secret=secret or f"secret of {ticket}")


def calling(
    ticket: str,
    tool_input: Any,
    use_id: str = "",
    *,
    event: str = "PreToolUse",
    tool: str = "Bash",
    **how: Any,
) -> Request:
    """A request about a call of a tool; without a `use_id` as PermissionRequest has none."""
    named: dict[str, Any] = {"tool_use_id": use_id} if use_id else {}
    return asking(ticket, event, tool_name=tool, tool_input=tool_input, **named, **how)


def bash(ticket: str, command: str, use_id: str = "t1", **how: Any) -> Request:
    """The PreToolUse of a shell command."""
    return calling(ticket, {"command": command}, use_id, **how)


def prompt(ticket: str, command: str, **how: Any) -> Request:
    """The PermissionRequest of a shell command."""
    return calling(ticket, {"command": command}, event="PermissionRequest", **how)


def done(ticket: str, command: str, use_id: str = "t1", **how: Any) -> Request:
    """The PostToolUse of a shell command, unless told otherwise."""
    return calling(ticket, {"command": command}, use_id, **{"event": "PostToolUse", **how})


def of_machine(machine: str, request: Request) -> Request:
    """The same request, of a hook that shows that machine's own token."""
    return replace(request, event=replace(request.event, machine=machine))


class Playbook:
    """One broker, its clock, and what was said so far."""

    def __init__(self, judge: Judge = no_rules, bounds: Limits = LIMITS) -> None:
        self.broker, self.judge = Broker(PLATFORMS, bounds), judge
        self.now = 1000.0
        self.electorate: Electorate = NOBODY_VOTES
        self.alarm: float | None = None
        self.effects: list[Effect] = []  # of the last fact
        self._connections: dict[str, int] = {}
        self._story: list[str] = []
        self._asked: dict[str, Any] = {}

    def __repr__(self) -> str:
        return "\n".join(self._story)

    # Facts.

    def asks(
        self, request: Request, warnings: tuple[str, ...] = (), files: tuple[str, ...] = ()
    ) -> Self:
        """A hook asks, or comes back on a new connection."""
        attempt = self._connections[request.id] = self._connections.get(request.id, 0) + 1
        self._asked[request.id] = request.event.tool.input if request.event.tool else None
        timed = replace(request, wait_until=self.now + request.wait_until)
        ruling = self.judge(timed.event)
        beside: dict[str, Any] = {"warnings": warnings, "files": files}
        fact = Arrived(timed, ruling, attempt, self.now, electorate=self.electorate, **beside)
        foreseen = self.broker.comes_to_a_card(fact)
        self._told(f"{_who(request.id, attempt)} asks: {request.event.name}", fact)
        assert foreseen or not self._came_to_a_card(fact), "a card that nothing was looked up for"
        return self

    def _came_to_a_card(self, fact: Arrived) -> bool:
        leg, shown = fact.request.id, (one for one in self.effects if isinstance(one, Show))
        return any(
            leg in {each.id for each in show.card.requests}
            and (show.before is None or leg not in {each.id for each in show.before.requests})
            for show in shown
        )

    def answers(self, number: int, decision: Decision, by: Actor = OWNER) -> Self:
        """A card is decided, by the operator unless told otherwise."""
        rulings, who = self._rulings(number, decision), self.electorate
        fact = Answered(number, decision, by, self.now, rulings=rulings, electorate=who)
        return self._told(f"operator: #{number} {decision.verdict}", fact)

    def _rulings(self, number: int, decision: Decision) -> dict[str, Ruling | None]:
        if self.broker.card(number) is None:
            return {}
        changed = self.broker.changed(number, decision)
        return {leg: self.judge(event) for leg, event in changed.items()}

    def orders(self, order: Order) -> Self:
        """The operator gives a standing order."""
        return self._told(f"operator: {order}", Commanded(GiveOrder(order), OWNER, self.now))

    def leaves(self, ticket: str, attempt: int = 0) -> Self:
        """A hook's connection, the newest unless told otherwise, is lost."""
        attempt = attempt or self._connections[ticket]
        return self._told(f"{_who(ticket, attempt)} leaves", Left(ticket, attempt, self.now))

    def confirms(self, ticket: str, *, whole: bool = True) -> Self:
        """A receipt comes, or (not `whole`) does not come in time."""
        return self._told(f"{ticket} confirms: {whole}", Delivered(ticket, whole, self.now))

    def waits(self, seconds: float) -> Self:
        """Time goes by."""
        self.now += seconds
        return self._told(f"{seconds:g} s pass", TimePassed(self.now))

    def closes(self) -> Self:
        """The operator leaves."""
        return self._told("the desk closes", Closing(self.now))

    # Effects.

    def sees(self, *lines: str) -> Self:
        """The last fact must have had these effects and no others, in this order."""
        seen = [self._line(effect) for effect in self.effects if _is_told(effect)]
        told = "\n".join(f"        expected: {line}" for line in lines or ["nothing"])
        assert seen == list(lines), f"\n{self!r}\n{told}"
        return self

    def _told(self, what: str, fact: Fact) -> Self:
        self._story.append(what)
        self.effects = self.broker.handle(fact)
        for effect in self.effects:
            if isinstance(effect, WakeAt):
                self.alarm = effect.at
            self._story.append(f"    {self._line(effect)}")
        return self

    def _line(self, effect: Effect) -> str:
        if isinstance(effect, Resolve):
            heard = words(effect.reply, self._asked.get(effect.request_id))
            confirms = ", confirms" * effect.confirm
            return f"{_who(effect.request_id, effect.attempt)} hears {heard}{confirms}"
        return _line(effect)


def _is_told(effect: Effect) -> bool:
    as_allowed = isinstance(effect, Outcome) and effect.fate is CallOutcome.AS_ALLOWED
    return not isinstance(effect, WakeAt) and not as_allowed


def _line(effect: Effect) -> str:  # noqa: PLR0911 - a line for each effect
    match effect:
        case Refuse(ticket, attempt, refusal):
            return f"{_who(ticket, attempt)} refused {refusal.name}"
        case Show(card):
            return _card_line(card)
        case FeedLine(entry):
            number = f"#{entry.number} " if entry.number else ""
            alarm = "ALARM " if entry.alarm else ""
            return f"feed: {alarm}{number}{entry.event.name} {entry.text}".rstrip()
        case Conflict(_, why):
            return f"conflict: {why}"
        case Outcome(_, _, call, fate):
            return f"outcome of #{call.card}: {fate.value}"
        case WakeAt(at):
            return f"wake at {at:g}"
        case NoteToldOf(note, what):
            return f"note {note.id} {what}"
        case OrderSpent(order, _):
            return f"spent: {order}"
    return _of_ballot(effect)


def _of_ballot(effect: Effect) -> str:
    match effect:
        case Voted(card, vote, void):
            voids = f", void: {names_of(void)}" if void else ""
            return f"#{card.number} vote of {vote.by.name}{voids}"
        case VotesVoid(card, votes):
            return f"#{card.number} void: {names_of(votes)}"
        case FirstClaim(card, by):
            return f"#{card.number} first look of {by.name}"
        case Escalated(card, steps):
            return f"#{card.number} widened: {' '.join(step.to for step in steps)}"
    raise TypeError(effect)


def _card_line(card: Card) -> str:
    outcome = "" if card.outcome in ("", card.state.name) else f" {card.outcome}"
    fate = {None: "", True: ", delivered", False: ", NOT DELIVERED"}[card.delivered]
    legs = " ".join(leg.id for leg in card.requests)
    return f"#{card.number} {card.state}{outcome}{fate}: {legs}"


def _who(ticket: str, attempt: int) -> str:
    return ticket if attempt == 1 else f"{ticket}/{attempt}"


def words(reply: Reply, asked: Any = None) -> str:
    """A reply in short: "nothing", or the event, what it is told, and the rest as JSON.

    An input sent back just as it was `asked` about is left out.
    """
    if not reply.output:
        return "nothing" if reply.output is None else "{}"
    said = {key: value for key, value in reply.output.items() if key != "hookSpecificOutput"}
    said |= specific_of(reply)
    if isinstance(decision := said.get("decision"), dict):
        del said["decision"]
        said |= {"permissionDecision": decision["behavior"], **decision}
        del said["behavior"]
    if asked is not None and said.get("updatedInput") == asked:
        del said["updatedInput"]
    event, verdict = said.pop("hookEventName", ""), said.pop("permissionDecision", "")
    return " ".join(
        str(word) for word in (event, verdict, json.dumps(said) if said else "") if word
    )


def specific_of(reply: Reply) -> Mapping[str, Any]:
    """The hookSpecificOutput of a reply, read back from the bytes the hook prints."""
    if not reply.stdout:
        return {}
    found = json.loads(reply.stdout).get("hookSpecificOutput", {})
    assert isinstance(found, dict)
    return found


def is_allow(reply: Reply) -> bool:
    """Whether the agent would take the reply for an allow."""
    specific = specific_of(reply)
    decision = specific.get("decision") or {}
    return "allow" in (specific.get("permissionDecision"), decision.get("behavior"))
