"""What a phone is told: the JSON of declarative web push, which a worker reads too.

It says how much waits and in which project. It has no text of a call: a lock screen shows it to
everybody. Docs: docs/reference/push.md.
"""

import json
from collections.abc import Sequence
from typing import Any

from crabhook.datatypes import frozen
from crabhook.model.card import Card
from crabhook.model.decision import Verdict
from crabhook.present.summary import project
from crabhook.server.operators.rights import kind_of
from crabhook.server.push.delivery import PushMessage, Urgency

DECLARATIVE = 8030  # the number that marks the format
MOST_NAMED = 64  # cards by their numbers
LONGEST_NAME = 40  # letters of a project's name
LONGEST_WAIT = 24 * 3600  # seconds that a service keeps a message at most
TRIAL_FOR = 300  # seconds that it keeps one that is only a test

WAITS, TRIAL = "waits", "trial"
"""The tags: a notification replaces the notification before it of the same tag."""


@frozen
class Addressee:
    """Where a message's phone has its page, and the token that its worker shows."""

    page: str
    token: str


def waiting(
    cards: Sequence[Card], to: Addressee, now: float, *, calls: bool, seen: bytes = b""
) -> PushMessage:
    """Return the message that these cards wait for a person, the first to come first.

    It `calls` the person, or it quietly replaces a message that named more. `seen` names the
    inputs of a card that is alone: a denial is of the card as it was then.
    """
    alone = cards[0] if len(cards) == 1 else None
    navigate = f"{to.page}/#c{alone.number}" if alone else f"{to.page}/"
    actions = [_DENY] if alone and Verdict.DENY in alone.choices.verdicts else []
    data: dict[str, Any] = {
        "token": to.token,
        "cards": [card.number for card in cards[:MOST_NAMED]],
    }
    if actions and alone:
        data["deny"] = {
            "act": "deny",
            "card": alone.number,
            "seen": alone.revision,
            "seen_sha256": seen.hex(),
        }
    if cards:
        actions.append(_LATER)
    notification = {
        "title": title_of(cards),
        "navigate": navigate,
        "tag": WAITS,
        "renotify": calls,
        "silent": not calls,
        "data": data,
        "actions": [{**action, "navigate": navigate} for action in actions],
    }
    left = max((card.wait_until - now for card in cards), default=TRIAL_FOR)
    ttl = max(1, int(min(left, LONGEST_WAIT)))
    urgency = Urgency.HIGH if calls else Urgency.NORMAL
    return PushMessage(_content(notification, badge=len(cards)), ttl, urgency, WAITS)


_DENY = {"action": "deny", "title": "Deny"}
_LATER = {"action": "later", "title": "Later"}


def trial(to: Addressee) -> PushMessage:
    """Return a message that only tries the way to a phone."""
    notification = {
        "title": "crabhook can call you here",
        "navigate": f"{to.page}/",
        "tag": TRIAL,
        "renotify": True,
        "silent": False,
        "data": {"token": to.token, "cards": []},
        "actions": [],
    }
    return PushMessage(_content(notification), TRIAL_FOR, Urgency.HIGH, TRIAL)


def _content(notification: dict[str, Any], badge: int | None = None) -> bytes:
    # Mutable: where there is a worker it shows the notification and reports that; where it does
    # not run, the phone shows it by itself.
    whole: dict[str, Any] = {"web_push": DECLARATIVE, "notification": notification, "mutable": True}
    if badge is not None:
        whole["app_badge"] = badge
    return json.dumps(whole, separators=(",", ":")).encode()


def title_of(cards: Sequence[Card]) -> str:
    """Return how much waits, and where, in one line."""
    if not cards:
        return "Nothing waits any more"
    kinds = {kind_of(card) for card in cards}
    kind = kinds.pop() if len(kinds) == 1 else "card"
    names = list(dict.fromkeys(_name(card) for card in cards))
    places = names[0] if len(names) == 1 else f"{len(names)} projects"
    many = len(cards) > 1
    if all(card.went_on for card in cards):
        open_cards = f"{len(cards)} {kind}{'s' * many} undecided"
        return open_cards + (f" in {places}" if places else "")
    return f"{len(cards)} {kind}{'s' * many} wait{'s' * (not many)}" + (
        f" in {places}" if places else ""
    )


def _name(card: Card) -> str:
    name = project(card.event)
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
