"""The runner: a clock and connections around the broker."""

import asyncio
import json
import logging
import os
from dataclasses import replace
from pathlib import Path

import pytest

from crabhook.app.wiring import wire
from crabhook.broker.messages import Answered, Fact, Refusal
from crabhook.desk.commands import (
    Decide,
    Done,
    EndOrders,
    Outcome,
    Refused,
    TakenOffer,
    TooLate,
)
from crabhook.desk.updates import Offer, Offering, Update
from crabhook.model.actor import OWNER, RuleActor
from crabhook.model.card import Origin, State
from crabhook.model.event import Event
from crabhook.model.order import Order, OrderKind
from crabhook.platforms import PLATFORMS
from crabhook.rulebook.files import RuleFiles
from crabhook.server.core import runner as module
from crabhook.server.core.intake import Intake
from crabhook.server.core.local_desk import LocalDesk
from crabhook.server.core.parts import Parts
from crabhook.server.core.pending_call import PendingCall, RefusedError
from crabhook.server.core.rules_in_force import RulesInForce
from crabhook.server.core.runner import Runner
from crabhook.store.interface import Query
from crabhook.store.opening import open_history, open_writer
from crabhook.store.recorder import Recorder
from tests.support.offering import NARROW
from tests.support.playbook import ALLOW, DENY, asking, bash, is_allow
from tests.support.runners import bare_runner
from tests.support.seat import hears, seat


def enter(runner: Runner, ticket: str = "a", wait: float = 60.0, **how: str) -> PendingCall:
    return runner.enter(
        bash(ticket, "ls", f"id of {ticket}", wait=runner.now() + wait, **how), None
    )


async def test_a_hook_waits_until_the_operator_decides() -> None:
    runner = bare_runner()
    pending = enter(runner)
    assert not pending.over
    card = seat(runner).answer(1, ALLOW)
    assert card.state is State.DECIDED
    assert is_allow(await pending.wait())
    assert pending.confirm
    runner.close()


async def test_the_clock_wakes_the_broker() -> None:
    runner = bare_runner()
    late, soon = enter(runner, "late", 60.0), enter(runner, "soon", 0.02)
    async with asyncio.timeout(60):
        with pytest.raises(RefusedError) as refused:
            await soon.wait()
    assert refused.value.refusal is Refusal.UNDECIDED
    assert not late.over
    runner.close()


async def test_a_hook_that_is_cancelled_leaves() -> None:
    runner = bare_runner()
    hook = asyncio.ensure_future(enter(runner).wait())
    await asyncio.sleep(0)
    hook.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hook
    assert not runner.broker.waiting()
    assert runner.broker.card(1).state is State.WITHDRAWN  # type: ignore[union-attr]
    assert "pending=0" in repr(runner)


async def test_a_lost_place_is_refused_and_a_stolen_ticket_at_once() -> None:
    runner = bare_runner()
    old, _ = enter(runner), enter(runner)
    with pytest.raises(RefusedError) as refused:
        await old.wait()
    assert refused.value.refusal is Refusal.SUPERSEDED
    with pytest.raises(RefusedError) as refused:
        enter(runner, secret="guess")
    assert refused.value.refusal is Refusal.NOT_YOURS
    old.leave()
    assert len(runner.broker.waiting()) == 1
    runner.close()


async def test_an_observed_event_has_its_reply_at_once() -> None:
    runner = bare_runner()
    pending = runner.enter(asking("a", "Notification", wait=60), None)
    assert pending.over
    assert not pending.confirm
    assert [entry.event.name for entry in runner.broker.feed()] == ["Notification"]


async def test_the_receipt_settles_whether_it_was_delivered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "RECEIPT_WITHIN", 0.02)
    runner = bare_runner()
    told = asyncio.Event()
    runner.listen(lambda news: told.set() if getattr(news, "delivered", None) is False else None)
    for ticket in ("a", "b", "c"):
        enter(runner, ticket)
    seat(runner).answer(1, DENY)
    seat(runner).answer(2, DENY)
    assert not runner.confirm("a", "guess")
    assert not runner.confirm("c", "secret of c")
    assert runner.confirm("a", "secret of a")
    assert runner.broker.card(1).delivered  # type: ignore[union-attr]
    async with asyncio.timeout(60):
        await told.wait()
    assert runner.broker.card(2).delivered is False  # type: ignore[union-attr]
    assert not runner.confirm("b", "secret of b")
    runner.close()


