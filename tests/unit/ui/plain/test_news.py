import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crabhook.model.actor import (
    OWNER,
    Actor,
    AnsweredAtAgent,
    Ended,
    Follows,
    OrderKind,
    RuleActor,
    TimeUp,
)
from crabhook.model.card import Card, FeedEntry, Leg, State
from crabhook.model.decision import Decided, Decision, Verdict, no_opinion
from crabhook.model.event import Event, ToolCall
from crabhook.model.order import Order
from crabhook.ui.plain import output as plain_output
from crabhook.ui.plain.output import BACKLOG, PROGRAMS, OutputQueue
from tests.support.desk import PlayedDesk
from tests.support.observed import OBSERVED
from tests.support.rows import every_row

SAMPLES = Path("tests/samples/claude")
ALLOW = Decision(Verdict.ALLOW)


def sample(name: str, **changes: Any) -> dict[str, Any]:
    return {**json.loads((SAMPLES / f"{name}.json").read_text()), **changes}


def bash(number: int = 7, **more: Any) -> Card:
    event = Event("claude", "PreToolUse", "s", "/w", tool=ToolCall("Bash", {"command": "ls"}))
    legs = (Leg(f"r{number}", event, 600.0),)
    return Card(number, **{"requests": legs, "asked_at": 0.0, **more})


def decided(decision: Decision, by: Actor = OWNER, **more: Any) -> Card:
    return bash(state=State.DECIDED, decided=Decided(decision, by), **more)


def waiting_until(wait_until: float) -> Card:
    (leg,) = bash().requests
    return bash(requests=(replace(leg, wait_until=wait_until),))


HEADER = "#7 PreToolUse Bash session=s cwd=/w"
WAITING = bash()


@every_row(
    "before, card, lines",
    [
        (None, WAITING, PROGRAMS.block(WAITING, 0.0)),
        (WAITING, WAITING, []),
        (WAITING, decided(ALLOW), ["#7 ALLOWED"]),
        (WAITING, decided(Decision(Verdict.ALLOW, note="ok")), ["#7 ALLOWED ok"]),
        (WAITING, decided(Decision(Verdict.DENY, reason="a\nb")), ["#7 DENIED a␊b"]),
        (WAITING, decided(Decision(Verdict.ASK)), ["#7 HANDED BACK"]),
        (WAITING, decided(Decision(Verdict.PASS)), ["#7 PASSED"]),
        (WAITING, replace(WAITING, snoozed_until=60.0), ["#7 is put aside for 1:00"]),
        (replace(WAITING, snoozed_until=60.0), WAITING, ["#7 is back"]),
        (WAITING, waiting_until(660.0), ["#7 waits longer: 11:00 left"]),
        (replace(WAITING, snoozed_until=60.0), decided(ALLOW), ["#7 ALLOWED"]),
        (
            WAITING,
            decided(Decision(Verdict.DENY, reason="a", interrupt=True, halt="a")),
            ["#7 DENIED a (the turn ends) (the session's turn ends)"],
        ),
        (
            WAITING,
            decided(Decision(Verdict.PASS, halt="h\nx", user_message="m\nx")),
            ["#7 PASSED (the session's turn ends: h␊x) (its user is told: m␊x)"],
        ),
        (
            WAITING,
            decided(Decision(Verdict.ALLOW, permissions=({"type": "x\n#8"},))),
            ['#7 ALLOWED ({"type":"x\\n#8"})'],
        ),
        (WAITING, decided(ALLOW, RuleActor("")), ["#7 ALLOWED (by the rules)"]),
        (
            WAITING,
            bash(state=State.DECIDED, decided=no_opinion(Ended.AWAY)),
            ["#7 PASSED the operator is away (by crabhook)"],
        ),
        (
            WAITING,
            bash(state=State.WITHDRAWN, end=AnsweredAtAgent()),
            ["#7 WITHDRAWN answered at the agent"],
        ),
        (
            WAITING,
            bash(state=State.EXPIRED, end=TimeUp(Follows.OWN_USER)),
            ["#7 EXPIRED nobody decided in time: the agent's own user decides"],
        ),
        (decided(ALLOW), decided(ALLOW), []),
        (decided(ALLOW), decided(ALLOW, delivered=True), ["#7 delivered"]),
        (
            decided(ALLOW),
            decided(ALLOW, delivered=False),
            ["#7 NOT DELIVERED: the hook did not take it"],
        ),
        (decided(ALLOW, delivered=False), decided(ALLOW, delivered=True), ["#7 delivered"]),
        (decided(ALLOW, delivered=True), decided(ALLOW, delivered=True), []),
        (WAITING, decided(ALLOW, delivered=True), ["#7 ALLOWED", "#7 delivered"]),
        (
            None,
            bash(state=State.WITHDRAWN, end=AnsweredAtAgent()),
            [HEADER, "#7 WITHDRAWN answered at the agent"],
        ),
    ],
)
def test_what_is_told_leads_from_the_last_telling_to_now(
    before: Card | None, card: Card, lines: list[str]
) -> None:
    assert PROGRAMS.tell(before, card, 0.0) == lines


