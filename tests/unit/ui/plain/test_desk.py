import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.desk.updates import LinkChanged, Settled, Update
from crabhook.model.decision import Decision, Verdict
from crabhook.ui.commands.parse import JUST_NOW
from crabhook.ui.commands.words import WORDS, help_lines
from crabhook.ui.plain.desk import run
from crabhook.ui.plain.output import BACKLOG
from crabhook.ui.terminal import LineWriter, read_lines
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import PLAN, QUESTIONS, Sitting, bash, said, sample, sitting

CHANGING = "1 edit TEXT | 1 remember"
REFUSING, BESIDES = "1 deny REASON | 1 ask | 1 pass", "1 halt REASON | 1 tell MESSAGE"
LEFT = "the hook was ended by the agent, or its connection was lost"


async def test_a_request_prints_its_block_when_it_comes() -> None:
    async with sitting() as sits:
        sits.desk.ask(bash("rm -rf build"))
        block = await sits.look()
    assert [line for line in block if not line.startswith("  from: ")] == [
        "#1 PreToolUse Bash session=s1 cwd=/home/dev/project",
        f"  mode: {bash()['permission_mode']}",
        "  here because: its hook is a gate, and no rule covers it",
        "  time left: 10:00",
        "  command:",
        "    rm -rf build",
        f"  answer with: 1 allow [note] | {REFUSING} | {CHANGING} | 1 defer | {BESIDES}",
        "",
    ]


async def test_a_request_that_waited_before_the_operator_came_is_printed() -> None:
    desk = PlayedDesk()
    desk.ask(bash())
    async with sitting(desk) as sits:
        assert sits.everything[0] == "· crabhook, plain desk: 1 waiting; help lists the words"
        assert sits.everything[1].startswith("#1 PreToolUse Bash session=s1 ")


@pytest.mark.parametrize("from_start", [True, False])
async def test_what_went_by_while_the_servers_own_desk_was_on_its_way_is_printed(
    from_start: bool,
) -> None:
    desk = PlayedDesk()
    desk.ask({"hook_event_name": "Setup", "session_id": "s1", "cwd": "/p", "trigger": "init"})
    async with sitting(desk, from_start=from_start) as sits:
        said = [line for line in sits.everything if line.startswith("· Setup")]
    assert said == (["· Setup session=s1… p init"] if from_start else [])


ALLOWED: dict[str, Any] = {"permissionDecision": "allow", "updatedInput": bash()["tool_input"]}


@pytest.mark.parametrize(
    ("line", "printed", "decision"),
    [
        ("1 allow", "#1 ALLOWED", ALLOWED),
        ("#1 allow", "#1 ALLOWED", ALLOWED),
        (
            "allow keep it small",
            "#1 ALLOWED keep it small",
            {**ALLOWED, "additionalContext": "keep it small"},
        ),
        (
            "deny not on main",
            "#1 DENIED not on main",
            {"permissionDecision": "deny", "permissionDecisionReason": "not on main"},
        ),
        ("1 ask", "#1 HANDED BACK", {"permissionDecision": "ask"}),
        ("1 pass", "#1 PASSED", None),
    ],
)
async def test_a_line_decides_and_the_agent_hears_just_that(
    line: str, printed: str, decision: dict[str, Any] | None
) -> None:
    async with sitting() as sits:
        hook = sits.desk.ask(bash())
        assert await sits.type(line) == [printed]
        expected = decision and {"hookEventName": "PreToolUse", **decision}
        assert said(sits.desk, hook) == expected


async def test_without_a_number_the_oldest_is_meant() -> None:
    async with sitting() as sits:
        first, second = sits.desk.ask(bash("a")), sits.desk.ask(bash("b"))
        assert await sits.type("allow", "deny no") == ["#1 ALLOWED", "#2 DENIED no"]
        assert said(sits.desk, first)["permissionDecision"] == "allow"
        assert said(sits.desk, second)["permissionDecision"] == "deny"


@pytest.mark.parametrize("line", ["allow", "deny no", "ask", "pass"])
async def test_a_line_meant_for_a_card_that_just_ended_decides_no_other(line: str) -> None:
    async with sitting() as sits:
        first = sits.desk.ask(bash("ls"))
        sits.desk.ask(bash("rm -rf /"))
        sits.desk.leave(first)
        (refused,) = await sits.type(line)
        assert refused.startswith("! #1 has just ended, and #2 is the oldest now; nothing was dec")
        assert refused.endswith(f"Write: {WORDS[line.partition(' ')[0]].usage(2)}")
        assert len(sits.desk.waiting()) == 1
        sits.desk.pass_time(JUST_NOW)
        assert (await sits.type(line))[-1].startswith("#2 ")
        assert not sits.desk.waiting()