async def test_a_closed_runner_turns_all_away() -> None:
    runner = bare_runner()
    before = enter(runner)
    runner.close()
    with pytest.raises(RefusedError, match="closed the desk"):
        await before.wait()
    with pytest.raises(RefusedError, match="closed the desk"):
        enter(runner, "b")
    assert not runner.broker.waiting()


async def test_a_receipt_still_counts_after_closing() -> None:
    runner = bare_runner()
    enter(runner)
    seat(runner).answer(1, ALLOW)
    runner.close()
    assert runner.confirm("a", "secret of a")
    assert runner.broker.card(1).delivered  # type: ignore[union-attr]


async def test_a_screen_that_fails_harms_neither_agents_nor_other_screens(
    caplog: pytest.LogCaptureFixture,
) -> None:
    runner = bare_runner()
    seen: list[object] = []

    def broken(news: object) -> None:
        raise RuntimeError("a fault")

    hears(runner, broken)
    stop = hears(runner, seen.append)
    with caplog.at_level(logging.ERROR):
        enter(runner)
    assert "a screen failed" in caplog.text
    assert len(seen) == 1
    stop()
    seat(runner).answer(1, ALLOW)
    assert len(seen) == 1
    runner.close()


async def test_something_nobody_asked_about_can_be_shown() -> None:
    runner = bare_runner()
    seen: list[object] = []
    hears(runner, seen.append)
    runner.observe(Event("claude", "?", fields={"a": "x" * 9_000}), "unreadable")
    (entry,) = seen
    assert entry.text == "unreadable"  # type: ignore[attr-defined]
    assert len(str(entry.event.fields)) < 3_000  # type: ignore[attr-defined]


async def test_what_was_done_to_the_server_itself_stands_out() -> None:
    runner = bare_runner()
    runner.warn("its socket was replaced")
    runner.announce("the rules are read again")
    assert [(entry.text, entry.alarm) for entry in runner.broker.feed()] == [
        ("its socket was replaced", True),
        ("the rules are read again", False),
    ]


async def test_a_screen_may_answer_while_it_is_told() -> None:
    runner = bare_runner()
    hears(
        runner,
        lambda news: (
            seat(runner).decide(1, ALLOW) if getattr(news, "state", "") == "waiting" else None
        ),  # type: ignore[arg-type]
    )
    assert is_allow(await enter(runner).wait())
    runner.close()


async def test_an_answer_given_by_a_listener_waits_its_turn() -> None:
    """Who listens hears the same, in the same order, and as it was when it happened."""
    runner, heard = bare_runner(), list[tuple[int, str, str]]()

    def answers(news: object) -> None:
        if getattr(news, "state", "") == "waiting":
            seat(runner).decide(1, ALLOW)
            runner.announce("allowed by a listener")

    def hears_of(update: Update) -> None:
        what = getattr(update.news, "state", "") or getattr(update.news, "text", "")
        now = runner.broker.card(1)
        heard.append((update.number, what, now.state if now else ""))

    hears(runner, answers)
    LocalDesk(runner, OWNER).subscribe(hears_of)
    enter(runner)
    assert heard == [
        (1, "", ""),  # the snapshot
        (2, "waiting", "waiting"),
        (3, "", "waiting"),  # there is a session more
        (4, "decided", "decided"),
        (5, "allowed by a listener", "decided"),
    ]
    runner.close()


async def test_of_two_answers_of_listeners_one_comes_too_late_and_harms_nobody() -> None:
    runner, outcomes = bare_runner(), list[Outcome]()

    def answers(news: object) -> None:
        if getattr(news, "state", "") == "waiting":
            seat(runner).replica.submit(Decide(1, 1, ALLOW), outcomes.append)

    for _ in range(2):
        hears(runner, answers)
    assert is_allow(await enter(runner).wait())
    late = TooLate("#1 is already decided: this answer changed nothing", OWNER)
    assert outcomes == [Done(), late]
    runner.close()


