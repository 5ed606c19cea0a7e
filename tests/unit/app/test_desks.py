"""Which desk is opened: the one the settings ask for, and who leaves it lets go what waits."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from crabhook.app import desks
from crabhook.app.desks import Follower, Whereabouts, open_desk
from crabhook.app.leadership import StandingBy
from crabhook.app.wiring import Wired, wire
from crabhook.broker.messages import Refusal
from crabhook.config import Settings
from crabhook.desk.updates import News, OrdersChanged, Snapshot
from crabhook.model.actor import OWNER, Ended, OrderKind
from crabhook.model.card import Card, Leg, Request, State
from crabhook.model.decision import Decided
from crabhook.model.jsontext import Value, compact
from crabhook.platforms import PLATFORMS
from crabhook.rulebook.files import RuleFiles
from crabhook.server.core.parts import Elsewhere
from crabhook.server.core.pending_call import PendingCall
from crabhook.server.core.rules_in_force import RulesInForce
from crabhook.server.core.runner import Runner
from crabhook.store import entries
from crabhook.store.change import Halt, Waiting, happened
from crabhook.store.opening import open_writer
from crabhook.store.postgres.leader import Leader
from crabhook.store.postgres.standby_reader import LeaderChanges, StandbyReader
from crabhook.store.record import Entry, Record, RecordKind
from tests.support.client import SAMPLES
from tests.support.playbook import ALLOW, asking, bash, prompt
from tests.support.runners import bare_runner
from tests.unit.store.making import records

SOON = 60.0


def served(folder: Path) -> Wired:
    """A server without a record, by the application's own wiring."""
    return wire(RulesInForce(RuleFiles(folder)), folder)


def ask(runner: Runner, ticket: str = "a") -> PendingCall:
    now = asyncio.get_running_loop().time()
    tool = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": ticket}
    return runner.enter(asking(ticket, "PreToolUse", wait=now + 60, **tool), None)


@pytest.mark.parametrize("plain", [False, True])
async def test_a_headless_desk_reads_no_line_and_draws_no_screen(
    tmp_path: Path, plain: bool
) -> None:
    wired, settings = served(tmp_path), Settings(headless=True, plain=plain, otherwise="deny")
    runner = wired.runner
    desk = asyncio.ensure_future(open_desk(wired, settings, Whereabouts("here"), runner.close))
    async with asyncio.timeout(SOON):
        reply = await ask(runner).wait()
    assert b'"deny"' in reply.stdout
    desk.cancel()
    await asyncio.gather(desk, return_exceptions=True)


async def test_who_leaves_the_plain_desk_has_it_released_before_the_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async def no_lines():  # type: ignore[no-untyped-def]  # noqa: ANN202
        for _ in ():
            yield ""

    monkeypatch.setattr(desks, "standard_lines", no_lines)
    wired, settings = served(tmp_path), replace(Settings(), plain=True)
    runner = wired.runner
    ask(runner)
    async with asyncio.timeout(SOON):
        await open_desk(wired, settings, Whereabouts("unix:/here", "", ["a page"]), runner.close)
    said = capfd.readouterr().out
    assert "a page" not in said  # on a pipe nobody needs it
    assert said.startswith("· listening on unix:/here\n")
    assert said.endswith("#1 WITHDRAWN the operator closed the desk\n")
    card = runner.broker.card(1)
    assert card
    assert card.state is State.WITHDRAWN


def came(leg: Leg, card: int) -> Entry:
    now = time.time()
    return entries.asked(leg, now, card=card, legs=[leg.id], ends=(now + 60, now + 90))


def went(leg: Leg, card: int) -> Entry:
    made = Decided(ALLOW, OWNER)
    return entries.decided(leg.event, made, time.time(), legs=[leg.id], waited=1.0, card=card)


def kept(leg: Leg, card: int) -> Waiting:
    now, payload = time.time(), compact(leg.event.fields).encode()
    return Waiting(leg.id, "s", leg.event.platform, payload, "gate", now, now + 60, card)


def on_record(folder: Path, *told: Entry) -> Sequence[Record]:
    with closing(open_writer(folder)) as store:
        store.write([happened(*told)])
    return [one for one in records(folder) if one.card is not None]


async def test_a_standby_says_that_the_record_is_lost_once_it_has_been_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desks, "LOOK_EVERY", 0.0)
    url = f"postgresql://nobody@/nothing?host={tmp_path}"
    standing, reader = StandingBy(Leader()), StandbyReader(url)
    runner = bare_runner(sharing=standing)
    follower = Follower(runner, standing, url)
    await follower._look(reader)
    assert runner.elsewhere == Elsewhere(Refusal.ELSEWHERE)
    monkeypatch.setattr(desks, "LOST_AFTER", 0.0)
    await follower._look(reader)
    await asyncio.to_thread(reader.close)
    assert runner.elsewhere == Elsewhere(Refusal.UNRECORDED)


class Shown:
    """What desks at a standby are told."""

    def __init__(self) -> None:
        self.news: list[News] = []
        standing = StandingBy(Leader())
        self.runner = bare_runner(sharing=standing)
        self.runner.listen(self.news.append)
        self._follower = Follower(self.runner, standing, "postgresql://nowhere")

    async def sees(self, seen: LeaderChanges) -> list[tuple[int, str, int]]:
        """The cards that are told of then: number, state, legs."""
        self.news.clear()
        await self._follower._show(seen)
        cards = (one for one in self.news if isinstance(one, Card))
        return [(one.number, one.state.value, len(one.requests)) for one in cards]


LED = Leader("one")
A, B, C = bash("a", "ls a"), bash("b", "ls b"), bash("c", "ls c")