async def test_a_younger_card_that_ends_does_not_hide_that_the_oldest_did() -> None:
    async with sitting() as sits:
        hooks = [sits.desk.ask(bash(command)) for command in "abc"]
        sits.desk.leave(hooks[0])
        sits.desk.leave(hooks[2])
        (refused,) = await sits.type("allow")
        assert refused.startswith("! #1 has just ended, and #2 is the oldest now")


async def test_a_card_that_was_taken_back_and_then_ended_counts_as_one_that_just_ended() -> None:
    async with sitting(take_back_ms=60_000) as sits:
        hooks = [sits.desk.ask(bash(command)) for command in "ab"]
        await sits.type("allow", "undo")
        sits.desk.leave(hooks[0])
        (refused,) = (await sits.type("deny no"))[-1:]
        assert refused.startswith("! #1 has just ended, and #2 is the oldest now")


async def test_what_the_operator_ended_does_not_stop_the_next_line() -> None:
    async with sitting() as sits:
        for command in "abc":
            sits.desk.ask(bash(command))
        assert await sits.type("allow", "allow", "allow") == [
            "#1 ALLOWED",
            "#2 ALLOWED",
            "#3 ALLOWED",
        ]


async def test_an_outcome_is_printed_once_and_then_its_delivery() -> None:
    async with sitting() as sits:
        whole, lost = sits.desk.ask(bash("a")), sits.desk.ask(bash("b"))
        assert await sits.type("1 allow", "2 allow") == ["#1 ALLOWED", "#2 ALLOWED"]
        sits.desk.deliver(whole)
        sits.desk.deliver(lost, whole=False)
        assert await sits.look() == ["#1 delivered", "#2 NOT DELIVERED: the hook did not take it"]


ASKING = {"hook_event_name": "PermissionRequest"}  # which a person at the agent may answer first


async def test_what_an_agent_says_of_the_outcome_reaches_no_terminal_raw() -> None:
    hostile = "gone\x1b]52;c;AAAA\x07\u202e\x9b2J"
    async with sitting() as sits:
        sits.desk.ask(bash("a") | ASKING)
        await sits.look()
        failed = sample("PostToolUseFailure-Bash", session_id="s1", error=hostile)
        sits.desk.ask({**failed, "tool_input": bash("a")["tool_input"], "tool_use_id": ""})
        said = await sits.look() + await sits.type("1 allow", "1 show")
    assert any("it ran and failed: gone␛]52" in line for line in said)
    assert "".join(said).isprintable()


async def test_what_ends_without_the_operator_says_why() -> None:
    async with sitting() as sits:
        leaves = sits.desk.ask(bash("a"))
        sits.desk.ask(bash("b"), wait=60)
        sits.desk.ask(bash("c", session="other") | ASKING)
        await sits.look()
        sits.desk.leave(leaves)
        sits.desk.pass_time(61)
        sits.desk.ask(sample("Stop", session_id="other"))
        assert await sits.look() == [
            f"#1 WITHDRAWN {LEFT}",
            (
                "#2 EXPIRED nobody decided in time: denied if its hook fails closed, else the agent "
                "goes on by its own rules, which may run it unasked"
            ),
            "#3 WITHDRAWN answered at the agent: the agent's turn ended",
            "· Stop session=othe… project the agent's turn ended · All done.",
        ]


async def test_a_late_answer_changes_nothing_and_says_so() -> None:
    async with sitting() as sits:
        hook = sits.desk.ask(bash())
        sits.desk.leave(hook)
        assert await sits.type("1 allow") == [
            f"! #1 is already withdrawn ({LEFT}): this answer changed nothing"
        ]
        assert hook not in sits.desk.replies


async def test_a_decision_made_at_another_desk_is_printed_too() -> None:
    async with sitting() as sits:
        sits.desk.ask(bash())
        await sits.look()
        sits.desk.answer(1, Decision(Verdict.DENY, reason="no"))
        assert await sits.look() == ["#1 DENIED no"]


async def test_questions_are_answered_by_number_and_the_input_stays_whole() -> None:
    async with sitting() as sits:
        hook = sits.desk.ask(QUESTIONS)
        first, second = QUESTIONS["tool_input"]["questions"][:2]
        assert await sits.type('1 answer 1=2 2=1,"own words" 1.note="small"') == ["#1 ALLOWED"]
        updated = said(sits.desk, hook)["updatedInput"]
        assert updated["questions"] == QUESTIONS["tool_input"]["questions"]
        assert updated["answers"] == {
            first["question"]: first["options"][1]["label"],
            second["question"]: f"{second['options'][0]['label']}, own words",
        }
        assert updated["annotations"][first["question"]]["notes"] == "small"


