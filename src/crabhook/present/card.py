"""A card as one document: all that it says, in blocks, in the order in which a person reads it.

Each face draws this document in its own way. What a face shows elsewhere, such as how long the card
still waits, is of its `card`.
"""

from collections.abc import Mapping
from dataclasses import replace

from crabhook.datatypes import frozen
from crabhook.model.ballot import names_of
from crabhook.model.card import Card, State
from crabhook.model.decision import Suggestion, Verdict, read_suggestions
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, pretty
from crabhook.present.body import body, happening, server_asks
from crabhook.present.document import (
    AsAllowed,
    AskedAgain,
    Block,
    Body,
    CallRisk,
    CardContext,
    CardReason,
    ChangedFields,
    HiddenLetters,
    KeptGoing,
    LastCalls,
    OfferedRules,
    OurWords,
    SentEvent,
    ServerAsks,
)
from crabhook.present.safe import Speller, safe
from crabhook.present.sentence import Sentence, has_risk, sentence
from crabhook.present.summary import as_allowed, is_plan, is_question, names_plan

_NO_PLAN = "this event carries no plan: the PermissionRequest of the same call does"
_ABSENT = object()
_SHOWN_ABOVE = frozenset({"tool_input", "hook_event_name"})
_NO_CONTEXT, _NO_CALLS = CardContext(), LastCalls(())


@frozen
class CardDocument:
    """All that a card says; a call that is allowed changed is shown as it is allowed.

    `notes`: what a reader must know before the request. `body`: what its tool is given; `changed`:
    how that was changed. `happening`: what its event tells beside that; `server`: what an MCP
    server wants of a person. `again`: what other hooks of the same call add. `offered`: what the
    agent suggests to allow from now on. `sent`: all that its hooks sent, for who asks to see it.
    """

    card: Card
    notes: tuple[Block, ...]
    body: Body
    changed: ChangedFields | None
    happening: Body
    server: ServerAsks | None
    again: tuple[AskedAgain, ...]
    offered: OfferedRules
    risk: CallRisk | None
    reason: CardReason
    context: CardContext
    last_calls: LastCalls

    def asks(self, spell: Speller = safe) -> Sentence:
        """Return what it asks, in words after its agent's name."""
        return sentence(self.card, spell)

    @property
    def request(self) -> tuple[Block, ...]:
        """The blocks that a person must have seen before the request is allowed."""
        changed = () if self.changed is None else (self.changed,)
        happening = self.happening.blocks if self.card.event.tool else self.happening.every
        return (*self.notes, *self.body.every, *changed, *happening, *self.again, self.offered)

    @property
    def sent(self) -> tuple[SentEvent, ...]:
        """What each of its hooks sent, without what the request shows."""
        return tuple(
            SentEvent(
                leg.event.name,
                leg.event.tool.name if leg.event.tool else "",
                _but(leg.event.fields, _SHOWN_ABOVE | leg.event.tells.keys()),
                leg.origin,
            )
            for leg in self.card.requests
        )


def card_document(
    card: Card, context: CardContext = _NO_CONTEXT, last_calls: LastCalls = _NO_CALLS
) -> CardDocument:
    """Return what a card says; `context` and `last_calls` are of `around`."""
    asked, *others = [leg.event for leg in card.requests]
    first, waits = as_allowed(card), card.state is State.WAITING
    answers = is_question(asked)
    if first is not asked:
        others = []
    tool_input = first.tool.input if first.tool else None
    texts = tool_input.values() if isinstance(tool_input, dict) else [tool_input]
    notes: list[Block] = [] if first is asked else [AsAllowed(waits, answers)]
    notes.append(HiddenLetters(tuple(text for text in texts if isinstance(text, str))))
    if is_plan(first) and not first.given.get("plan") and not names_plan(first):
        notes.append(OurWords(_NO_PLAN))
    if Verdict.KEEP_GOING in card.choices.verdicts:
        notes.append(KeptGoing(card.kept_going))
    edited = first is not asked and not answers
    again = (_again(first, event) for event in others)
    return CardDocument(
        card,
        tuple(notes),
        body(first),
        _changes(asked.given, first.given) if edited else None,
        happening(first),
        server_asks(first),
        tuple(block for block in again if block is not None),
        OfferedRules(suggestions(card)),
        CallRisk(card.risk) if has_risk(card) else None,
        CardReason(card.reason, card.restored, card.limits, votes(card)),
        context,
        last_calls,
    )


def votes(card: Card) -> str:
    """Return who said yes to a card, and for whom it waits; empty where one yes is enough.

    Who is asked to agree to a changed call also reads what the rules say against the change.
    """
    if card.ballot is None:
        return ""
    if card.state is State.WAITING:
        proposal = card.ballot.proposal
        if proposal is None or not proposal.despite:
            return card.still_needs
        against = "; ".join(proposal.despite)
        return f"{card.still_needs} The rules are against the call as changed: {against}."
    yes = names_of(card.ballot.votes)
    return f"{yes} said yes" if yes else ""


def suggestions(card: Card) -> tuple[Suggestion, ...]:
    """Return what the card's agent suggests to allow from now on."""
    each = (read_suggestions(leg.event.fields) for leg in card.requests)
    return next((offered for offered in each if offered), ())


def _but(fields: Mapping[str, Value], but: frozenset[str]) -> dict[str, Value]:
    return {name: value for name, value in fields.items() if name not in but}


def _changes(asked: Mapping[str, Value], allowed: Mapping[str, Value]) -> ChangedFields:
    """Return, field by field, how a call was changed before it was allowed."""
    changes = []
    for key in dict.fromkeys((*asked, *allowed)):
        before, after = (
            value if isinstance(value, str) else pretty(value)
            for value in (asked.get(key, ""), allowed.get(key, ""))
        )
        if before != after:
            changes.append((key, before, after))
    return ChangedFields(tuple(changes))


def _again(first: Event, event: Event) -> AskedAgain | None:
    """Return what another hook of the same call adds to the first, if anything."""
    asked = event.tool.input if event.tool else None
    if isinstance(asked, dict):
        first_fields = first.given
        asked = {
            key: value for key, value in asked.items() if first_fields.get(key, _ABSENT) != value
        }
    if event.tool is None or not asked:
        return None
    return AskedAgain(event.name, body(replace(event, tool=replace(event.tool, input=asked))))