def test_another_event_about_the_same_call_is_told_once() -> None:
    (leg,) = WAITING.requests
    other = replace(leg, id="other", event=replace(leg.event, name="PermissionRequest"))
    joined = replace(WAITING, requests=(leg, other))
    assert PROGRAMS.tell(WAITING, joined, 0.0) == ["#7 is also asked as PermissionRequest"]
    assert PROGRAMS.tell(joined, joined, 0.0) == []
    assert PROGRAMS.tell(joined, replace(joined, requests=(other,)), 0.0) == []


def test_what_went_by_is_one_line_that_begins_with_a_dot() -> None:
    event = Event("claude", "PostToolUse", "3f1c77", "/w/api", tool=ToolCall("Bash", None))
    assert PROGRAMS.went_by(FeedEntry(0.0, event, "")) == "· PostToolUse Bash session=3f1c… api"
    assert PROGRAMS.went_by(FeedEntry(0.0, Event("claude", "X\n#8"), "a\nb")) == "· X␊#8 a␊b"


def test_what_becomes_of_an_order_is_the_desks_own_news() -> None:
    entry = FeedEntry(0.0, Order(OrderKind.HOLD, name="Stop", session="s").event, "hold Stop\nx")
    assert PROGRAMS.went_by(entry) == "· desk: hold Stop␊x"


