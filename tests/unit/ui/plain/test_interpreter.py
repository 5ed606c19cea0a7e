"""Every word of the plain desk, typed at a real broker: what is printed, and what the agent hears."""

import asyncio
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.actor import OrderKind
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from crabhook.ui.commands.parse import JUST_NOW
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import QUESTIONS, Sitting, bash, sample, sitting
from tests.support.ruled import RM_DENIED, judge_by

EVENTS_HELD = ("Stop", "PermissionDenied", "PostToolUse", "UserPromptSubmit", "ElicitationResult")
SUGGESTING = sample("PermissionRequest-WebFetch")
URL = SUGGESTING["tool_input"]
REQUEST = sample("PermissionRequest-Bash")
THE_PLAN = {"plan": "# Plan", "planFilePath": "/p.md"}
PLAN = {**sample("PreToolUse-ExitPlanMode"), "tool_input": THE_PLAN}
REQUEST_PLAN = {**PLAN, "hook_event_name": "PermissionRequest", "tool_use_id": ""}
STOP = sample("Stop")
FORM = sample("Elicitation")
WRITE = sample("PreToolUse-Write")
RESULT = sample("PostToolUse-Bash")
CALL = bash("rm -rf build")


def allow(name: str, **more: Any) -> dict[str, Any]:
    if name == "PermissionRequest":
        said: dict[str, Any] = {"decision": {"behavior": "allow", **more}}
    else:
        said = {"permissionDecision": "allow", **more}
    return {"hookSpecificOutput": {"hookEventName": name, **said}}


def deny(reason: str) -> dict[str, Any]:
    said = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}