async def test_a_log_that_fails_harms_no_decision_and_nothing_that_waited_behind_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard = list[str]()

    def tells(news: object) -> None:
        text = getattr(news, "text", "")
        heard.append(text)
        if text == "first":
            runner.announce("second")

    def fails(_event: object, _decided: object) -> None:
        runner.announce("first")
        raise OSError("no log can be written")

    runner = bare_runner(decided=[fails])
    pending = enter(runner)
    hears(runner, tells)
    seat(runner).answer(1, ALLOW)
    assert is_allow(await pending.wait())
    assert "no log can be written" in caplog.text
    assert heard[-2:] == ["first", "second"]
    runner.close()


async def test_the_fault_of_a_fact_that_waited_is_none_of_the_hook_before_it(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook's request is on its card, and no fault of what a screen did then reaches the hook."""
    runner, outcomes = bare_runner(), list[Outcome]()
    take = runner.take

    def fails(fact: Fact, then: object = None) -> None:
        if isinstance(fact, Answered):
            raise OSError("a fault in the broker")
        take(fact, then)  # type: ignore[arg-type]

    def answers(news: object) -> None:
        if getattr(news, "state", "") == "waiting":
            seat(runner).replica.submit(Decide(1, 1, ALLOW), outcomes.append)
            runner.announce("said after it")

    monkeypatch.setattr(runner, "take", fails)
    hears(runner, answers)
    assert not enter(runner).over
    assert "a fault in carrying out Decide" in caplog.text
    assert [type(one) for one in outcomes] == [Refused]
    assert runner.broker.feed()[-1].text == "said after it"
    runner.close()


async def test_an_agents_last_words_are_read_from_its_transcript(tmp_path: Path) -> None:
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "Because."}]}}
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(json.dumps(said) + "\n")
    asked = bash("a", "ls", "id", wait=1e9)
    fields = {"transcript_path": str(transcript)}
    here = Origin(host=os.uname().nodename)
    runner = bare_runner()
    runner.enter(replace(asked, event=replace(asked.event, fields=fields), origin=here), None)
    async with asyncio.timeout(60):
        while seat(runner).last_words(1) is None:  # noqa: ASYNC110 - as the screen asks
            await asyncio.sleep(0.005)
    assert seat(runner).last_words(1) == "Because."
    runner.close()


def taken(offer: Offer) -> TakenOffer:
    return TakenOffer(offer.id, offer.expires)


async def test_only_a_rule_that_was_offered_for_that_card_is_written(tmp_path: Path) -> None:
    rules = Rules(tmp_path)
    runner = rules.runner
    enter(runner)
    enter(runner, "b")
    offered = taken((await rules.offered(1)).offers[0])
    for number, wrong in ((2, offered), (1, taken(NARROW))):
        why = (
            f"no rule was written, and nothing decided: no such rule was offered for card #{number}"
        )
        assert seat(runner).remember(number, wrong, ALLOW) == Refused(why)
    assert not rules.files.user.exists()
    assert len(runner.broker.waiting()) == 2
    runner.close()
    rules.recorder.close()


class Rules:
    """Rules in a folder, offered by a runner that records what it does."""

    def __init__(self, folder: Path) -> None:
        self.files = RuleFiles(folder / "config")
        self.law = RulesInForce(self.files)
        self.record = folder
        self.recorder = Recorder(lambda: open_writer(folder))
        parts = Parts(PLATFORMS, self.recorder)
        self.runner = wire(self.law, self.record, parts).runner

    async def offered(self, number: int) -> Offering:
        async with asyncio.timeout(60):
            while (found := seat(self.runner).offers(number)) is None:  # noqa: ASYNC110 - as the screen asks
                await asyncio.sleep(0.005)
        return found

    def recorded(self, kind: str) -> list[str]:
        with open_history(self.record) as history:
            return [record.body for record in history.find(Query(kinds=(kind,)))]


