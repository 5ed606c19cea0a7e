"""A server that begins where another was killed: a runner, a recorder and a store, no process."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.broker.messages import Answered, Refusal
from crabhook.desk.commands import Steer, StopSession
from crabhook.model.actor import OWNER, UNKNOWN
from crabhook.model.card import NO_RISK
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import OrderKind, Standing
from crabhook.rulebook.files import RuleFiles
from crabhook.server.core import runner as module
from crabhook.server.core.history import read_page
from crabhook.server.core.intake import Intake
from crabhook.server.core.pending_call import RefusedError
from crabhook.server.core.persisted_orders import Steering, kept, taken_up
from crabhook.server.core.rules_in_force import RulesInForce
from crabhook.server.core.runner import Runner
from crabhook.store.interface import Query
from crabhook.store.opening import open_history, open_writer
from crabhook.store.recorder import OnTrouble, Recorder
from tests.support.playbook import ALLOW, DENY, asking, bash, done
from tests.support.runners import bare_runner
from tests.support.seat import hears, seat

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.server.core.pending_call import PendingCall


def enter(runner: Runner, ticket: str) -> PendingCall:
    return runner.enter(bash(ticket, "ls", f"id of {ticket}", wait=runner.now() + 60), None)


async def killed_with(folder: Path, *decided: int) -> None:
    """Run a server that takes two requests, decides these cards, and ends before any receipt."""
    store = open_writer(folder)
    before = bare_runner(Recorder(lambda: store))
    enter(before, "a")
    enter(before, "b")
    for number in decided:
        seat(before).answer(number, DENY)
    for _, alarm in before._receipts._expected.values():
        alarm.cancel()
    store.close()


@pytest.mark.parametrize("decided", [(1, 2), ()], ids=["before", "after"])
async def test_what_became_of_an_answer_is_told_once_whenever_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decided: tuple[int, ...]
) -> None:
    monkeypatch.setattr(module, "COME_BACK_WITHIN", 0.05)
    await killed_with(tmp_path, *decided)
    recorder = Recorder(lambda: open_writer(tmp_path))
    runner = bare_runner(recorder)
    await runner.restore()
    for card in runner.broker.waiting():
        seat(runner).answer(card.number, DENY)  # while nobody is back
    place = enter(runner, "a")
    assert place.confirm
    assert b"not here" in (await place.wait()).stdout
    assert runner.confirm("a", "secret of a")
    await asyncio.sleep(0.2)
    runner.close()
    recorder.close()
    with open_history(tmp_path) as history:
        told = [
            (one.kind, one.request_id, json.loads(one.body).get("whole")) for one in history.find()
        ]
    assert [one for one in told if one[0] == "delivered"] == [
        ("delivered", "a", True),
        ("delivered", "b", False),
    ]
    assert [kind for kind, *_ in told].count("decided") == 2


async def test_what_is_known_of_an_answer_is_not_told_by_the_next_server(tmp_path: Path) -> None:
    await killed_with(tmp_path, 1, 2)
    for _ in range(2):
        recorder = Recorder(lambda: open_writer(tmp_path))
        runner = bare_runner(recorder)
        await runner.restore()
        owed = set(runner._receipts._expected)
        for request_id in owed:
            enter(runner, request_id)
            assert runner.confirm(request_id, f"secret of {request_id}")
        runner.close()
        recorder.close()
    assert owed == set()


async def test_a_card_taken_up_again_has_its_risk(tmp_path: Path) -> None:
    await killed_with(tmp_path)
    recorder, law = (
        Recorder(lambda: open_writer(tmp_path)),
        RulesInForce(RuleFiles(tmp_path / "rules")),
    )
    runner = bare_runner(recorder, rules=law)
    await runner.restore()
    assert [card.risk for card in runner.broker.waiting()] == [NO_RISK, NO_RISK]
    runner.close()
    recorder.close()


async def test_a_card_taken_up_again_is_of_the_machine_that_it_came_from(tmp_path: Path) -> None:
    for began_again in (False, True):
        recorder = Recorder(lambda: open_writer(tmp_path))
        runner = bare_runner(recorder)
        await runner.restore()
        if not began_again:
            asked = bash("a", "ls", wait=runner.now() + 60)
            asked = replace(asked, origin=replace(asked.origin, machine="build1"))
            await Intake(runner).enter(asked)
        (card,) = runner.broker.waiting()
        assert card.restored is began_again
        assert card.requests[0].origin.machine == card.event.machine == "build1"
        assert [one.machine for one in runner.broker.live(runner.now())] == ["build1"]
        if began_again:
            runner.handle(Answered(card.number, ALLOW, OWNER, runner.now()))
        recorder.close()
    with open_history(tmp_path) as history:
        (first, *_) = history.find(Query(kinds=("asked",)))
        assert {one.data()["machine"] for one in history.find() if one.session} == {"build1"}
    assert first.data()["from"]["machine"] == "build1"  # type: ignore[index]
    page = read_page(tmp_path, RuleFiles(tmp_path / "rules"), 0)
    assert [one.card.event.machine for one in page.entries] == ["build1"]


async def test_trouble_with_the_record_is_told_at_once_and_its_end_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crabhook.store.recorder.RETRY_AFTER", 0.0)
    recorder = Recorder(lambda: open_writer(tmp_path))
    runner = bare_runner(recorder)
    told: list[str] = []
    hears(runner, lambda news: told.append(getattr(news, "text", "")))
    sits = seat(runner)
    keeping = asyncio.ensure_future(runner.keep_record())
    with closing(sqlite3.connect(tmp_path / "record.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        enter(runner, "a")
        assert ["NOT RECORDED" in text for text in told if text] == [True]
        assert ["NOT RECORDED" in one for one in sits.replica.troubles()] == [True]
        enter(runner, "b")
        sits.answer(1, DENY)
        assert ["NOT RECORDED" in text for text in told if text] == [True]  # and only once
        other.execute("ROLLBACK")
    async with asyncio.timeout(60):
        while "the record is written again" not in told:  # noqa: ASYNC110 - as nobody tells sooner
            await asyncio.sleep(0.02)
    keeping.cancel()
    runner.close()
    recorder.close()


async def test_trouble_from_before_there_was_a_screen_is_told_to_the_first(tmp_path: Path) -> None:
    (tmp_path / "record.db").write_text("no database at all, and longer than a header is" * 9)
    recorder = Recorder(lambda: open_writer(tmp_path))
    runner = bare_runner(recorder)
    await runner.restore()
    enter(runner, "a")
    told: list[str] = []
    hears(runner, lambda news: told.append(getattr(news, "text", "")))
    enter(runner, "b")
    assert any("NOT RECORDED" in text for text in told)
    runner.close()
    recorder.close()


async def test_an_id_the_store_alone_remembers_is_taken_up_by_no_other_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crabhook.broker.pending.ANSWERS_KEPT", 0)
    recorder = Recorder(lambda: open_writer(tmp_path))
    runner = bare_runner(recorder)
    enter(runner, "a")
    seat(runner).answer(1, DENY)
    waits = runner.enter(bash("b", "ls", wait=runner.now() + 60), None)
    stolen = asking("a", "UserPromptSubmit", secret="guess", wait=runner.now() + 60)
    with pytest.raises(RefusedError) as refused:
        runner.enter(stolen, None)
    assert refused.value.refusal is Refusal.NOT_YOURS
    # What it says, which would be the end of the other's turn, counts for nothing either.
    assert [card.number for card in runner.broker.waiting()] == [2]
    assert not waits.over
    assert "pending=1" in repr(runner)
    runner.close()
    recorder.close()


async def test_where_nothing_may_go_unrecorded_the_first_is_turned_away_too(tmp_path: Path) -> None:
    recorder = Recorder(lambda: open_writer(tmp_path), on_trouble=OnTrouble.REFUSE)
    runner = bare_runner(recorder)
    with closing(sqlite3.connect(tmp_path / "record.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for ticket in ("first", "second"):
            with pytest.raises(RefusedError) as refused:
                enter(runner, ticket)
            assert refused.value.refusal is Refusal.UNRECORDED
        assert not runner.broker.waiting()
        other.execute("ROLLBACK")
    runner.close()
    recorder.close()


async def test_a_halted_session_stays_halted_when_the_server_begins_again(tmp_path: Path) -> None:
    store = open_writer(tmp_path)
    before = bare_runner(Recorder(lambda: store))
    enter(before, "a")
    seat(before).answer(1, Decision(Verdict.DENY, reason="stop", halt="stop"))
    before._receipts._expected["a"][1].cancel()
    store.close()

    after = bare_runner(Recorder(lambda: open_writer(tmp_path)))
    await after.restore()
    assert [(order.kind, order.session, order.words) for order in after.broker.orders()] == [
        (OrderKind.HALT, "s", "stop")
    ]
    place = enter(after, "b")
    assert b"the operator halted this session: stop" in (await place.wait()).stdout
    after.enter(asking("p", "UserPromptSubmit"), None)
    assert not after.broker.orders()
    after.close()
    assert after.recorder is not None
    after.recorder.close()

    third = bare_runner(Recorder(lambda: open_writer(tmp_path)))
    await third.restore()
    assert not third.broker.orders()
    assert third.recorder is not None
    third.recorder.close()


NOTE = b"Note from the operator: use the blue one"


async def begun(folder: Path) -> Runner:
    runner = bare_runner(Recorder(lambda: open_writer(folder)))
    await runner.restore()
    return runner


def killed(runner: Runner) -> None:
    """End a server as a kill does: nothing is told to anybody, and its record is let go."""
    for _, alarm in runner._receipts._expected.values():
        alarm.cancel()
    assert runner.recorder is not None
    runner.recorder.close()


async def steered(folder: Path) -> Runner:
    """A server with a live session and a subagent, and a note that waits for each."""
    runner = await begun(folder)
    runner.enter(asking("h", "SessionStart"), None)
    runner.enter(asking("i", "SubagentStart", agent="sub"), None)
    for agent in ("", "sub"):
        seat(runner).done(Steer("s", "use the blue one", agent))
    return runner


async def heard_by(runner: Runner, ticket: str, **how: Any) -> bytes:
    return (await runner.enter(done(ticket, "ls", **how), None).wait()).stdout


def news_of(runner: Runner, what: str) -> list[str]:
    return [one.text for one in runner.broker.feed() if what in one.text]


async def test_a_note_that_waits_outlives_the_server_and_is_delivered_exactly_once(
    tmp_path: Path,
) -> None:
    killed(await steered(tmp_path))
    second = await begun(tmp_path)
    again = "was taken up by this server, and waits for its next call"
    assert news_of(second, "note") == [
        f"note 1 to its main agent {again}",
        f"note 2 to subagent sub {again}",
    ]
    killed(second)  # once more, before anybody asked
    third = await begun(tmp_path)
    assert NOTE in await heard_by(third, "a")
    assert third.confirm("a", "secret of a")
    assert NOTE not in await heard_by(third, "b")
    killed(third)
    last = await begun(tmp_path)
    assert NOTE not in await heard_by(last, "c")
    assert NOTE in await heard_by(last, "d", agent="sub")
    seat(last).done(Steer("s", "another"))  # whose number none had before
    assert [one.note.id for one in last.broker.notes()] == [2, 3]
    killed(last)


async def test_a_note_that_may_have_arrived_is_given_again_to_the_same_hook_alone(
    tmp_path: Path,
) -> None:
    first = await steered(tmp_path)
    assert NOTE in await heard_by(first, "a")
    killed(first)  # before the hook could say that it has printed it
    second = await begun(tmp_path)
    assert len(news_of(second, "whether it arrived is not known")) == 1
    assert NOTE not in await heard_by(second, "b")
    assert NOTE in await heard_by(second, "a")  # it asks again: it has printed nothing
    assert second.confirm("a", "secret of a")
    assert NOTE not in await heard_by(second, "c")
    killed(second)


async def test_a_note_that_waited_for_a_day_is_given_up_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody tells that a session has ended while no server was there."""
    killed(await steered(tmp_path))
    monkeypatch.setattr(module, "wall", lambda: time.time() + 90_000)
    second = await begun(tmp_path)
    assert len(news_of(second, "is given up: it has waited for a day")) == 2
    assert NOTE not in await heard_by(second, "a")
    assert not second.broker.notes()
    killed(second)