class Reader:
    """Someone who reads what a output writes, and may stop reading."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.reads = asyncio.Event()
        self.reads.set()

    async def write(self, text: str) -> None:
        await self.reads.wait()
        self.lines += text.split("\n")

    def starting(self, start: str) -> list[str]:
        return [line for line in self.lines if line.startswith(start)]


async def told(output: OutputQueue, reader: Reader) -> Reader:
    output.close()
    await output.write_to(reader.write)
    return reader


async def test_a_cards_whole_life_is_told_in_order_and_once() -> None:
    desk, reader = PlayedDesk(), Reader()
    output = OutputQueue(desk.replica, PROGRAMS)
    desk.listen(output.on_news)
    writing = asyncio.create_task(output.write_to(reader.write))
    hook = desk.ask(sample("PermissionRequest-Bash"))
    await asyncio.sleep(0)
    desk.answer(1, ALLOW)
    await asyncio.sleep(0)
    desk.deliver(hook)
    output.close()
    await writing
    assert reader.lines[-3:] == ["", "#1 ALLOWED", "#1 delivered"]
    assert reader.starting("#1 ") == [reader.lines[0], "#1 ALLOWED", "#1 delivered"]
    assert reader.starting("·") == []


async def test_a_feed_entry_of_a_card_that_was_never_shown_is_told() -> None:
    desk = PlayedDesk()
    output = OutputQueue(desk.replica, PROGRAMS)
    output.on_news(FeedEntry(0.0, Event("claude", "PreToolUse", "s"), "ALLOWED by a rule", 9))
    reader = await told(output, Reader())
    assert reader.lines == ["· PreToolUse session=s… ALLOWED by a rule"]


async def test_what_goes_by_is_told_together_soon_and_a_card_or_an_alarm_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plain_output, "WITHIN", 0.05)
    desk, written, heard = PlayedDesk(), [], asyncio.Event()

    async def write(text: str) -> None:
        written.append(text)
        heard.set()

    def went_by(name: str, *, alarm: bool = False) -> None:
        output.on_news(FeedEntry(0.0, Event("claude", name, "s"), "went by", alarm=alarm))

    output = OutputQueue(desk.replica, PROGRAMS)
    desk.listen(output.on_news)
    writing = asyncio.create_task(output.write_to(write))
    await asyncio.sleep(0)
    for name in ("First", "Second"):
        went_by(name)
        await asyncio.sleep(0)
    assert written == []
    await asyncio.wait_for(heard.wait(), 60)
    assert written == ["· First session=s… went by\n· Second session=s… went by"]
    went_by("Third")
    desk.ask(sample("PermissionRequest-Bash"))
    await asyncio.sleep(0)
    assert written[1].splitlines()[0].startswith("· Third")  # in their order
    assert written[1].splitlines()[1].startswith("#1 ")
    went_by("Fourth", alarm=True)
    await asyncio.sleep(0)
    assert written[2].startswith("! Fourth")
    output.close()
    await writing


async def test_a_reader_who_stops_loses_what_went_by_but_never_a_request_or_an_outcome() -> None:
    desk, reader = PlayedDesk(), Reader()
    output = OutputQueue(desk.replica, PROGRAMS)
    desk.listen(output.on_news)
    shown = desk.ask(sample("PermissionRequest-Bash"))
    writing = asyncio.create_task(output.write_to(reader.write))
    await asyncio.sleep(0)
    reader.reads.clear()
    for number in range(BACKLOG + 50):
        desk.ask(sample("Notification", session_id=f"other{number}"))
    desk.leave(shown)
    for number in range(20):
        desk.leave(desk.ask(sample("PermissionRequest-Bash", session_id=f"brief{number}")))
    desk.ask(sample("PermissionRequest-Bash", session_id="waits"))
    reader.reads.set()
    output.close()
    await writing
    assert [line.split(" session")[0] for line in reader.starting("#")] == [
        "#1 PermissionRequest Bash",
        "#1 WITHDRAWN the hook was ended by the agent, or its connection was lost",
        "#22 PermissionRequest Bash",
    ]
    left_out = [line for line in reader.starting("·") if "went by while nothing" in line]
    told_events = len(reader.starting("· Notification"))
    (line,) = left_out
    # of each of the twenty both the card and the feed's word about it are left out
    assert int(line.split()[1]) == BACKLOG + 50 - told_events + 2 * 20


async def test_of_a_card_that_was_told_or_has_ended_no_payload_is_kept() -> None:
    desk = PlayedDesk()
    output = OutputQueue(desk.replica, PROGRAMS)
    desk.listen(output.on_news)
    ended = desk.ask(sample("PermissionRequest-Bash"))
    desk.leave(ended)
    assert output._queue[1].event.fields == {}  # type: ignore[union-attr]
    desk.ask(sample("PermissionRequest-Bash", session_id="waits"))
    await told(output, Reader())
    assert output._shown[2].event.fields == {}
    assert output._over[1].event.fields == {}


async def test_there_is_room_again_once_the_reader_goes_on() -> None:
    desk, reader = PlayedDesk(), Reader()
    output = OutputQueue(desk.replica, PROGRAMS)
    for number in range(BACKLOG):
        output.say(f"· {number}")
    waiting = asyncio.create_task(output.room())
    await asyncio.sleep(0.01)
    assert not waiting.done()
    writing = asyncio.create_task(output.write_to(reader.write))
    await asyncio.wait_for(waiting, 60)
    output.close()
    await writing
    assert len(reader.lines) == BACKLOG


async def test_what_the_writer_raises_ends_the_telling() -> None:
    async def gone(_: str) -> None:
        raise BrokenPipeError

    output = OutputQueue(PlayedDesk(), PROGRAMS)
    output.say("· x")
    with pytest.raises(BrokenPipeError):
        await output.write_to(gone)


@pytest.mark.parametrize(("name", "told"), OBSERVED)
def test_what_went_by_tells_its_subject_and_its_outcome_and_not_a_bare_name(
    name: str, told: tuple[str, ...]
) -> None:
    agent, _, sent = name.partition("/")
    desk = PlayedDesk()
    desk.ask(json.loads(Path(f"tests/samples/{name}.json").read_text()), platform=agent)
    line = PROGRAMS.went_by(desk.feed()[-1])
    assert line.startswith(f"· {sent.partition('-')[0]} ")
    assert all(word in line for word in told)


def test_a_notification_is_told_by_its_title_and_its_message() -> None:
    desk = PlayedDesk()
    desk.ask(sample("Notification", title="Done\x1b[2J", message="ready\nfor you", cwd="/p"))
    assert PROGRAMS.went_by(desk.feed()[-1]).endswith(" p Done␛[2J: ready␊for you")


def test_a_secret_in_what_went_by_and_in_an_outcome_is_covered() -> None:
    event = Event(
        "claude", "PreToolUse", "s", "/w", tool=ToolCall("Bash", {"command": "TOKEN=abcd1234"})
    )
    said = (
        PROGRAMS.went_by(FeedEntry(0.0, event, "denied: export TOKEN=abcd1234")),
        *PROGRAMS.tell(None, decided(Decision(Verdict.DENY, reason="not TOKEN=abcd1234")), 0.0),
    )
    assert not any("abcd1234" in line for line in said)
    assert any("TOKEN=••••••••" in line for line in said)