async def test_allowing_questions_without_answers_says_what_the_agent_will_do() -> None:
    async with sitting() as sits:
        sits.desk.ask(QUESTIONS)
        remark, outcome = await sits.type("allow")
        assert "without answers the agent will show its own dialog" in remark
        assert outcome == "#1 ALLOWED"


async def test_a_plan_is_released_by_an_allow() -> None:
    async with sitting() as sits:
        hook = sits.desk.ask(PLAN)
        assert await sits.type("allow") == ["#1 ALLOWED"]
        assert said(sits.desk, hook)["updatedInput"] == PLAN["tool_input"]


@pytest.mark.parametrize(
    ("payload", "line", "wrong"),
    [
        (bash(), "1 alow", '"alow" is none of the words'),
        (bash(), "9 allow", "there is no #9"),
        (bash(), "1 deny", '"deny" needs something after it'),
        (bash(), "1 ask now", 'nothing follows "ask": "now"'),
        (bash(), "1 answer 1=1", "#1 asks no questions"),
        (bash(), "1 undo", "no allow of #1 is held"),
        (QUESTIONS, "1 answer 9=1", "there is no question 9"),
        (QUESTIONS, "1 answer 1=9", "question 1 has no option 9"),
        (QUESTIONS, "1 answer 1=1,2", "question 1 takes one answer"),
        (QUESTIONS, "1 answer 1=yes", "cannot read yes (words and notes stand in quotes)"),
        ({**QUESTIONS, "tool_input": {}}, "1 answer 1=1", "#1 cannot be answered: the tool's inp"),
    ],
)
async def test_a_bad_line_says_what_is_wrong_and_decides_nothing(
    payload: dict[str, Any], line: str, wrong: str
) -> None:
    async with sitting() as sits:
        sits.desk.ask(payload)
        (told,) = await sits.type(line)
        assert told.startswith(f"! {wrong}")
        assert "; nothing was decided. Write: " in told
        assert len(sits.desk.waiting()) == 1
        assert not sits.desk.replies


async def test_with_nothing_waiting_a_word_says_so() -> None:
    async with sitting() as sits:
        assert (await sits.type("allow"))[0].startswith("! nothing waits; nothing was decided")
        assert await sits.type("list") == ["· nothing waits"]
        assert await sits.type("") == []


async def test_the_list_tells_age_and_time_left() -> None:
    async with sitting() as sits:
        sits.desk.ask(bash("make\nrm x"), wait=600)
        sits.desk.pass_time(72)
        sits.desk.ask(QUESTIONS, wait=60)
        first, second = await sits.type("list")
        assert first == "#1 waits 1:12, 8:48 left · Bash project make␊rm x"
        assert second.startswith("#2 waits 0:00, 1:00 left · AskUserQuestion project ")


async def test_show_prints_the_whole_of_a_card_even_when_it_has_ended() -> None:
    async with sitting() as sits:
        long = "\n".join(f"echo {n}" for n in range(500))
        sits.desk.ask(bash(long))
        assert "    echo 250" not in await sits.look()
        assert "    echo 250" in await sits.type("show")
        await sits.type("1 pass")
        block = await sits.type("1 show")
        assert "    echo 250" in block
        assert block[-2] == "  ended: PASSED"


async def test_help_is_the_parsers_own_table() -> None:
    async with sitting() as sits:
        told = "\n".join(await sits.type("help"))
        assert told == "\n".join(help_lines())


async def test_an_observed_event_is_one_line_in_the_feed() -> None:
    async with sitting() as sits:
        sits.desk.ask(sample("PostToolUse-Bash", session_id="3f1c77", cwd="/w/api-server"))
        said = "· PostToolUse Bash session=3f1c… api-server it ran · echo hi > out.txt"
        assert await sits.look() == [said]


# The moment in which an allow can be taken back.


@pytest.mark.parametrize("changed", ["another server leads now, b.example:7444", ""])
async def test_a_server_that_is_heard_again_is_told_with_what_became_of_it(changed: str) -> None:
    async with sitting() as sits:
        tell = sits.sees._publish  # type: ignore[attr-defined]
        tell(LinkChanged("it has ended"))
        tell(LinkChanged("", sits.desk.now(), changed))
        lost, back = await sits.look()
    assert lost == "! no connection to the server: it has ended; nothing can be done"
    assert back == f"· {changed or 'connected again'}"