async def test_a_subagent_that_was_stopped_stays_so_when_the_server_begins_again(
    tmp_path: Path,
) -> None:
    first = await steered(tmp_path)
    seat(first).done(StopSession("s", "the wrong branch", "sub"))
    killed(first)
    second = await begun(tmp_path)
    asked = bash("a", "ls", agent="sub", wait=second.now() + 60)
    denied = (await second.enter(asked, None).wait()).stdout
    assert b"the operator stopped this subagent: the wrong branch" in denied
    enter(second, "b")
    assert [card.event.agent_id for card in second.broker.waiting()] == [""]
    second.enter(asking("e", "SubagentStop", agent="sub"), None)
    killed(second)
    assert not (await begun(tmp_path)).broker.orders()


@pytest.mark.parametrize("session", ['{"note": 1}', '{"session": "t"}', "{", "s"])
def test_a_session_of_any_name_that_was_stopped_is_the_one_that_is_stopped_again(
    session: str,
) -> None:
    halt = Standing(OrderKind.HALT, session=session, words="why", id=0, by=UNKNOWN)
    stopped = Steering((halt,))
    assert taken_up(kept(stopped, 0.0, 0.0), 0.0, 0.0) == stopped
    for machine in ("build1", ""):
        of_one = replace(halt, machine=machine)
        stopped = Steering((of_one,))
        assert taken_up(kept(stopped, 0.0, 0.0), 0.0, 0.0) == stopped


async def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: float) -> Runner:
    """A server that begins so many days from now."""
    monkeypatch.setattr(module, "wall", lambda: time.time() + days * 86_400)
    return await begun(tmp_path)


async def test_a_stop_of_a_session_that_ended_while_no_server_ran_ends_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers that begin each day do not put the end off, and an event of the session does."""
    first = await steered(tmp_path)
    seat(first).done(StopSession("s", "the wrong branch"))
    killed(first)
    for day in range(1, 6):
        killed(await later(tmp_path, monkeypatch, day))
    heard = await later(tmp_path, monkeypatch, 6)
    enter(heard, "a")
    killed(heard)
    stands = await later(tmp_path, monkeypatch, 12)
    assert len(stands.broker.orders()) == 1
    killed(stands)
    last = await later(tmp_path, monkeypatch, 13.1)
    async with asyncio.timeout(60):
        while last.broker.orders():  # noqa: ASYNC110 - it ends by the loop's clock
            await asyncio.sleep(0.01)
    assert len(news_of(last, "since its session was not heard of for 7 days")) == 1
    killed(last)
    assert not (await later(tmp_path, monkeypatch, 13.2)).broker.orders()