async def test_a_rule_is_written_recorded_and_decides_what_comes_and_what_waits(
    tmp_path: Path,
) -> None:
    rules = Rules(tmp_path)
    runner = rules.runner
    calls = [enter(runner, ticket) for ticket in ("a", "b")]
    narrow = taken((await rules.offered(1)).offers[1])
    assert seat(runner).remember(1, narrow, ALLOW) == Done()
    assert runner.broker.card(1).decision == ALLOW  # type: ignore[union-attr]
    asked = bash("c", "ls", "id of c", wait=runner.now() + 60)
    for pending in (*calls, await Intake(runner).enter(asked)):
        assert is_allow(await pending.wait())
    assert not runner.broker.waiting()
    by = runner.broker.card(2).decided.by  # type: ignore[union-attr]
    assert isinstance(by, RuleActor)
    assert by.ref.startswith("allow Bash(ls)")
    (told,) = rules.recorded("operator")
    assert "added a rule on #1: allow Bash(ls) \\u00b7 in project /p" in told
    assert len(rules.recorded("decided")) == 3
    runner.close()
    rules.recorder.close()


async def test_the_record_says_which_order_an_operator_ended(tmp_path: Path) -> None:
    rules = Rules(tmp_path)
    desk = seat(rules.runner)
    for session in ("s1", "s2"):
        desk.order(Order(OrderKind.HOLD_ALL, session=session))
    desk.revoke(frozenset({2}))
    assert [order.id for order in desk.replica.orders()] == [1]
    *_, told = map(json.loads, rules.recorded("operator"))
    assert told["what"] == "ended: hold everything of session=s2"
    assert told["order"] == {"id": 2, "kind": "hold everything of"}
    assert told["actor"]["name"] == "operator"
    again = desk.outcome(EndOrders(frozenset({2})))
    assert again == Refused("there is no such order to end")
    rules.runner.close()
    rules.recorder.close()


async def test_a_rule_is_not_written_where_its_card_cannot_be_allowed(tmp_path: Path) -> None:
    rules = Rules(tmp_path)
    runner = rules.runner
    enter(runner).leave()
    enter(runner, "b")
    rule = taken((await rules.offered(2)).offers[0])
    late = seat(runner).remember(1, rule, ALLOW)
    assert isinstance(late, TooLate)
    assert late.why.endswith("this answer changed nothing")
    assert seat(runner).remember(9, rule, ALLOW) == TooLate("there is no #9")
    assert isinstance(seat(runner).remember(2, rule, replace(ALLOW, output="x")), Refused)
    assert not rules.files.user.exists()
    assert len(runner.broker.waiting()) == 1
    runner.close()
    rules.recorder.close()


async def test_a_card_is_not_allowed_where_its_rule_cannot_be_written(tmp_path: Path) -> None:
    rules = Rules(tmp_path)
    runner = rules.runner
    pending = enter(runner)
    rule = taken((await rules.offered(1)).offers[0])
    rules.files.folder.mkdir()
    rules.files.user.write_text("nonsense", encoding="utf-8")
    outcome = seat(runner).remember(1, rule, ALLOW)
    assert isinstance(outcome, Refused)
    assert outcome.why.startswith("no rule was written, and nothing decided")
    assert not pending.over
    assert rules.recorded("operator") == []
    runner.close()
    rules.recorder.close()


async def test_a_runner_without_rules_offers_none() -> None:
    runner = bare_runner()
    enter(runner)
    assert seat(runner).offers(1) == Offering(why="no rules are kept here")
    assert seat(runner).remember(1, taken(NARROW), ALLOW) == Refused("no rules are kept here")
    assert len(runner.broker.waiting()) == 1
    runner.close()


async def test_tests_that_fail_are_shown_in_red_and_recorded(tmp_path: Path) -> None:
    rules = Rules(tmp_path)
    rules.files.folder.mkdir()
    text = '[[rule]]\nverdict = "allow"\nmatch = "Bash(ls)"\n[[test]]\ndeny = "ls"\n'
    rules.files.user.write_text(text, encoding="utf-8")
    (pending,) = [await Intake(rules.runner).enter(bash("c", "ls", "id of c"))]
    assert len(rules.runner.broker.waiting()) == 1
    assert rules.runner.troubles() == (rules.law.failing,)
    assert rules.law.failing in json.loads(rules.recorded("server")[0]).values()
    pending.leave()
    rules.runner.close()
    rules.recorder.close()
