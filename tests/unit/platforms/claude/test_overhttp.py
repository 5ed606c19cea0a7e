"""Over HTTP every reply says what it says to a process, with no exit code to help."""

import json
from typing import Any

import pytest

from crabhook.model.decision import SILENCE, Decision, Reply, Verdict
from crabhook.model.event import Event
from crabhook.platforms.claude.events import EVENTS, Way
from crabhook.platforms.claude.write import body, write
from tests.support.rows import every_row


def told(reply: Reply) -> Any:
    return json.loads(body(reply))


def test_no_opinion_is_nothing_at_all() -> None:
    assert body(SILENCE) == b""
    assert body(Reply(stderr="crabhook: no opinion: nobody decided\n")) == b""


def test_an_object_is_sent_as_it_is_printed() -> None:
    reply = Reply({"decision": "block", "reason": "caf\u00e9 \ud800"})
    assert body(reply) == reply.stdout.strip()


BY_EXIT = [
    (name, verdict)
    for name, rule in EVENTS.items()
    for verdict, way in rule.verdicts.items()
    if way is Way.EXIT
]


@pytest.mark.parametrize(("name", "verdict"), BY_EXIT)
def test_what_blocks_by_the_exit_code_blocks_by_a_decision(name: str, verdict: Verdict) -> None:
    reply = write(Event("claude", name), Decision(verdict, reason="paint it"))
    assert reply.exit_code == 2
    assert told(reply) == {"decision": "block", "reason": "paint it"}


def test_what_goes_with_a_block_goes_with_it() -> None:
    decision = Decision(Verdict.KEEP_GOING, reason="paint it", user_message="it was told to")
    reply = write(Event("claude", "TeammateIdle"), decision)
    assert told(reply) == {
        "systemMessage": "it was told to",
        "decision": "block",
        "reason": "paint it",
    }


@every_row("name", EVENTS)
def test_no_verdict_is_lost_and_none_is_made_up(name: str) -> None:
    for verdict, way in EVENTS[name].verdicts.items():
        said = body(write(Event("claude", name), Decision(verdict, reason="why")))
        assert bool(said) is (way is not Way.SILENCE), verdict
    assert body(write(Event("claude", name), Decision(Verdict.PASS, reason="why"))) == b""


def test_the_two_events_known_to_need_it_are_there() -> None:
    assert {name for name, _ in BY_EXIT} == {"TeammateIdle", "TaskCompleted"}