def form(action: str, name: str = "Elicitation", **more: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": name, "action": action, **more}}


def ask(sits: Sitting, payload: dict[str, Any], **how: Any) -> str:
    for name in EVENTS_HELD:
        sits.desk.order(Order(OrderKind.HOLD, name=name))
    return sits.desk.ask(payload, **how)


RULE = SUGGESTING["permission_suggestions"][0]
MODE = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


@pytest.mark.parametrize(
    ("payload", "line", "outcome", "heard"),
    [
        (STOP, "allow", "#1 ALLOWED", None),
        (
            STOP,
            "keep-going run the tests too",
            "#1 KEPT GOING run the tests too",
            {"decision": "block", "reason": "run the tests too"},
        ),
        (
            REQUEST,
            "deny --interrupt enough of this",
            "#1 DENIED enough of this (the turn ends)",
            {
                "hookSpecificOutput": {
                    "hookEventName": "PermissionRequest",
                    "decision": {
                        "behavior": "deny",
                        "message": "enough of this",
                        "interrupt": True,
                    },
                }
            },
        ),
        (
            SUGGESTING,
            "always 1",
            "#1 ALLOWED (allow WebFetch(domain:example.com) → local settings)",
            allow("PermissionRequest", updatedPermissions=[RULE]),
        ),
        (
            SUGGESTING,
            "1 always 1 session",
            "#1 ALLOWED (allow WebFetch(domain:example.com) → this session)",
            allow(
                "PermissionRequest",
                updatedPermissions=[{**RULE, "destination": "session"}],
            ),
        ),
        (
            SUGGESTING,
            "1 always 1 USER",
            "#1 ALLOWED (allow WebFetch(domain:example.com) → user settings)",
            allow(
                "PermissionRequest",
                updatedPermissions=[{**RULE, "destination": "userSettings"}],
            ),
        ),
        (
            REQUEST_PLAN,
            "mode acceptedits",
            "#1 ALLOWED (switch to the mode acceptEdits → this session)",
            allow("PermissionRequest", updatedInput=THE_PLAN, updatedPermissions=[MODE]),
        ),
        (
            FORM,
            "accept stage=test sure=true",
            '#1 ACCEPTED ({␊  "stage": "test",␊  "sure": true␊})',
            form("accept", content={"stage": "test", "sure": True}),
        ),
        (FORM, "decline", "#1 DECLINED", form("decline")),
        (FORM, "cancel", "#1 CANCELLED", form("cancel")),
        (
            sample("ElicitationResult"),
            'accept any="thing"',
            '#1 ACCEPTED ({␊  "any": "thing"␊})',
            form("accept", "ElicitationResult", content={"any": "thing"}),
        ),
        (
            sample("PermissionDenied-Bash"),
            "retry",
            "#1 RETRIED",
            {"hookSpecificOutput": {"hookEventName": "PermissionDenied", "retry": True}},
        ),
        (
            CALL,
            "defer",
            "#1 DEFERRED",
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "defer",
                }
            },
        ),
        (
            CALL,
            "halt come to me first",
            "#1 DENIED come to me first (the session's turn ends)",
            {**deny("come to me first"), "continue": False, "stopReason": "come to me first"},
        ),
        (
            STOP,
            "halt that is all",
            "#1 PASSED (the session's turn ends: that is all)",
            {"continue": False, "stopReason": "that is all"},
        ),
        (
            CALL,
            "tell I am on the phone",
            "#1 PASSED (its user is told: I am on the phone)",
            {"systemMessage": "I am on the phone"},
        ),
        (
            RESULT,
            'output {"stdout": "hi"}',
            "#1 ALLOWED",
            {
                "hookSpecificOutput": {
                    "hookEventName": "PostToolUse",
                    "updatedToolOutput": {"stdout": "hi"},
                }
            },
        ),
        (
            {**RESULT, "tool_response": "plain"},
            "output as plain",
            "#1 ALLOWED",
            {
                "hookSpecificOutput": {
                    "hookEventName": "PostToolUse",
                    "updatedToolOutput": "as plain",
                }
            },
        ),
        (
            RESULT,
            "deny that is the wrong file",
            "#1 DENIED that is the wrong file",
            {"decision": "block", "reason": "that is the wrong file"},
        ),
        (
            sample("UserPromptSubmit"),
            "deny not today",
            "#1 DENIED not today",
            {"decision": "block", "reason": "not today"},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_word_decides_and_the_agent_hears_just_that(
    payload: dict[str, Any], line: str, outcome: str, heard: dict[str, Any] | None
) -> None:
    async with sitting() as sits:
        hook = ask(sits, payload)
        assert (await sits.type(line))[0] == outcome
        assert sits.desk.replies[hook].output == heard


async def test_suppress_output_goes_with_whatever_is_decided_and_can_be_taken_back() -> None:
    async with sitting() as sits:
        hook, other = ask(sits, CALL), ask(sits, STOP)
        (said,) = await sits.type("1 quiet")
        assert said == "· suppressOutput goes with your decision about #1: nothing is sent yet"
        assert not sits.desk.replies
        await sits.type("2 quiet", "2 quiet", "2 pass")
        assert sits.desk.replies[other].output is None
        (told,) = await sits.type("1 deny no")
        assert told == "#1 DENIED no (its agent is asked not to show what the hook says)"
        assert sits.desk.replies[hook].output == {"suppressOutput": True, **deny("no")}


async def test_what_cannot_suppress_its_output_is_not_marked() -> None:
    async with sitting() as sits:
        ask(sits, FORM)
        (said,) = await sits.type("quiet")
        assert said.startswith("! #1 has no output to suppress; nothing was decided. Write: 1 acc")


URL_FORM = {**FORM, "mode": "url", "url": "https://x.example/", "requested_schema": None}


async def test_a_form_at_an_address_is_accepted_without_values() -> None:
    async with sitting() as sits:
        hook = ask(sits, URL_FORM)
        assert "  url: https://x.example/" in await sits.look()
        assert await sits.type("accept") == ["#1 ACCEPTED"]
        assert sits.desk.replies[hook].output == form("accept")


@pytest.mark.parametrize(
    ("payload", "line", "shown", "sent"),
    [
        (
            CALL,
            "edit ls build",
            ["    @@ -1 +1 @@", "    -rm -rf build", "    +ls build"],
            {"command": "ls build"},
        ),
        (
            {**CALL, "tool_input": {"command": "a", "timeout": 5}},
            "1 edit b",
            ["    @@ -1 +1 @@", "    -a", "    +b"],
            {"command": "b", "timeout": 5},
        ),
        (
            {**WRITE, "tool_input": {"file_path": "/a", "content": "x"}},
            '1 edit {"file_path": "/b", "content": "x"}',
            [
                "    @@ -1,4 +1,4 @@",
                "     {",
                '    -  "file_path": "/a",',
                '    +  "file_path": "/b",',
                '       "content": "x"',
                "     }",
            ],
            {"file_path": "/b", "content": "x"},
        ),
    ],
    ids=["command", "command-with-more", "json"],
)
async def test_an_edit_shows_the_difference_and_sends_the_whole_input(
    payload: dict[str, Any], line: str, shown: list[str], sent: dict[str, Any]
) -> None:
    async with sitting() as sits:
        hook = ask(sits, payload)
        heading, *printed, outcome = await sits.type(line)
        assert re.fullmatch(r"  the (command|input) as it will be sent:", heading)
        assert (printed, outcome) == (shown, "#1 ALLOWED")
        assert sits.desk.replies[hook].output == allow("PreToolUse", updatedInput=sent)


@pytest.mark.parametrize("written", ["# Other", r'"# Other\n1. test"'])
async def test_an_edited_plan_is_sent_on_the_request_and_keeps_its_other_fields(
    written: str,
) -> None:
    async with sitting() as sits:
        first = ask(sits, PLAN)
        heading, *_, outcome = await sits.type(f"edit {written}")
        assert heading == "  the plan as it will be sent:"
        assert outcome == "#1 ALLOWED"
        second = ask(sits, REQUEST_PLAN)
        plan = "# Other\n1. test" if "test" in written else "# Other"
        assert sits.desk.replies[first].output is None
        assert sits.desk.replies[second].output == allow(
            "PermissionRequest", updatedInput={**THE_PLAN, "plan": plan}
        )


async def test_an_edit_that_a_rule_denies_needs_a_second_yes_that_says_so() -> None:
    async with sitting(PlayedDesk(judge=judge_by())) as sits:
        hook = ask(sits, bash("ls"))
        *_, against, refused = await sits.type("edit rm -rf build")
        assert against == f"  ! {RM_DENIED}"
        assert refused.startswith("! the rules are against #1 as you changed it; nothing was")
        assert refused.endswith("Write: 1 anyway")
        assert hook not in sits.desk.replies
        (outcome,) = await sits.type("1 anyway")
        assert outcome == f"#1 ALLOWED (although {RM_DENIED})"
        sent = {"command": "rm -rf build"}
        assert sits.desk.replies[hook].output == allow("PreToolUse", updatedInput=sent)
        assert sits.desk.decided[0][1].despite == (RM_DENIED,)


async def test_anyway_means_the_change_that_was_refused_last_and_no_other() -> None:
    async with sitting(PlayedDesk(judge=judge_by())) as sits:
        hook = ask(sits, bash("ls"))
        (wrong,) = await sits.type("anyway")
        assert wrong.startswith("! nothing was said against a change of #1")
        await sits.type("edit rm -rf build", "edit ls")
        assert (await sits.type("anyway"))[-1].startswith("#1 ALLOWED (although")
        assert hook in sits.desk.replies
        ask(sits, bash("pwd"))
        await sits.type("edit rm x", "deny no")
        (wrong,) = await sits.type("2 anyway")
        assert wrong.startswith("! nothing was said against a change of #2")


async def test_an_edit_is_held_like_any_allow() -> None:
    async with sitting(take_back_ms=60_000) as sits:
        hook = ask(sits, CALL)
        assert (await sits.type("edit ls"))[-1] == "#1 is allowed in 60.0 s; 1 undo takes it back"
        await sits.type("undo")
        assert hook not in sits.desk.replies


@pytest.mark.parametrize(
    ("payload", "line", "wrong"),
    [
        (
            STOP,
            "deny no",
            "Stop cannot be answered with deny; it can with: allow, keep-going, pass",
        ),
        (STOP, "keep-going times=3", "say how to go on"),
        (STOP, "keep-going times=9 on", "times is a number from 1 to 8"),
        (STOP, "keep-going times=0 on", "times is a number from 1 to 8"),
        (STOP, "keep-going times=x on", "times is a number from 1 to 8"),
        ({**STOP, "session_id": ""}, "keep-going times=2 on", "#1 names no session"),
        (STOP, "edit ls", "#1 is about no tool"),
        (CALL, "retry", "PreToolUse cannot be answered with retry"),
        (CALL, "accept a=1", "PreToolUse cannot be answered with accept"),
        (CALL, "deny --interrupt no", "PreToolUse, answered with deny, has nothing to interrupt"),
        (CALL, "always 1", "#1 suggests nothing to keep"),
        (CALL, "mode plan", "PreToolUse, answered with allow, takes no permissions"),
        (CALL, "output 1=1", "the output is JSON, and what you wrote cannot be read"),
        (CALL, "1 output 1", "PreToolUse, answered with allow, has no output to replace"),
        (CALL, "edit rm -rf build", "that changes nothing"),
        (WRITE, "edit [1]", "the input is a JSON object, and what you wrote is not"),
        (WRITE, "edit x", "the input is a JSON object, and what you wrote is not"),
        (RESULT, "edit ls", "PostToolUse, answered with allow, takes no changed input"),
        (FORM, "deny no", "Elicitation cannot be answered with deny"),
        (FORM, "accept", "the form: 'stage' is a required property"),
        (FORM, "accept stage=other", "stage: 'other' is not one of ['test', 'live']"),
        (FORM, "accept stage=test sure=yes", "sure is of the type boolean, and yes is no JSON"),
        (FORM, "accept stage=test x=1", "the form has no field x"),
        (FORM, "halt no", "Elicitation, answered with pass, stops no session"),
        (SUGGESTING, "always 2", "#1 has no suggestion 2, only 1 to 1"),
        (SUGGESTING, "always x", "#1 has no suggestion x, only 1 to 1"),
        (SUGGESTING, "1 always 1 moon", '"moon" is no place to keep it'),
        (REQUEST_PLAN, "mode yolo", '"yolo" is no permission mode'),
        (CALL, "1 snooze 5", '"5" is no length of time'),
        (CALL, "1 extend soon", '"soon" is no length of time'),
        (CALL, "1 extend 10m", "#1 waits for you as long as its hook does already"),
        (CALL, "hold Stp", '"Stp" is no event that is held on request; those are PostToolUse,'),
        (CALL, "hold PreToolUse", '"PreToolUse" is no event that is held on request'),
        (CALL, "hold Stop times=9", "times must be 1 to 8"),
        (CALL, "hold Stop times=x", '"x" is no number of times'),
        (CALL, "hold Stop for=5m", "cannot read for=5m"),
        (CALL, "hold Stop session=zz", "no session that is known begins with zz"),
        (CALL, "allow-all s1", "which session, and for how long?"),
        (CALL, "allow-all zz 5m", "no session that is known begins with zz"),
        (CALL, "allow-all s1 0m", "a length of time is more than nothing"),
        (CALL, "hold-all s1 101h", "a length of time is more than nothing and at most 100h"),
        (CALL, "release Compact", '"Compact" is no event that is held on request'),
        (CALL, "release SessionStart", "there is no such order to end"),
        (CALL, "here", "you are not away"),
        (CALL, "away soon", '"soon" is no length of time'),
        (CALL, "session=zz deny no", "no session that is known begins with zz"),
        (CALL, "1,9 deny no", "there is no #9"),
        (CALL, "same=9 allow", "there is no #9"),
    ],
)
async def test_what_cannot_be_done_says_why_and_decides_nothing(
    payload: dict[str, Any], line: str, wrong: str
) -> None:
    async with sitting() as sits:
        hook = ask(sits, payload)
        orders = sits.desk.orders()
        told = (await sits.type(line))[-1]
        assert told.startswith(f"! {wrong}"), told
        assert "; nothing was decided. Write: " in told
        assert hook not in sits.desk.replies
        assert len(sits.desk.waiting()) == 1
        assert sits.desk.orders() == orders


# Stops.


async def test_a_stop_shows_what_was_said_and_how_often_it_was_kept_going() -> None:
    async with sitting() as sits:
        sits.desk.order(Order(OrderKind.HOLD, name="Stop"))
        sits.desk.ask({**STOP, "background_tasks": [{"id": "b1", "command": "make"}]})
        block = await sits.look()
        assert "  last message: All done." in block
        assert "  stop_hook_active: false" in block
        assert '  background tasks: [{"id": "b1", "command": "make"}]' in block
        assert "  kept going: 0 of 8 in a row" in block
        words = "1 allow | 1 keep-going [times=N] INSTRUCTION | 1 pass | 1 halt REASON"
        assert f"  answer with: {words} | 1 tell MESSAGE" in block
        await sits.type("keep-going more")
        sits.desk.ask(sample("Stop-second"))
        assert "  kept going: 1 of 8 in a row" in await sits.look()


async def test_keep_going_several_times_goes_on_by_itself_and_ends() -> None:
    async with sitting() as sits:
        hooks = [ask(sits, STOP)]
        assert "#1 KEPT GOING on" in await sits.type("keep-going times=3 on")
        hooks += [ask(sits, sample("Stop-second")) for _ in range(2)]
        on = {"decision": "block", "reason": "on"}
        assert [sits.desk.replies[hook].output for hook in hooks] == [on, on, on]
        assert not sits.desk.waiting()
        ask(sits, sample("Stop-second"))
        assert "  kept going: 3 of 8 in a row" in await sits.look()
        (refused,) = await sits.type("keep-going times=6 on")
        assert refused.startswith("! times is a number from 1 to 5: #2 was kept going 3 times")


# Several at once.


async def test_several_are_decided_together_each_with_its_own_outcome() -> None:
    async with sitting() as sits:
        hooks = [sits.desk.ask(bash(command)) for command in "abc"]
        await sits.look()
        assert await sits.type("1,3 allow fine") == ["#1 ALLOWED fine", "#3 ALLOWED fine"]
        assert hooks[1] not in sits.desk.replies


async def test_what_fails_for_one_does_not_stop_the_others() -> None:
    async with sitting() as sits:
        hooks = [sits.desk.ask(bash(command)) for command in "abc"]
        ask(sits, STOP)
        sits.desk.leave(hooks[1])
        await sits.look()
        late, stop, *denied = sorted(await sits.type("1,2,3,4 deny no"))
        assert denied == ["#1 DENIED no", "#3 DENIED no"]
        assert late.startswith("! #2 is already withdrawn")
        assert stop.startswith("! #4: Stop cannot be answered with deny")


async def test_all_and_all_of_a_session_can_be_refused() -> None:
    async with sitting() as sits:
        for number, session in enumerate(["aa1", "ab2", "aa1", "c"]):
            sits.desk.ask(bash(f"x{number}", session))
        await sits.look()
        (several,) = await sits.type("session=a deny no")
        assert several.startswith("! 2 sessions begin with a: aa1, ab2; nothing was decided")
        assert await sits.type("session=aa deny no") == ["#1 DENIED no", "#3 DENIED no"]
        assert await sits.type("all pass") == ["#2 PASSED", "#4 PASSED"]
        assert (await sits.type("all pass"))[0].startswith("! nothing waits")


async def test_what_asks_the_same_is_said_so_and_decided_together() -> None:
    async with sitting() as sits:
        sits.desk.ask(bash("ls", "one"))
        sits.desk.ask({**bash("ls", "two"), "tool_use_id": "other"})
        sits.desk.ask({**bash("ls", "three"), "cwd": "/elsewhere"})
        said = "#2 asks the same as #1; same=2 means them all"
        assert said in await sits.look()
        assert said.replace("2", "_").replace("1", "2").replace("_", "1") in await sits.type("show")
        first, second, third = await sits.type("list")
        assert second.endswith(" · the same as #1")
        assert "the same" not in first + third
        assert sorted(await sits.type("same=1 allow")) == ["#1 ALLOWED", "#2 ALLOWED"]
        assert [card.number for card in sits.desk.waiting()] == [3]


# Time.


async def test_a_card_put_aside_is_not_the_oldest_until_it_comes_back() -> None:
    async with sitting() as sits:
        sits.desk.ask(bash("a"))
        sits.desk.ask(bash("b"))
        await sits.look()
        assert await sits.type("snooze 5m") == ["#1 is put aside for 5:00"]
        assert "aside for 5:00" in (await sits.type("list"))[0]
        assert await sits.type("allow") == ["#2 ALLOWED"]
        assert (await sits.type("allow"))[0].startswith("! all that waits is put aside")
        sits.desk.pass_time(300)
        assert await sits.look() == ["#1 is back"]
        assert await sits.type("deny no") == ["#1 DENIED no"]


async def test_a_line_meant_for_another_does_not_decide_a_card_that_just_came_back() -> None:
    async with sitting() as sits:
        sits.desk.ask(bash("rm -rf /"))
        sits.desk.ask(bash("ls"))
        await sits.type("1 snooze 1m")
        sits.desk.pass_time(60)
        (refused,) = (await sits.type("allow"))[-1:]
        assert refused.startswith("! #1 has just come back, and is the oldest now; nothing was d")
        sits.desk.pass_time(JUST_NOW)
        assert await sits.type("deny no") == ["#1 DENIED no"]


async def test_a_card_waits_longer_as_long_as_its_agent_does() -> None:
    async with sitting() as sits:
        ask(sits, CALL, wait=60, limit=600)
        await sits.look()
        assert await sits.type("extend 1m30s") == ["#1 waits longer: 2:30 left"]
        assert await sits.type("1 extend 2h") == ["#1 waits longer: 10:00 left"]
        assert (await sits.type("1 extend 5m"))[0].startswith(
            "! #1 waits for you as long as its hook"
        )


async def test_several_are_put_aside_at_once() -> None:
    async with sitting() as sits:
        for command in "ab":
            sits.desk.ask(bash(command))
        await sits.look()
        assert await sits.type("all snooze 90s") == [
            "#1 is put aside for 1:30",
            "#2 is put aside for 1:30",
        ]


# Standing orders.


async def test_an_event_waits_once_it_is_to_be_held_and_no_longer_when_released() -> None:
    async with sitting() as sits:
        sits.desk.ask(STOP)
        assert await sits.look() == [
            "· Stop session=557e… project the agent's turn ended · All done."
        ]
        assert await sits.type("hold stop times=2") == ["· desk: hold Stop times=2"]
        sits.desk.ask(STOP)
        assert (await sits.look())[0].startswith("#1 Stop session=")
        assert await sits.type("orders") == ["· order: hold Stop times=1"]
        assert await sits.type("release Stop") == ["· desk: ended: hold Stop times=1"]
        assert await sits.type("orders") == ["· no order stands"]
        sits.desk.ask({**STOP, "session_id": "other"})
        assert (await sits.look())[0].startswith("· Stop session=othe… project")
        assert len(sits.desk.waiting()) == 1  # what waits already still does


async def test_an_event_is_held_for_a_session_or_a_project_alone() -> None:
    async with sitting() as sits:
        await sits.type("hold Stop project=api")
        sits.desk.ask({**STOP, "session_id": "x1", "cwd": "/w/web"})
        assert not sits.desk.waiting()
        sits.desk.ask({**STOP, "session_id": "x2", "cwd": "/w/api"})
        assert [card.number for card in sits.desk.waiting()] == [1]
        await sits.type("hold SubagentStop session=x1")
        (_, order) = sits.desk.orders()
        assert (order.name, order.session) == ("SubagentStop", "x1")
        await sits.type("hold PreCompact session=557e8e5a-66c8-49be-a982-72d2c674e9e5")
        assert sits.desk.orders()[-1].session == STOP["session_id"]


async def test_a_session_is_allowed_everything_but_questions_for_a_while() -> None:
    async with sitting() as sits:
        sits.desk.ask(bash("a", "3f1c77"))
        await sits.look()
        given, told = sorted(await sits.type("allow-all 3f1 10m"))
        assert given == "· desk: allow everything of session=3f1c77"
        assert told == "· order: allow everything of session=3f1c77 · 10:00 left"
        hook = sits.desk.ask(bash("b", "3f1c77"))
        echoed = allow("PreToolUse", updatedInput={"command": "b"})
        assert sits.desk.replies[hook].output == echoed
        sits.desk.ask({**QUESTIONS, "session_id": "3f1c77"})
        assert [card.number for card in sits.desk.waiting()] == [1, 2]
        assert (await sits.type("list"))[-1] == told
        sits.desk.pass_time(600)
        ended = "· desk: ended by itself: allow everything of session=3f1c77"
        assert ended in await sits.look()
        sits.desk.ask(bash("c", "3f1c77"))
        assert (await sits.look())[0].startswith("#3 PreToolUse Bash")


async def test_everything_of_a_session_is_held_until_released() -> None:
    async with sitting() as sits:
        sits.desk.ask(sample("Notification", session_id="3f1c77"))
        await sits.type("hold-all 3f1c 1h")
        sits.desk.ask(sample("PostToolUse-Bash", session_id="3f1c77"))
        assert len(sits.desk.waiting()) == 1
        assert await sits.type("release hold-all session=3f") == [
            "· desk: ended: hold everything of session=3f1c77"
        ]


async def test_release_all_ends_every_order_but_being_away() -> None:
    async with sitting() as sits:
        await sits.type("hold Stop", "hold PreCompact", "away")
        assert len(await sits.type("release all")) == 2
        assert [order.kind for order in sits.desk.orders()] == [OrderKind.AWAY]


AWAY = "· away: what agents ask goes to their own users; here ends it"


async def test_whoever_is_away_lets_everything_pass_until_here() -> None:
    async with sitting() as sits:
        waiting = sits.desk.ask(bash("a"))
        printed = await sits.type("away")
        assert AWAY in printed
        assert "#1 WITHDRAWN the operator is away" in printed
        assert sits.desk.replies[waiting].output is None
        hook = sits.desk.ask(bash("b"))
        assert sits.desk.replies[hook].output is None
        assert (await sits.type("list"))[-2:] == ["· nothing waits", AWAY]
        assert await sits.type("here") == ["· desk: ended: away"]
        sits.desk.ask(bash("c"))
        assert len(sits.desk.waiting()) == 1


async def test_being_away_for_a_time_ends_by_itself() -> None:
    async with sitting() as sits:
        assert f"{AWAY} · 2:00:00 left" in await sits.type("away 2h")
        sits.desk.pass_time(7200)
        assert await sits.look() == ["· desk: ended by itself: away"]
        sits.desk.ask(bash())
        assert len(sits.desk.waiting()) == 1


async def test_an_order_that_stood_before_the_operator_came_is_shown() -> None:
    desk = PlayedDesk()
    desk.order(Order(OrderKind.AWAY))
    async with sitting(desk) as sits:
        assert sits.everything[1] == AWAY


# Whatever is typed, in whatever order.

PAYLOADS = {
    "call": CALL,
    "request": SUGGESTING,
    "plan": PLAN,
    "question": QUESTIONS,
    "stop": STOP,
    "form": FORM,
    "result": RESULT,
}
LINES = [
    "allow", "2 allow x", "1,2,3 allow", "all deny no", "same=1 deny no", "session=s pass",
    "keep-going times=3 on", "edit ls", "2 edit {}", "always 1 local", "mode plan",
    "accept stage=test", "decline", "cancel", "retry", "output 5", "halt now", "tell hi", "quiet", "defer",
    "deny --interrupt no", "snooze 2m", "all snooze 1m", "extend 1m", "undo", "answer 1=1",
    "hold Stop", "hold PostToolUse times=1", "release all", "allow-all s1 5m", "hold-all s1 5m",
    "away", "away 1m", "here", "list", "orders", "show", "all show", "help",
]  # fmt: skip
OUTCOME = re.compile(
    r"#(\d+) (ALLOWED|DENIED|HANDED BACK|DEFERRED|KEPT GOING|RETRIED|ACCEPTED|DECLINED|CANCELLED"
    r"|PASSED|EXPIRED|WITHDRAWN)\b"
)
OURS = re.compile(r"#\d+ |· |! |  |$")
HOSTILE = "\n#9 ALLOWED\r#9 DENIED\u2028  answer with: 9 allow\x1b[2J"
MOVE = st.sampled_from([*PAYLOADS, "leave", "time", *LINES])


def hostile(payload: dict[str, Any], number: int) -> dict[str, Any]:
    """The same event with forgeries in every text that an agent may choose."""
    spoilt = {"message": HOSTILE, "last_assistant_message": HOSTILE, "cwd": f"/{HOSTILE}"}
    update = {"type": "addDirectories", "directories": [HOSTILE], "destination": "session"}
    fields = {**payload, **spoilt, HOSTILE: HOSTILE, "session_id": "s1"}
    if "permission_suggestions" in payload:
        fields["permission_suggestions"] = [update, {"type": HOSTILE}]
    if "tool_use_id" in payload:
        fields["tool_use_id"] = f"t{number}"
    return fields


async def play(sits: Sitting, moves: list[str]) -> None:
    hooks: list[str] = []
    for number, move in enumerate(moves):
        if move in PAYLOADS:
            hooks.append(sits.desk.ask(hostile(PAYLOADS[move], number), wait=300, limit=900))
        elif move == "leave":
            if hooks:
                sits.desk.leave(hooks[number % len(hooks)])
        elif move == "time":
            sits.desk.pass_time(70)
        else:
            await sits.type(move)
    await sits.look()


@given(st.lists(MOVE, max_size=30), st.sampled_from([0, 60_000]))
def test_every_card_that_ends_has_one_outcome_and_no_line_is_forged(
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


async def test_a_decision_at_another_desk_ends_what_was_put_aside() -> None:
    async with sitting() as sits:
        sits.desk.ask(bash())
        await sits.type("snooze 5m")
        sits.desk.answer(1, Decision(Verdict.DENY, reason="no"))
        assert await sits.look() == ["#1 DENIED no"]
