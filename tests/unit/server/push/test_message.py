"""What a phone is told, and what it is not."""

import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.card import Card
from crabhook.model.decision import Choices, Verdict
from crabhook.server.push.delivery import PushMessage, Urgency
from crabhook.server.push.message import LONGEST_WAIT, Addressee, title_of, trial, waiting
from crabhook.server.push.sealing import LARGEST
from tests.support import values
from tests.support.playbook import asking, bash

TO = Addressee("https://desk.example", "token")
DENIES = Choices((Verdict.ALLOW, Verdict.DENY))


def card(number: int = 7, cwd: str = "/home/ann/shop", command: str = "rm -rf /secret") -> Card:
    leg = bash("a", command, wait=100.0).leg("")
    return Card(
        number, (replace(leg, event=replace(leg.event, cwd=cwd)),), 0.0, choices=DENIES, revision=3
    )


def read(made: PushMessage) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(made.content)
    return whole


def test_one_call_is_told_with_its_place_and_a_bare_denial() -> None:
    made = waiting([card()], TO, 40.0, calls=True, seen=b"\xab\xcd")
    assert read(made) == {
        "web_push": 8030,
        "mutable": True,
        "app_badge": 1,
        "notification": {
            "title": "1 call waits in shop",
            "navigate": "https://desk.example/#c7",
            "tag": "waits",
            "renotify": True,
            "silent": False,
            "data": {
                "token": "token",
                "cards": [7],
                "deny": {"act": "deny", "card": 7, "seen": 3, "seen_sha256": "abcd"},
            },
            "actions": [
                {"action": "deny", "title": "Deny", "navigate": "https://desk.example/#c7"},
                {"action": "later", "title": "Later", "navigate": "https://desk.example/#c7"},
            ],
        },
    }
    assert (made.ttl, made.urgency, made.topic) == (60, Urgency.HIGH, "waits")


def test_several_are_one_notification_without_a_denial() -> None:
    notification = read(waiting([card(7), card(8)], TO, 0.0, calls=True))["notification"]
    assert notification["title"] == "2 calls wait in shop"
    assert notification["navigate"] == "https://desk.example/"
    assert notification["data"] == {"token": "token", "cards": [7, 8]}
    assert [action["action"] for action in notification["actions"]] == ["later"]


def test_what_ended_is_replaced_quietly() -> None:
    made = waiting([], TO, 0.0, calls=False)
    whole = read(made)
    assert whole["app_badge"] == 0
    assert whole["notification"]["silent"] is True
    assert whole["notification"]["renotify"] is False
    assert whole["notification"]["tag"] == "waits"
    assert whole["notification"]["actions"] == []
    assert made.urgency is Urgency.NORMAL
    assert made.topic == "waits"


def test_a_card_that_cannot_be_denied_has_no_such_action() -> None:
    other = replace(card(), choices=Choices((Verdict.ACCEPT, Verdict.DECLINE)))
    notification = read(waiting([other], TO, 0.0, calls=True))["notification"]
    assert "deny" not in notification["data"]
    assert [action["action"] for action in notification["actions"]] == ["later"]


@pytest.mark.parametrize(("left", "ttl"), [(0.2, 1), (-5.0, 1), (59.9, 59), (1e9, LONGEST_WAIT)])
def test_it_is_kept_for_the_phone_as_long_as_the_card_waits(left: float, ttl: int) -> None:
    assert waiting([card()], TO, 100.0 - left, calls=True).ttl == ttl


@pytest.mark.parametrize(
    ("cards", "title"),
    [
        ([], "Nothing waits any more"),
        ([card(1, "")], "1 call waits"),
        ([card(1), card(2, "/srv/api")], "2 calls wait in 2 projects"),
        ([Card(1, (asking("a", "Stop").leg(""),), 0.0)], "1 call waits in p"),
        ([card(1, "/x/" + "y" * 99)], "1 call waits in " + "y" * 39 + "…"),
    ],
)
def test_the_title_says_how_much_waits_and_where(cards: list[Card], title: str) -> None:
    assert title_of(cards) == title


def test_nothing_of_the_call_is_in_a_message() -> None:
    made = waiting([card(command="cat /etc/shadow # hunter2")], TO, 0.0, calls=True).content
    assert b"hunter2" not in made
    assert b"cat" not in made.replace(b"notification", b"")
    assert b"/home/ann" not in made


@given(st.integers(0, 2**32), st.lists(st.integers(1, 10**6), min_size=1, max_size=300))
def test_any_card_makes_a_message_that_can_be_sealed(seed: int, numbers: list[int]) -> None:
    leg = bash("a", "ls").leg("")
    draw = Random(seed)
    cards = [Card(number, (replace(leg, event=values.event(draw)),), 0.0) for number in numbers]
    made = waiting(cards, TO, 0.0, calls=True)
    whole = read(made)
    assert whole["notification"]["title"].isprintable()
    assert len(made.content) <= LARGEST


def test_a_test_says_that_it_is_one() -> None:
    made = trial(TO)
    assert read(made)["notification"]["tag"] == "trial" == made.topic
    assert read(made)["notification"]["data"]["token"] == "token"
