"""The door that every hook's request goes in by: what is judged is studied first."""

from dataclasses import replace

import pytest

from crabhook.model.card import Effect, Level, Risk, Stance
from crabhook.model.event import Event
from crabhook.model.marked_call import MARK
from crabhook.model.order import Order, OrderKind
from crabhook.policy.rule import RuleVerdict, Ruling
from crabhook.server.core.intake import LONG, Intake
from crabhook.server.core.pending_call import RefusedError
from tests.support.playbook import asking, bash
from tests.support.runners import RulesOf, bare_runner
from tests.support.seat import seat

RISKY = Risk(Level.DANGER, (Effect("force", Level.DANGER, "forces"),))


@pytest.mark.parametrize(
    ("event", "size", "judged"),
    [("PreToolUse", LONG + 1, [True]), ("PreToolUse", LONG, [False]), ("Stop", LONG + 1, [])],
)
async def test_what_is_judged_is_judged_before_it_is_taken_in(
    event: str, size: int, judged: list[bool]
) -> None:
    seen = list[tuple[Event, bool, int]]()

    async def judge(one: Event, *, long: bool) -> None:
        seen.append((one, long, len(runner.broker.waiting())))

    runner = bare_runner(judge=judge)

    asked = bash("a", "ls") if event == "PreToolUse" else asking("a", event)
    place = await Intake(runner).enter(replace(asked, size=size, wait_until=1e12))
    assert seen == [(asked.event, long, 0) for long in judged]
    assert place.over == (event == "Stop")
    runner.close()


async def test_what_may_search_a_folder_is_judged_in_a_thread_however_short_it_is() -> None:
    seen = list[bool]()

    async def judge(_: Event, *, long: bool) -> None:
        seen.append(long)

    runner = bare_runner(judge=judge)

    for at, line in enumerate(("ls", "grep -r x .")):
        asked = replace(bash(str(at), line), size=1, wait_until=1e12)
        await Intake(runner).enter(asked)
    assert seen == [False, True]
    runner.close()


async def test_a_request_is_on_its_way_in_until_the_runner_has_it_or_refused_it() -> None:
    seen = list[int]()

    async def judge(_: Event, *, long: bool) -> None:
        seen.append(runner.entering)

    runner = bare_runner(judge=judge)
    asked = replace(bash("a", "ls"), wait_until=1e12)
    await Intake(runner).enter(asked)
    assert (seen, runner.entering) == ([1], 0)
    with pytest.raises(RefusedError):
        await Intake(runner).enter(replace(asked, secret="of another"))
    assert (seen, runner.entering) == ([1, 1], 0)
    runner.close()


@pytest.mark.parametrize(
    ("stance", "verdict", "orders", "looked"),
    [
        (Stance.GATE, None, (), [False]),
        (Stance.GATE, RuleVerdict.ASK_OPERATOR, (), [False]),
        (Stance.GATE, RuleVerdict.ALLOW, (), []),
        (Stance.GATE, RuleVerdict.ALLOW, (OrderKind.HOLD_ALL,), [False]),
        (Stance.GATE, RuleVerdict.DENY, (), []),
        (Stance.GATE, RuleVerdict.DENY, (OrderKind.HOLD_ALL,), []),
        (Stance.GATE, None, (OrderKind.AWAY,), []),
        (Stance.COMPANION, None, (), []),
        (Stance.COMPANION, RuleVerdict.ASK_OPERATOR, (), [False]),
        (Stance.COMPANION, None, (OrderKind.HOLD_ALL,), [False]),
    ],
)
async def test_what_a_call_may_do_comes_with_its_card_and_is_not_looked_for_where_a_rule_decides(
    stance: Stance, verdict: RuleVerdict | None, orders: tuple[OrderKind, ...], looked: list[bool]
) -> None:
    seen = list[bool]()

    async def judge(_: Event, *, long: bool) -> Ruling | None:
        return verdict and Ruling(verdict, None, "so it is")

    async def assess(_: Event, *, long: bool) -> Risk:
        seen.append(long)
        return RISKY

    runner = bare_runner(rules=RulesOf(judge, assess))
    for kind in orders:
        seat(runner).order(Order(kind, session=bash("a", "ls").event.session))
    await Intake(runner).enter(replace(bash("a", "ls", stance=stance), wait_until=1e12))
    assert seen == looked
    assert [card.risk for card in runner.broker.waiting()] == [RISKY for _ in looked]
    runner.close()


async def test_without_rules_everything_is_asked() -> None:
    runner = bare_runner()
    place = await Intake(runner).enter(replace(bash("a", "ls"), size=LONG + 1, wait_until=1e12))
    assert not place.over
    runner.close()


async def test_what_the_rules_say_comes_in_with_the_request() -> None:
    async def judge(_: Event, *, long: bool) -> Ruling:
        return Ruling(RuleVerdict.DENY, None, "not here")

    runner = bare_runner(judge=judge)
    place = await Intake(runner).enter(replace(bash("a", "ls"), wait_until=1e12))
    assert b'"deny"' in (await place.wait()).stdout
    runner.close()


@pytest.mark.parametrize("verdict", [None, *RuleVerdict])
async def test_nobody_is_asked_about_a_refused_call_that_the_rules_deny(
    verdict: RuleVerdict | None,
) -> None:
    async def judge(_: Event, *, long: bool) -> Ruling | None:
        return verdict and Ruling(verdict, None, "so it is")

    runner = bare_runner(judge=judge)
    refused = bash("a", "ls", event="PermissionDenied", stance=Stance.COMPANION)
    place = await Intake(runner).enter(replace(refused, wait_until=1e12))
    assert (await place.wait()).stdout == b""
    assert len(runner.broker.waiting()) == (verdict is not RuleVerdict.DENY)
    runner.close()


MARKED = "0123456789abcdef" * 2


@pytest.mark.parametrize("stance", Stance)
@pytest.mark.parametrize("name", ["PreToolUse", "PermissionRequest", "PreSkillShellCommand"])
async def test_a_marked_call_is_denied_before_rules_and_the_broker_hear_of_it(
    name: str, stance: Stance
) -> None:
    asked = list[Event]()

    async def judge(event: Event, **_: object) -> Ruling:
        asked.append(event)
        return Ruling(RuleVerdict.ALLOW, None, "all")

    runner = bare_runner(judge=judge)
    before = repr(runner.broker), runner.broker.feed(), runner.broker.live(0.0)
    call = asking("m", name, stance=stance, tool_name="Bash", tool_input={"command": "true"})
    marked = replace(call, event=replace(call.event, fields={**call.event.fields, MARK: MARKED}))
    reply = await (await Intake(runner).enter(marked)).wait()
    assert b'"deny"' in reply.stdout
    assert MARKED in reply.stdout.decode()
    assert (repr(runner.broker), runner.broker.feed(), runner.broker.live(0.0)) == before
    assert not asked
    runner.close()


@pytest.mark.parametrize("mark", ["", "no mark", MARKED + "0", MARKED.upper(), 7, None])
async def test_what_is_no_mark_makes_an_ordinary_call(mark: object) -> None:
    runner = bare_runner()
    call = replace(bash("m", "true"), wait_until=1e12)
    marked = replace(call, event=replace(call.event, fields={**call.event.fields, MARK: mark}))
    assert not (await Intake(runner).enter(marked)).over
    assert len(runner.broker.waiting()) == 1
    runner.close()


async def test_a_mark_on_an_event_that_cannot_be_denied_changes_nothing() -> None:
    runner = bare_runner()
    for name in ("Stop", "SessionStart", "PermissionDenied"):
        await Intake(runner).enter(asking(name, name, **{MARK: MARKED}))
    assert [entry.event.name for entry in runner.broker.feed()] == [
        "Stop",
        "SessionStart",
        "PermissionDenied",
    ]
    runner.close()