async def test_a_standby_shows_each_card_come_and_end_in_the_order_of_the_record(
    tmp_path: Path,
) -> None:
    shown = Shown()
    told = on_record(tmp_path, came(A, 1), came(B, 2), went(A, 1), came(C, 3), went(C, 3))
    seen = LeaderChanges(LED, 5, [kept(B, 2)], {"a": 1, "c": 3}, told)
    steps = await shown.sees(seen)
    assert [one[:2] for one in steps] == [
        *((1, "waiting"), (2, "waiting"), (1, "decided")),
        *((3, "waiting"), (3, "decided")),
    ]
    assert [card.number for card in shown.runner.broker.waiting()] == [2]
    gone = shown.runner.broker.card(3)
    assert gone
    assert gone.event.given == {"command": "ls c"}
    assert gone.decided == Decided(ALLOW, OWNER)
    (end,) = on_record(tmp_path / "then", went(B, 2))
    assert await shown.sees(LeaderChanges(LED, 6, gone={"b": 2}, records=[end])) == [
        (2, "decided", 1)
    ]


async def test_a_standby_shows_how_legs_come_to_a_card_and_leave_it(tmp_path: Path) -> None:
    shown, other = Shown(), prompt("b", "ls a")
    left = entries.ended(RecordKind.LEFT, A, time.time(), card=1, why="the hook had gone")
    end = entries.ended(RecordKind.EXPIRED, other, time.time(), card=1, end=Ended.AWAY)
    told = on_record(tmp_path, came(A, 1), came(other, 1), left, end)
    steps = await shown.sees(LeaderChanges(LED, 4, gone={"a": 1, "b": 1}, records=told))
    assert steps == [(1, "waiting", 1), (1, "waiting", 2), (1, "waiting", 1), (1, "expired", 1)]


async def test_a_standby_shows_what_no_record_tells_of_after_what_records_tell(
    tmp_path: Path,
) -> None:
    shown = Shown()
    assert await shown.sees(LeaderChanges(LED, 1, [kept(A, 1)])) == [(1, "waiting", 1)]
    told = on_record(tmp_path, came(B, 2))
    then = LeaderChanges(LED, 2, [kept(C, 3), kept(B, 2)], {"a": 1}, told)
    steps = await shown.sees(then)
    assert steps == [(2, "waiting", 1), (3, "waiting", 1), (1, "withdrawn", 1)]
    (end,) = on_record(tmp_path / "then", went(A, 4))  # decided as soon as it came
    assert await shown.sees(LeaderChanges(LED, 3, records=[end])) == [(4, "decided", 1)]


async def test_a_standby_that_begins_anew_tells_all_there_is(tmp_path: Path) -> None:
    shown = Shown()
    await shown.sees(LeaderChanges(LED, 1, [kept(A, 1)], anew=True))
    (end,) = on_record(tmp_path, went(A, 1))
    assert await shown.sees(LeaderChanges(LED, 9999, [kept(B, 2)], {"a": 1}, [end], anew=True))
    assert isinstance(shown.news[-1], Snapshot)
    assert [one.number for one in shown.news[-1].waiting] == [2]
    assert [one.state for one in shown.news[-1].ended] == [State.DECIDED]


async def test_a_standby_tells_of_orders_where_they_are_others_and_of_none_that_cannot_stand() -> (
    None
):
    shown, now = Shown(), time.time()
    row: dict[str, Value] = dict.fromkeys(("name", "session", "project", "words"), "")
    row |= {"kind": "away", "times": None, "until": None}
    text = compact({"at": now, "orders": [row, {**row, "kind": "hold_all"}, {"kind": 7}, 5]})
    halts = [Halt("s1", "stop now"), Halt('{"note": 1}', "no note")]
    assert await shown.sees(LeaderChanges(LED, 1, halts=halts, orders=text)) == []
    (told,) = (one for one in shown.news if isinstance(one, OrdersChanged))
    assert {one.kind for one in told.orders} == {OrderKind.HALT, OrderKind.AWAY}
    for same in (
        LeaderChanges(LED, 1),
        LeaderChanges(LED, 2, halts=halts, orders=text),
        LeaderChanges(LED, 3, halts=[], orders="{"),
    ):
        await shown.sees(same)
        assert not any(isinstance(one, OrdersChanged) for one in shown.news)
    await shown.sees(LeaderChanges(LED, 4, halts=[], orders=""))
    assert shown.news == [OrdersChanged(())]


async def test_a_record_that_cannot_be_read_keeps_no_other_from_being_shown(tmp_path: Path) -> None:
    shown = Shown()
    first, second = on_record(tmp_path, came(A, 1), came(B, 2))
    for body in ("[]", '{"stance": 7}', '{"from": 5}', '{"expires": "soon"}'):
        spoilt = LeaderChanges(
            LED, 2, gone={"a": 1, "b": 2}, records=[first._replace(body=body), second]
        )
        assert (2, "waiting", 1) in await shown.sees(spoilt)
        shown = Shown()


@pytest.mark.parametrize("agent", sorted(PLATFORMS))
async def test_a_standby_shows_what_came_and_went_of_every_agent(
    tmp_path: Path, agent: str
) -> None:
    shown, steps = Shown(), list[Entry]()
    samples = sorted((SAMPLES / agent).glob("*.json"))
    events = [PLATFORMS[agent].read(one.read_bytes()) for one in samples]
    assert events
    for number, event in enumerate(events, 1):
        leg = Request(f"r{number}", event, 0.0, secret="")
        steps += came(leg, number), went(leg, number)
    told = on_record(tmp_path, *steps)
    seen = await shown.sees(LeaderChanges(LED, len(told), records=told))
    numbers = range(1, len(events) + 1)
    assert [one[:2] for one in seen] == [
        (number, state) for number in numbers for state in ("waiting", "decided")
    ]