async def test_a_held_allow_can_be_taken_back_and_given_again() -> None:
    async with sitting(take_back_ms=60_000) as sits:
        hook = sits.desk.ask(bash())
        assert await sits.type("allow") == ["#1 is allowed in 60.0 s; 1 undo takes it back"]
        assert await sits.type("1 undo") == ["#1 taken back, it waits for you again"]
        sits.desk.pass_time(61)
        assert await sits.look() == []
        assert hook not in sits.desk.replies


async def test_a_held_allow_is_given_when_its_moment_is_over() -> None:
    async with sitting(take_back_ms=20) as sits:
        hook = sits.desk.ask(bash())
        await sits.type("allow")
        given = asyncio.Event()
        unsubscribe = sits.desk.listen(lambda _: given.set())
        sits.desk.pass_time(0.02)
        assert hook not in sits.desk.replies
        await asyncio.wait_for(given.wait(), 60)
        unsubscribe()
        assert await sits.look() == ["#1 ALLOWED"]


async def test_a_denial_replaces_a_held_allow_at_once() -> None:
    async with sitting(take_back_ms=60_000) as sits:
        hook = sits.desk.ask(bash())
        await sits.type("allow")
        assert await sits.type("1 deny no") == ["#1 DENIED no"]
        assert said(sits.desk, hook)["permissionDecision"] == "deny"


async def test_an_allow_is_not_held_past_the_hooks_own_time() -> None:
    async with sitting(take_back_ms=60_000) as sits:
        sits.desk.ask(bash(), wait=30)
        assert (await sits.type("allow"))[-1] == "#1 ALLOWED"


async def test_a_held_allow_of_a_card_that_ends_is_void_and_says_so() -> None:
    async with sitting(take_back_ms=60_000) as sits:
        hook = sits.desk.ask(bash())
        await sits.type("allow")
        sits.desk.leave(hook)
        outcome, told = await sits.look()
        assert outcome == f"#1 WITHDRAWN {LEFT}"
        assert told.startswith("! ")
        assert told.endswith("your answer changed nothing")


async def test_an_allow_still_held_when_the_operator_leaves_was_never_given() -> None:
    desk = PlayedDesk()
    async with sitting(desk, take_back_ms=60_000) as sits:
        hook = desk.ask(bash())
        await sits.type("allow")
        assert await sits.type(None) == [
            "! what was held was not given (1): you left before its time"
        ]
    desk.pass_time(120)
    assert hook not in desk.replies


# How it ends.


@pytest.mark.parametrize("end", ["quit", None])
async def test_what_was_decided_is_told_before_the_desk_closes(end: str | None) -> None:
    desk = PlayedDesk()
    hook = desk.ask(bash())
    sits = Sitting(desk)
    await sits.type("1 allow", end)
    await asyncio.wait_for(run(desk, sits.lines(), sits.write), 60)
    assert sits.everything[-1] == "#1 ALLOWED"
    assert hook in desk.replies


async def test_leaving_decides_nothing() -> None:
    desk = PlayedDesk()
    hook = desk.ask(bash())
    async with sitting(desk) as sits:
        await sits.type(None)
    assert len(desk.waiting()) == 1
    assert hook not in desk.replies


async def test_a_desk_works_over_pipes() -> None:
    desk = PlayedDesk()
    hook = desk.ask(bash())
    (typed, operator), (screen, printed) = os.pipe(), os.pipe()
    try:
        os.write(operator, b"7 allow\n#1 deny not \xff here\r\nquit\n1 allow\n")
        await asyncio.wait_for(run(desk, read_lines(typed), LineWriter(printed)), 60)
        lines = os.read(screen, 1 << 16).decode().split("\n")
    finally:
        for descriptor in (typed, operator, screen, printed):
            os.close(descriptor)
    assert lines[1] == "#1 PreToolUse Bash session=s1 cwd=/home/dev/project"
    assert lines[-3].startswith("! there is no #7; nothing was decided")
    assert lines[-2:] == ["#1 DENIED not \ufffd here", ""]
    assert said(desk, hook)["permissionDecisionReason"] == "not \ufffd here"


async def test_an_operator_who_no_longer_reads_has_left() -> None:
    desk = PlayedDesk()
    sits = Sitting(desk)

    async def gone(_: str) -> None:
        raise BrokenPipeError

    await asyncio.wait_for(run(desk, sits.lines(), gone), 60)
    assert not desk.watched


