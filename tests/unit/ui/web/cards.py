"""A desk with a card of each kind, and what a page posts about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crabhook.model.actor import OrderKind
from crabhook.model.order import Order
from tests.support.desk import PlayedDesk
from tests.support.offering import BOTH, DENIALS
from tests.support.sitting import QUESTIONS, call, happening

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.desk.commands import Command, Outcome
    from crabhook.model.card import Card

SUGGESTED = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "make *"}],
    "behavior": "allow",
    "destination": "localSettings",
}
FORM = {
    "mcp_server_name": "github",
    "mode": "form",
    "message": "A new issue",
    "requested_schema": {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "kind": {"type": "string", "enum": ["bug", "wish"]},
            "votes": {"type": "integer"},
            "private": {"type": "boolean"},
            "labels": {"type": "array", "items": {"enum": ["a", "b", "c"]}},
        },
        "required": ["title"],
    },
}
PLAN = "# Plan\n\n1. Delete everything\n2. Build"
PERMISSION: dict[str, Any] = {"hook_event_name": "PermissionRequest"}
CARDS: dict[str, Mapping[str, Any]] = {
    "call": call("Bash", {"command": "make all", "timeout": 7}),
    "permission": call(**PERMISSION, permission_suggestions=[SUGGESTED]),
    "questions": call("AskUserQuestion", QUESTIONS),
    "plan": call("ExitPlanMode", {"plan": PLAN, "more": [1]}, **PERMISSION),
    "form": happening("Elicitation", **FORM),
    "stop": happening("Stop", last_assistant_message="All done."),
    "denial": call(hook_event_name="PermissionDenied", reason="not here"),
    "result": call(hook_event_name="PostToolUse", tool_response={"stdout": "3 passed"}),
}
KINDS = tuple(CARDS)


def desk_of(kind: str, **options: Any) -> tuple[PlayedDesk, Card]:
    """Return a desk with one card of that kind, and the card."""
    return desk_with(CARDS[kind], **options)


def desk_with(payload: Mapping[str, Any], **options: Any) -> tuple[PlayedDesk, Card]:
    """Return a desk with the card of an event, and the card."""
    desk = PlayedDesk(**options)
    if payload.get("hook_event_name") in desk.replica.holdable():
        desk.order(Order(OrderKind.HOLD, payload["hook_event_name"]))
    name = desk.ask(payload)
    (card,) = [card for card in desk.waiting() if card.requests[0].id == name]
    desk.offered[card.number], desk.denials[card.number] = BOTH, DENIALS
    return desk, card


def called(card: Card, act: str, value: Any = None, **parts: Any) -> dict[str, Any]:
    """Return a call of a page about a card."""
    return {
        "id": f"id-{act}",
        "card": card.number,
        "seen": card.revision,
        "act": act,
        "value": value,
        "at": 1,
        "rpc": "Decide",
        **parts,
    }


def outcome_of(desk: PlayedDesk, command: Command) -> Outcome:
    outcomes: list[Outcome] = []
    desk.replica.submit(command, outcomes.append)
    (outcome,) = outcomes
    return outcome
