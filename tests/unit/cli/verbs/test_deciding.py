"""A verb decides what was looked at, once, and its exit code says what became of it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from crabhook.cli.commands import CHANGED, DONE, FAILED, TOO_LATE
from crabhook.cli.verbs.attached import Attached, Teller, attached, seen
from crabhook.cli.verbs.deciding import CardResult, Wish, answers, decide, denied
from crabhook.desk.commands import Claim, Decide
from crabhook.model.actor import Operator, OrderKind
from crabhook.model.card import Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.server.core.local_desk import LocalDesk
from crabhook.ui.commands.words import LineError
from tests.support.desk import PlayedDesk

SCHEMAS = json.loads((Path(__file__).parents[4] / "docs/reference/verbs.schema.json").read_text())
CARD = Draft202012Validator({**SCHEMAS, "$ref": "#/$defs/card"})
RESULT = Draft202012Validator({**SCHEMAS, "$ref": "#/$defs/result"})
QUESTIONS = [
    {"question": "Which?", "header": "h", "options": [{"label": "A"}, {"label": "B"}]},
    {"question": "Why?", "header": "w", "options": [{"label": "C"}, {"label": "D"}]},
]


def call(command: str = "ls", tool: str = "Bash", **given: Any) -> dict[str, Any]:
    return {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "cwd": "/p",
        "tool_name": tool,
        "tool_input": given or {"command": command},
        "tool_use_id": "t1",
    }


async def decided(desk: PlayedDesk, wish: Wish, number: int = 1) -> CardResult:
    async with attached(desk) as here:
        return await decide(wish, number, here)


@pytest.mark.parametrize(
    ("verb", "rest", "verdict"),
    [("allow", "", "allow"), ("deny", "no", "deny"), ("hand-back", "", "ask")],
)
async def test_a_verb_decides_as_the_plain_desks_word_does(
    verb: str, rest: str, verdict: str
) -> None:
    desk = PlayedDesk()
    asked = desk.ask(call())
    told = await decided(desk, Wish(verb, rest))
    assert told.code == DONE
    specific = json.loads(desk.replies[asked].stdout)["hookSpecificOutput"]
    assert specific["permissionDecision"] == verdict


async def test_a_verb_lets_a_refused_call_run_once() -> None:
    desk = PlayedDesk()
    refused = {**call(), "hook_event_name": "PermissionDenied", "permission_mode": "auto"}
    desk.ask(refused, stance=Stance.COMPANION)
    assert (await decided(desk, Wish("retry"))).code == DONE
    assert [order.kind for order in desk.runner.broker.orders()] == [OrderKind.LET_ONCE]


async def test_a_card_that_ended_is_too_late_and_says_who_decided_it() -> None:
    desk = PlayedDesk()
    desk.ask(call())
    await decided(desk, Wish("deny", "no"))
    told = await decided(desk, Wish("allow"))
    assert told == CardResult(1, "#1 has ended: DENIED by operator, 0 s ago", TOO_LATE)


async def test_of_two_who_decide_at_once_the_later_hears_who_was_first_from_where_and_when() -> (
    None
):
    """The verb had seen a card that waits: the answer itself tells of the end."""
    desk = PlayedDesk()
    desk.ask(call())
    async with attached(desk) as here:
        desk.runner._busy = True  # so that both answers come before either is carried out
        ann = Operator("o-ann", "Ann", "laptop", "192.0.2.1", "decider")
        deny = Decide(1, here.replica.waiting()[0].revision, Decision(Verdict.DENY, "no"))
        LocalDesk(desk.runner, ann).submit(deny)
        going = asyncio.ensure_future(decide(Wish("allow"), 1, here))
        await asyncio.sleep(0)
        desk.runner._busy = False
        desk.runner.do(lambda: None)
        told = await going
        assert told.words == (
            "#1 has ended: DENIED by Ann at laptop, 0 s ago, this answer changed nothing"
        )
        RESULT.validate(told.data)
        assert {
            key: told.data[key] for key in ("result", "outcome", "by", "device", "address")
        } == {
            "result": "too-late",
            "outcome": "denied",
            "by": "Ann",
            "device": "laptop",
            "address": "192.0.2.1",
        }
        late = await decide(Wish("allow"), 1, here)
        assert late.words == "#1 has ended: DENIED by Ann at laptop, 0 s ago"
        RESULT.validate(late.data)


def test_a_denial_takes_the_words_behind_its_numbers_for_its_reason() -> None:
    assert denied(["1", "no", "thanks"], "") == ((1,), "no thanks")
    assert denied(["1", "2"], "") == ((1, 2), "")
    assert denied(["1"], "not now") == ((1,), "not now")
    with pytest.raises(LineError, match="'no' is no card's number"):
        denied(["no", "1"], "")
    with pytest.raises(LineError, match="one reason"):
        denied(["1", "no"], "not now")


async def test_what_was_not_seen_is_not_decided() -> None:
    desk = PlayedDesk()
    asked = desk.ask(call())
    async with attached(desk) as here:
        card = here.replica.waiting()[0]
    assert (await decided(desk, Wish("allow", seen="0" * 64))).code == CHANGED
    assert asked not in desk.replies
    assert (await decided(desk, Wish("allow", seen=seen(card)[:12]))).code == DONE


async def test_other_inputs_are_other_things_seen() -> None:
    desk = PlayedDesk()
    desk.ask(call(x=1))
    desk.ask(call(x=True))
    async with attached(desk) as here:
        one, other = here.replica.waiting()
    assert seen(one) != seen(other)


async def test_a_number_of_no_card_fails_and_a_denial_has_a_reason() -> None:
    desk = PlayedDesk()
    desk.ask(call())
    assert (await decided(desk, Wish("allow"), 9)).code == FAILED
    with pytest.raises(LineError, match="a denial has a reason"):
        await decided(desk, Wish("deny"))


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        (["1=2", "2=1"], {"Which?": "B", "Why?": "C"}),
        (["1=1", '2=own "words" \\ here'], {"Which?": "A", "Why?": 'own "words" \\ here'}),
    ],
)
async def test_answers_are_those_of_the_command_line(
    words: list[str], chosen: dict[str, str]
) -> None:
    desk = PlayedDesk()
    asked = desk.ask(call(tool="AskUserQuestion", questions=QUESTIONS))
    assert (await decided(desk, Wish("answer", answers(words)))).code == DONE
    specific = json.loads(desk.replies[asked].stdout)["hookSpecificOutput"]
    assert specific["updatedInput"]["answers"] == chosen


def told(here: Attached) -> dict[str, Any]:
    return Teller(here.replica.now, here.replica.looking).card(here.replica.waiting()[0])


async def test_a_waiting_card_is_told_with_all_a_script_needs() -> None:
    desk = PlayedDesk()
    desk.ask(call("rm -rf x"))
    async with attached(desk) as here:
        shown = told(here)
    assert {key: shown[key] for key in ("number", "platform", "event", "tool", "input")} == {
        "number": 1,
        "platform": "claude",
        "event": "PreToolUse",
        "tool": "Bash",
        "input": {"command": "rm -rf x"},
    }
    assert shown["project"] == "p"
    assert shown["asked_at"] < shown["wait_until"]
    CARD.validate(shown)


async def test_who_looks_at_a_card_at_another_desk_is_told_with_it() -> None:
    desk = PlayedDesk()
    desk.ask(call())
    for name in ("bob", "eve"):
        whose = Operator(name, name.title(), "laptop", "192.0.2.1")
        LocalDesk(desk.runner, whose).submit(Claim(1))
    async with attached(desk) as here:
        assert told(here)["claimed_by"] == "Bob at laptop, Eve at laptop"


async def test_a_card_that_ended_is_told_as_the_schema_says() -> None:
    desk = PlayedDesk()
    desk.ask(call())
    async with attached(desk) as here:
        await decide(Wish("deny", "no"), 1, here)
        teller = Teller(here.replica.now, here.replica.looking)
        (ended,) = here.replica.ended()
        CARD.validate(teller.card(ended))