async def test_no_more_lines_are_taken_in_than_can_be_answered() -> None:
    taken = 0

    async def lines() -> AsyncIterator[str]:
        nonlocal taken
        for taken in range(1, 3 * BACKLOG):  # noqa: B007 - counted for the test
            yield "list"

    async def stuck(_: str) -> None:
        await asyncio.Event().wait()

    running = asyncio.create_task(run(PlayedDesk(), lines(), stuck))
    for _ in range(4 * BACKLOG):
        await asyncio.sleep(0)
    assert not running.done()
    assert 1 < taken <= BACKLOG + 1
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


class _LossyDesk(PlayedDesk):
    """A desk that tells its first outcome later, and of which one update before that is lost."""

    lost = False

    def subscribe(self, listener: Callable[[Update], object]) -> Callable[[], None]:
        def told(update: Update) -> None:
            if self.lost or not isinstance(update.news, Settled):
                listener(update)
                return
            self.lost = True
            late = Update(update.number + 1, update.news)
            asyncio.get_running_loop().call_soon(listener, late)

        return super().subscribe(told)


async def test_an_outcome_behind_a_lost_update_lets_the_next_line_be_read() -> None:
    async with sitting(_LossyDesk()) as sits:
        sits.desk.ask(bash())
        await sits.type("1 deny not now")
        assert await sits.type("list") == ["· nothing waits"]


async def test_a_desk_that_is_stopped_stops_listening() -> None:
    desk = PlayedDesk()
    sits = Sitting(desk)
    running = asyncio.create_task(run(desk, sits.lines(), sits.write))
    await sits.look()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not desk.watched


# Whatever happens, in whatever order.

MOVE = st.sampled_from(
    [
        "ask",
        "question",
        "leave",
        "deliver",
        "lost",
        "time",
        "stop",
        "allow",
        "deny no",
        "2 allow",
        "3 pass",
        "1 ask",
        "undo",
        "answer 1=1",
        "list",
        "show",
        "nonsense",
    ]
)
OUTCOME = re.compile(r"#(\d+) (ALLOWED|DENIED|HANDED BACK|PASSED|EXPIRED|WITHDRAWN)\b")
OURS = re.compile(r"#\d+ |· |! |  |$")


async def play(sits: Sitting, moves: list[str]) -> None:
    hooks: list[str] = []
    for number, move in enumerate(moves):
        match move:
            case "ask":
                hooks.append(sits.desk.ask(bash(f"x{number}\n#9 ALLOWED\r#9 DENIED", "s\n#9 x")))
            case "question":
                hooks.append(sits.desk.ask({**QUESTIONS, "tool_use_id": f"q{number}"}))
            case "leave" | "deliver" | "lost" if hooks:
                hook = hooks[number % len(hooks)]
                if move == "leave":
                    sits.desk.leave(hook)
                else:
                    sits.desk.deliver(hook, whole=move == "deliver")
            case "time":
                sits.desk.pass_time(200)
            case "stop":
                sits.desk.ask(sample("Stop", session_id="s\n#9 x", cwd="/\n#9 ALLOWED"))
            case _:
                await sits.type(move)
        if number % 3 == 0:
            await sits.look()
    await sits.look()


@given(st.lists(MOVE, max_size=25), st.sampled_from([0, 60_000]))
def test_every_card_that_ends_has_one_outcome_line_and_no_line_is_forged(
    moves: list[str], take_back_ms: int
) -> None:
    async def whole() -> Sitting:
        async with sitting(take_back_ms=take_back_ms) as sits:
            await play(sits, moves)
        return sits

    sits = asyncio.run(whole())
    assert all(OURS.match(line) and line.isprintable() for line in sits.everything)
    told = [(int(found[1]), found[2]) for line in sits.everything if (found := OUTCOME.match(line))]
    ended = [
        (number, card.outcome)
        for number in range(1, len(moves) + 1)
        if (card := sits.desk.card(number)) and card.outcome
    ]
    assert sorted(told) == ended


async def test_what_is_wrong_with_the_rules_is_printed_at_the_start_and_with_every_list() -> None:
    desk = PlayedDesk()
    desk.wrong.append("NO RULES ARE in force: rules.toml, line 2: \x1b[2J")
    async with sitting(desk) as sits:
        wrong = "! NO RULES ARE in force: rules.toml, line 2: ␛[2J"
        assert sits.everything[1] == wrong
        assert await sits.type("list") == [wrong, "· nothing waits"]
        desk.wrong.clear()
        desk.runner.look_at_troubles()
        assert await sits.type("list") == ["· nothing waits"]


@pytest.mark.process
def test_the_plain_desk_starts_without_the_full_screens_libraries() -> None:
    code = (
        "import sys, crabhook.ui.plain.desk, crabhook.ui.terminal\n"
        "print(*sorted({'prompt_toolkit', 'pygments'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == []
