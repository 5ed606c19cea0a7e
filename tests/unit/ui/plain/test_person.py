"""The plain desk as a person at a terminal has it: its words, its guards, and how much it tells."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.desk.commands import Claim, Decide
from crabhook.desk.updates import HouseChanged
from crabhook.model.actor import Operator, OrderKind
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from crabhook.present.sentence import by_another
from crabhook.server.core.local_desk import LocalDesk
from crabhook.ui.commands.words import PERSONS_WORDS, WORDS, for_a_person, help_lines
from crabhook.ui.plain.person import DetailLevel
from crabhook.ui.plain.second_yes import asked_for, name_of
from tests.support.desk import PlayedDesk
from tests.support.examples import examples
from tests.support.plain_sitting import PLAN, QUESTIONS, Sitting, bash, said, sample, sitting
from tests.support.rows import every_row
from tests.support.ruled import judge_by
from tests.support.seat import Seat

RISKY = "rm -rf /srv/cache && npm ci"
RISK_OF_IT = (
    "danger: deletes /srv/cache (OUTSIDE the project)."
    " caution: network; installs packages, whose scripts may run"
)
WORDS_FOR_IT = (
    "allow [note]; deny REASON; hand back; pass; edit TEXT; always allow; always deny;"
    " defer; halt REASON; message MESSAGE"
)
ANN = Operator("ann", "Ann\x1b[2J", "laptop", "10.0.0.9")
HOW_IT_COULD = "With take_back_ms in [desk] of the settings every allow is held so long first"
EDIT = sample(
    "PreToolUse-Edit",
    cwd="/home/dev/project",
    tool_input={"file_path": "/home/dev/project/a.py", "old_string": "x", "new_string": "y"},
)


def asking(payload: dict[str, Any], **how: Any) -> PlayedDesk:
    desk = PlayedDesk(**how)
    desk.ask(payload)
    return desk


def decided(sits: Sitting) -> list[Decision]:
    return [card.decision for card in sits.desk.ended() if card.decision]


async def test_a_block_says_what_is_asked_then_the_risk_then_why_then_who() -> None:
    payload = bash(RISKY)
    payload["tool_input"]["description"] = "Clean build"
    payload["permission_mode"] = "auto"
    async with sitting(asking(payload), detail=DetailLevel.FULL) as sits:
        assert sits.everything == [
            "· crabhook, plain desk: 1 waiting; ? lists the words",
            f"#1 Claude Code · project wants to run: {RISKY}",
            "  risk: " + RISK_OF_IT,
            "  in its own words: Clean build",
            "  asked because: no rule covers it",
            "  asked by the main agent, mode auto; 10:00 left",
            "  #1 can be answered with: " + WORDS_FOR_IT,
        ]


async def test_many_empty_lines_on_end_are_a_mark_until_all_is_asked_for() -> None:
    line = "ls" + "\n" * 41 + "rm -rf ~" + " " * 200 + "; x"
    async with sitting(asking(bash(line)), detail=DetailLevel.FULL) as sits:
        told = sits.everything
        assert told[told.index("    ls") + 1] == "    ⟨40 empty lines⟩"
        assert "    rm -rf ~ ⟨200 blanks⟩ ; x" in told
        whole = await sits.type("1 show")
        assert whole.count("    ") == 40


async def test_brief_is_a_sentence_and_the_risk_and_says_what_is_left_out() -> None:
    async with sitting(asking(EDIT), detail=DetailLevel.BRIEF) as sits:
        assert sits.everything[1:-1] == [
            "#1 Claude Code · project wants to edit: a.py +1 -1",
            "  risk: no known risk. also: writes a.py (inside the project)",
            "  not all of it is printed: 1 show prints it",
        ]
        shown = await sits.type("1 show")
        assert shown[-3:] == ["  change:", "    -x", "    +y"]


async def test_brief_and_full_change_what_is_told_of_the_next_card() -> None:
    async with sitting(asking(bash("ls -a")), detail=DetailLevel.FULL) as sits:
        assert await sits.type("brief") == [
            "· from now on: of each new request one line, and its risk"
        ]
        sits.desk.ask(EDIT)
        assert len(await sits.look()) == 3
        await sits.type("full")
        sits.desk.ask({**EDIT, "tool_use_id": "other", "cwd": "/home/dev/project/x"})
        assert "    +y" in await sits.look()


async def test_each_list_of_words_is_printed_once_and_again_when_asked_for() -> None:
    async with sitting(asking(bash("ls")), detail=DetailLevel.FULL) as sits:
        sits.desk.ask(bash("pwd"))
        sits.desk.ask(QUESTIONS)
        await sits.look()
        lists = [line for line in sits.everything if "can be answered with" in line]
        assert [line[:5] for line in lists] == ["  #1 ", "  #3 "]
        assert (await sits.type("2 ?")) == [lists[0].replace("#1", "#2")]
        assert (await sits.type("2 words")) == [lists[0].replace("#1", "#2")]


async def test_a_danger_is_allowed_only_by_a_line_that_says_so() -> None:
    async with sitting(asking(bash(RISKY)), detail=DetailLevel.FULL) as sits:
        for line in ("1 allow", "allow", "1 always allow 1"):
            await sits.type(line)
        assert not decided(sits)
        (refused,) = await sits.type("1 allow fine by me")
        assert refused == (
            "! #1 wants a second yes, to this: deletes /srv/cache (OUTSIDE the project);"
            " nothing was decided. Write: 1 allow! or 1 deletes"
        )
        assert await sits.type("1 deletes") == ["#1 ALLOWED fine by me"]


@pytest.mark.parametrize("line", ["1 allow! go on", "1 ALLOW! go on"])
async def test_the_second_yes_may_stand_in_the_first_line(line: str) -> None:
    async with sitting(asking(bash(RISKY)), detail=DetailLevel.FULL) as sits:
        assert await sits.type(line) == ["#1 ALLOWED go on"]


@pytest.mark.parametrize(
    "line", ["1 del", "1 delete", "1 y", "1 yes", "2 deletes", "1 network", "1", "deletes nothing"]
)
async def test_what_does_not_name_the_effect_is_no_second_yes(line: str) -> None:
    async with sitting(asking(bash(RISKY)), detail=DetailLevel.FULL) as sits:
        await sits.type("1 allow")
        assert (await sits.type(line))[0].startswith("! ")
        assert not decided(sits)


async def test_an_effect_named_without_a_number_is_that_of_the_last_refusal() -> None:
    async with sitting(asking(bash(RISKY)), detail=DetailLevel.FULL) as sits:
        assert (await sits.type("deletes"))[0].startswith('! "deletes" is none of the words')
        await sits.type("1 allow")
        assert await sits.type("deletes /srv/cache") == ["#1 ALLOWED"]


async def test_a_second_yes_is_to_the_card_as_it_was_seen() -> None:
    desk = asking({**bash(RISKY), "tool_use_id": "t"})
    async with sitting(desk, detail=DetailLevel.FULL) as sits:
        await sits.type("1 allow")
        request = {**bash(RISKY), "hook_event_name": "PermissionRequest", "tool_use_id": "t"}
        desk.ask(request)
        await sits.type("1 deletes")
        assert not decided(sits)


async def test_an_edit_that_ends_in_a_danger_wants_a_second_yes() -> None:
    desk = asking(bash("ls"))
    async with sitting(desk, detail=DetailLevel.FULL) as sits:
        *_, refused = await sits.type(f"1 edit {RISKY}")
        assert refused.startswith(
            "! #1 as you changed it wants a second yes, to this: deletes /srv"
        )
        assert refused.endswith("Write: 1 deletes")
        assert await sits.type("1 deletes") == [f"#1 ALLOWED edited: {RISKY}"]
        assert said(desk, "request-1")["updatedInput"]["command"] == RISKY


async def test_an_edit_that_takes_the_danger_out_wants_none() -> None:
    async with sitting(asking(bash(RISKY)), detail=DetailLevel.FULL) as sits:
        printed = await sits.type("1 edit ls")
        assert printed[-1] == "#1 ALLOWED edited: ls"
        assert not any("@@" in line for line in printed)


async def test_allow_after_an_edit_that_was_refused_is_not_taken_for_the_edit() -> None:
    async with sitting(asking(bash("ls")), detail=DetailLevel.FULL) as sits:
        await sits.type(f"1 edit {RISKY}")
        (refused,) = await sits.type("1 allow!")
        assert "your edit of #1 was not given; allow! means it as it was asked" in refused
        assert await sits.type("1 allow!") == ["#1 ALLOWED"]


async def test_anyway_is_told_the_danger_too() -> None:
    async with sitting(asking(bash("ls"), judge=judge_by()), detail=DetailLevel.FULL) as sits:
        printed = await sits.type("1 edit rm -rf /srv/cache")
        assert "  ! deletes /srv/cache (OUTSIDE the project)" in printed
        assert printed[-1].endswith("Write: 1 anyway")
        assert (await sits.type("1 anyway"))[-1].startswith("#1 ALLOWED")


async def test_what_was_not_printed_is_not_allowed_by_a_line_that_does_not_say_so() -> None:
    async with sitting(asking(EDIT), detail=DetailLevel.BRIEF) as sits:
        assert await sits.type("1 allow") == [
            "! #1 was not printed whole; nothing was decided. Write: 1 show or 1 allow!"
        ]
        await sits.type("1 show")
        assert await sits.type("1 allow") == ["#1 ALLOWED"]


async def test_a_long_request_is_not_allowed_before_it_was_shown() -> None:
    long = "\n".join(f"echo {n}" for n in range(300))
    async with sitting(asking(bash(long)), detail=DetailLevel.FULL) as sits:
        assert sits.everything[1] == "#1 Claude Code · project wants to run a command, 300 lines"
        await sits.type("1 allow")
        assert not decided(sits)
        assert "    echo 150" in await sits.type("1 show")
        assert await sits.type("1 allow") == ["#1 ALLOWED"]


@pytest.mark.parametrize("line", ["1 deny no", "1 hand back", "1 pass", "1 halt enough"])
async def test_what_lets_nothing_happen_wants_no_second_yes(line: str) -> None:
    payload = {**bash(RISKY), "permission_mode": "default"}
    async with sitting(asking(payload), detail=DetailLevel.FULL) as sits:
        await sits.type(line)
        assert len(decided(sits)) == 1


@pytest.mark.parametrize("line", ["1 pass", "1 defer", "1 tell careful"])
async def test_no_opinion_on_a_danger_wants_a_second_yes_where_the_agent_asks_nobody(
    line: str,
) -> None:
    payload = {**bash(RISKY), "permission_mode": "bypassPermissions"}
    async with sitting(asking(payload), detail=DetailLevel.FULL) as sits:
        (refused,) = await sits.type(line)
        assert refused.endswith("nothing was decided. Write: 1 deletes")
        await sits.type("1 deletes")
        assert [one.verdict is not Verdict.ALLOW for one in decided(sits)] == [True]


@pytest.mark.parametrize("line", ["1 pass", "1 defer", "1 hand back"])
async def test_no_opinion_wants_a_second_yes_that_names_the_mode_that_asks_nobody(
    line: str,
) -> None:
    payload = {**bash("ls"), "permission_mode": "bypassPermissions"}
    async with sitting(asking(payload), detail=DetailLevel.FULL) as sits:
        (refused,) = await sits.type(line)
        assert refused == (
            "! #1 wants a second yes, to this: in mode bypassPermissions nobody is asked, it may "
            "run; nothing was decided. Write: 1 in mode bypassPermissions"
        )
        await sits.type("1 in mode")
        assert len(decided(sits)) == 1


async def test_what_has_happened_wants_no_second_yes() -> None:
    desk = PlayedDesk()
    desk.order(Order(OrderKind.HOLD, name="PostToolUse"))
    desk.ask(sample("PostToolUse-Bash", tool_input={"command": RISKY}))
    async with sitting(desk, detail=DetailLevel.FULL) as sits:
        assert await sits.type("1 allow") == ["#1 ALLOWED"]


async def test_a_secret_in_the_sentence_is_covered_until_it_is_asked_for() -> None:
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    async with sitting(asking(bash(f"export T={secret}; make")), detail=DetailLevel.FULL) as sits:
        assert not any(secret in line for line in sits.everything)
        assert "  secrets are covered: 1 show secrets prints them" in sits.everything
        assert secret in (await sits.type("1 show secrets"))[0]


@pytest.mark.parametrize("line", ["1 allow", "allow", "1 edit rm -rf /srv/other"])
async def test_a_program_is_not_asked_twice(line: str) -> None:
    async with sitting(asking(bash(RISKY))) as sits:
        await sits.type(line)
        assert [one.verdict for one in decided(sits)] == [Verdict.ALLOW]


@every_row("shown", [word.shown for word in PERSONS_WORDS.values() if word.shown])
def test_both_the_screens_words_and_the_older_are_accepted(shown: str) -> None:
    assert PERSONS_WORDS[shown].name in WORDS
    assert PERSONS_WORDS[PERSONS_WORDS[shown].name] == PERSONS_WORDS[shown]
    assert shown not in WORDS


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("1 hand back", "1 ask"),
        ("1 message hi", "1 tell hi"),
        ("1 wait longer 10m", "1 extend 10m"),
        ("1 always allow", "1 remember"),
        ("?", "help"),
    ],
)
async def test_a_new_word_does_what_the_older_does(new: str, old: str) -> None:
    printed = []
    for line in (new, old):
        async with sitting(asking(bash("ls")), detail=DetailLevel.FULL) as sits:
            printed.append(await sits.type(line))
    assert printed[0] == printed[1] != []


@pytest.mark.parametrize(
    "line",
    ["1 hand back", "?", "1 ?", "1 allow! x", "1 show --raw", "brief", "1 words", "take back"],
)
async def test_programs_are_told_that_a_persons_words_are_none(line: str) -> None:
    async with sitting(asking(bash("ls"))) as sits:
        (refused,) = await sits.type(line)
        assert refused.startswith("! ")
        assert not decided(sits)


async def test_undo_after_an_answer_says_what_it_can_do() -> None:
    async with sitting(asking(bash("ls")), detail=DetailLevel.FULL) as sits:
        (nothing,) = await sits.type("undo")
        assert nothing.startswith("! you have given no answer that could be taken back")
        sits.desk.ask(bash("pwd"))
        await sits.type("1 deny no")
        assert await sits.type("undo") == [
            f"· #1 DENIED was sent at once and cannot be taken back. {HOW_IT_COULD}"
        ]


async def test_undo_takes_back_the_answer_given_last() -> None:
    async with sitting(asking(bash("ls")), take_back_ms=60_000, detail=DetailLevel.FULL) as sits:
        sits.desk.ask(bash("pwd"))
        await sits.type("2 allow")
        assert await sits.type("undo") == ["· #2 taken back, it waits for you again"]


async def test_answers_and_plans_end_in_the_screens_words() -> None:
    async with sitting(asking(QUESTIONS), detail=DetailLevel.FULL) as sits:
        assert (await sits.type("1 answer 1=2 2=1"))[-1] == "#1 ANSWERED"
    async with sitting(asking(PLAN), detail=DetailLevel.FULL) as sits:
        assert (await sits.type("1 deny smaller"))[-1] == "#1 SENT BACK smaller"


async def test_a_hint_is_written_in_the_words_that_a_person_is_shown() -> None:
    async with sitting(asking(bash("ls")), detail=DetailLevel.FULL) as sits:
        (refused,) = await sits.type("1 keep going on")
        assert "1 hand back" in refused
        assert not re.search(r"\b1 (ask|remember|tell)\b", refused)


async def test_everything_that_was_sent_is_printed_raw_and_nothing_of_it_before() -> None:
    payload = bash("ls")
    async with sitting(asking(payload), detail=DetailLevel.FULL) as sits:
        hidden = (payload["transcript_path"], payload["session_id"], "PreToolUse")
        assert not any(word in line for word in hidden for line in sits.everything if len(word) > 4)
        raw = "\n".join(await sits.type("1 show --raw"))
        assert all(word in raw for word in (*hidden, "request-1", '"tool_name": "Bash"'))


async def test_that_an_answer_arrived_is_not_told_but_that_it_did_not_is() -> None:
    desk = asking(bash("ls"))
    async with sitting(desk, detail=DetailLevel.FULL) as sits:
        await sits.type("1 allow")
        desk.deliver("request-1")
        assert await sits.look() == []
        desk.ask(bash("pwd"))
        await sits.type("2 allow")
        desk.deliver("request-2", whole=False)
        assert await sits.look() == ["#2 NOT DELIVERED: the hook did not take it"]


def test_help_has_both_desks_words_and_todays_help_is_what_it_was() -> None:
    text = "\n".join(help_lines(PERSONS_WORDS))
    assert "[N] hand back" in text
    assert "allow!" in text
    older = "\n".join(help_lines())
    assert "hand back" not in older.replace("hand it", "")
    assert "allow!" not in older


def test_usages_are_turned_into_a_persons_words_and_reasons_are_not() -> None:
    assert for_a_person("18 ask | 18 tell MESSAGE") == "18 hand back | 18 message MESSAGE"
    assert for_a_person("7 remember, to see them") == "7 always allow, to see them"
    assert for_a_person("18 deny ask me first") == "18 deny ask me first"


@given(st.text(max_size=80))
@examples(100)
def test_the_name_of_an_effect_names_it_and_little_of_it_does_not(effect: str) -> None:
    effect = f"deletes {effect}"
    assert asked_for(effect, name_of(effect))
    assert not asked_for(effect, name_of(effect)[:-1])
    assert not asked_for(effect, "")


@given(st.text(max_size=300))
@examples(60)
async def test_no_line_of_an_agents_passes_for_one_of_ours(hostile: str) -> None:
    payload = {**bash(hostile), "permission_mode": hostile, "agent_type": hostile, "agent_id": "a"}
    payload["tool_input"]["description"] = payload["tool_input"]["other"] = hostile
    async with sitting(asking(payload), detail=DetailLevel.FULL) as sits:
        for line in sits.everything[1:]:
            assert line.startswith(("#1 Claude Code · ", "  ")) or not line
            ours = ("  risk: ", "  in its own words: ", "  asked because: ", "  asked by the ")
            inside = (
                "    ",
                "  command:",
                "  input:",
                "  other",
                "  #1 can",
                "  not all",
                "  secrets",
                "  …",
            )
            assert not line.startswith("  ") or line.startswith((*ours, *inside))


async def test_the_history_lists_what_ended_filters_it_and_prints_one_entry_whole() -> None:
    desk = PlayedDesk()
    for command in ("npm ci", "ls\x1b[2J\n#1 ALLOWED"):
        desk.ask(bash(command))
    desk.answer(1, Decision(Verdict.ALLOW, note="be quick"))
    desk.answer(2, Decision(Verdict.DENY, reason="not now"))
    async with sitting(desk, detail=DetailLevel.FULL) as sits:
        denied, allowed = await sits.type("history")
        assert re.fullmatch(
            r" +2  .*\d\d:\d\d · DENIED · by operator · project · Bash: ls.*", denied
        )
        assert "ALLOWED · by operator · project · Bash: npm ci" in allowed
        assert await sits.type("history denied tool:bash") == [denied]
        assert await sits.type("history mcp__") == ["· none of the last 2"]
        whole = await sits.type("history 2")
        assert whole[:2] == ["history 2", "  DENIED · by operator"]
        assert "  reason: not now" in whole
        assert not [row for row in whole if "\x1b" in row or row.startswith("#1")]
        assert "there is no entry 77" in (await sits.type("history 77"))[0]


async def test_on_pipes_the_history_is_no_word() -> None:
    async with sitting(PlayedDesk()) as sits:
        assert (await sits.type("history"))[0].startswith("! ")


async def test_full_tells_the_last_prompt_and_the_last_words_and_brief_does_not() -> None:
    desk = PlayedDesk()
    desk.ask({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "Build\nit"})
    desk.words[1] = None
    async with sitting(desk, detail=DetailLevel.FULL) as sits:
        desk.ask(bash(RISKY))
        assert "  the user asked: Build it" in await sits.look()
        desk.words[1] = "So I\n#2 clean\x1b[2J"
        assert await sits.look() == ["#1 the agent said: So I #2 clean␛[2J"]
        assert "  the agent said: So I #2 clean␛[2J" in await sits.type("1 show")
        await sits.type("brief")
        desk.words[2] = "Nothing"
        desk.ask(bash("ls"))
        assert not [row for row in await sits.look() if "the agent said" in row or "asked:" in row]


async def test_a_description_that_is_no_text_is_not_left_out() -> None:
    payload = bash("make")
    payload["tool_input"]["description"] = ["rm -rf ~"]
    async with sitting(asking(payload), detail=DetailLevel.FULL) as sits:
        assert '        "rm -rf ~"' in sits.everything


async def test_words_that_the_event_tells_itself_are_told_once() -> None:
    desk = PlayedDesk()
    desk.order(Order(OrderKind.HOLD, name="Stop"))
    desk.words[1] = "Done."
    async with sitting(desk, detail=DetailLevel.FULL) as sits:
        desk.ask(sample("Stop", last_assistant_message="Done."))
        rows = [*await sits.look(), *await sits.look()]
    assert "  last message: Done." in rows
    assert not [row for row in rows if "the agent said" in row]


async def test_the_words_of_a_plan_that_lies_in_a_file_are_the_files() -> None:
    desk = PlayedDesk()
    desk.words[1] = "# Plan"
    async with sitting(desk, detail=DetailLevel.FULL) as sits:
        desk.ask({**bash(), "tool_name": "ExitPlanMode", "tool_input": {"plan_filename": "p.md"}})
        rows = [*await sits.look(), *await sits.look()]
    assert [row for row in rows if row.endswith("the plan's file: # Plan")]


async def test_a_prompt_that_is_read_later_is_told_once_and_harms_no_terminal() -> None:
    desk = PlayedDesk()
    desk.ask({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "Older"})
    async with sitting(desk, detail=DetailLevel.FULL) as sits:
        said = []
        for number, prompt in ((1, "Build\n#2 it\x1b[2J"), (2, "Older")):
            desk.words[number], desk.read.prompts[number] = None, prompt
            desk.ask({**bash(RISKY), "tool_use_id": f"t{number}"})
            await sits.look()
            desk.words[number] = "So"
            said += await sits.look()
        asked = [row for row in said if "the user asked" in row]
        assert asked == ["#1 the user asked: Build #2 it␛[2J"]
        assert "  the user asked: Build #2 it␛[2J" in await sits.type("1 show")


async def test_a_card_that_another_operator_decided_says_who_did_where_and_when() -> None:
    desk = PlayedDesk()
    ann = Seat(LocalDesk(desk.runner, ANN), desk.runner)
    async with sitting(desk, detail=DetailLevel.FULL) as sits:
        desk.ask(bash("ls"))
        await sits.look()
        ann.answer(1, Decision(Verdict.ALLOW))
        assert "#1 ALLOWED by Ann␛[2J at laptop, 0 s ago" in await sits.look()
        desk.pass_time(2)
        assert "  ended: ALLOWED by Ann␛[2J at laptop, 2 s ago" in await sits.type("1 show")
        desk.ask({**bash("ls -a"), "tool_use_id": "t2"})
        await sits.type("2 allow")
        assert "  ended: ALLOWED" in await sits.type("2 show")
        sees = by_another(desk.runner.broker.ended()[1], ann.replica)
        assert sees in ("by operator at the server's terminal, 0 s ago", "by ann at ann's, 0 s ago")


async def test_who_looks_at_a_card_at_another_desk_is_said_once_and_with_the_card() -> None:
    async with sitting(asking(bash("ls")), detail=DetailLevel.FULL) as sits:
        bob = LocalDesk(sits.desk.runner, Operator("bob", "Bob \x1b[2J", "laptop"))  # type: ignore[arg-type]
        await sits.look()
        for command in (Claim(1), Claim(0, release=True), Claim(1)):
            bob.submit(command)
        assert await sits.look() == ["· Bob ␛[2J is looking at #1"]
        assert "  Bob ␛[2J is looking" in await sits.type("1 show")
        assert (await sits.type("list"))[-1].endswith(" left, Bob ␛[2J is looking")
        bob.submit(Claim(0, release=True))
        assert not any("looking" in line for line in await sits.type("1 show", "list"))


async def test_on_pipes_nobody_is_said_to_look() -> None:
    async with sitting(asking(bash("ls"))) as sits:
        bob = LocalDesk(sits.desk.runner, Operator("bob", "Bob", "laptop"))  # type: ignore[arg-type]
        bob.submit(Claim(1))
        assert not any("looking" in line for line in await sits.type("1 show", "list"))


async def test_what_the_agent_suggests_to_keep_is_read_before_it_is_kept_and_not_for_an_allow() -> (
    None
):
    asked = sample("PermissionRequest-Bash", cwd="/home/dev/project")
    async with sitting(asking(asked), detail=DetailLevel.BRIEF) as sits:
        assert not any("not all of it" in line for line in sits.everything)
        (refused,) = await sits.type("1 always 1")
        assert refused.startswith("! #1 was not printed whole; nothing was decided.")
        await sits.type("1 allow")
        assert [one.verdict for one in decided(sits)] == [Verdict.ALLOW]
        sits.desk.ask({**asked, "prompt_id": "2"})
        await sits.type("2 show", "2 always 1")
        assert [bool(one.permissions) for one in decided(sits)] == [False, True]


async def test_what_a_later_hook_suggests_to_keep_is_read_before_it_is_kept() -> None:
    later = sample("PermissionRequest-Bash", cwd="/home/dev/project", tool_use_id="t")
    asked = {**later, "permission_suggestions": []}
    async with sitting(asking(asked), detail=DetailLevel.BRIEF) as sits:
        sits.desk.ask(later)
        (refused,) = await sits.type("1 always 1")
        assert refused.startswith("! #1 was not printed whole; nothing was decided.")
        shown = await sits.type("1 show")
        assert "  always 1: also work in /home/dev/project → this session" in shown
        await sits.type("1 always 1")
        assert [bool(decision.permissions) for decision in decided(sits)] == [True]


async def test_an_offer_too_long_to_print_hinders_no_allow_that_keeps_nothing() -> None:
    asked = sample("PermissionRequest-Bash", cwd="/home/dev/project")
    long = {**asked["permission_suggestions"][0], "directories": ["/x" * 15_000]}
    asked = {**asked, "permission_suggestions": [long]}
    async with sitting(asking(asked), detail=DetailLevel.FULL) as sits:
        assert any("not all of it is printed" in line for line in sits.everything)
        (refused,) = await sits.type("1 always 1")
        assert "#1 was not printed whole; nothing was decided" in refused
        await sits.type("1 allow")
        assert [one.verdict for one in decided(sits)] == [Verdict.ALLOW]


async def test_a_person_is_told_how_rules_and_record_stand_and_again_once_that_changes() -> None:
    desk = PlayedDesk()
    house = HouseChanged("rules 2 ok · record ok", "1 allowed")
    desk.runner.stand(house)
    async with sitting(desk, detail=DetailLevel.BRIEF) as sits:
        assert sits.everything == [
            "· crabhook, plain desk: 0 waiting; ? lists the words",
            "· rules 2 ok · record ok · today: 1 allowed",
        ]
        for state, today in (("rules 2 WRONG", "1 allowed"), ("rules 2 WRONG", "2 allowed")):
            desk.runner.stand(HouseChanged(state, today))
            desk.runner.look_at_troubles()
        assert await sits.look() == ["· rules 2 WRONG"]


async def test_a_program_is_told_what_it_was_always_told() -> None:
    desk = PlayedDesk()
    desk.runner.stand(HouseChanged("rules 2 ok", "1 allowed"))
    async with sitting(desk) as sits:
        assert sits.everything == ["· crabhook, plain desk: 0 waiting; help lists the words"]
        desk.runner.stand(HouseChanged())
        desk.runner.look_at_troubles()
        assert await sits.look() == []


async def test_after_an_edit_show_prints_the_call_as_it_is_allowed_and_what_was_changed() -> None:
    async with sitting(
        asking(bash("rm old\nls")), take_back_ms=60_000, detail=DetailLevel.FULL
    ) as sits:
        await sits.type("1 edit ls new")
        held = await sits.type("1 show")
        assert held[0] == "#1 Claude Code · project wants to run: ls new"
        edited = held.index("  edited: it will be allowed as it is here")
        assert held[edited + 1] == "  the command as it will be sent:"
        assert "    -rm old" in held[edited:]
        assert "    +ls new" in held[edited:]
        await sits.type("undo")
        assert "wants to run a command, 2 lines" in (await sits.type("1 show"))[0]
    async with sitting(asking(bash("rm old")), detail=DetailLevel.FULL) as sits:
        await sits.type("1 edit ls new")
        shown = await sits.type("1 show")
        assert shown[0] == "#1 Claude Code · project wants to run: ls new"
        assert "  edited: it was allowed as it is here" in shown


async def test_what_was_seen_of_an_edit_is_not_what_was_seen_of_the_call() -> None:
    async with sitting(
        asking(bash("ls\n" * 300)), take_back_ms=60_000, detail=DetailLevel.BRIEF
    ) as sits:
        await sits.type("1 edit ls new")
        await sits.type("1 show")
        await sits.type("undo")
        (refused,) = await sits.type("1 allow")
        assert "#1 was not printed whole; nothing was decided" in refused


@pytest.mark.parametrize("line", ["allow", "deny no", "1 allow", "1 deny no"])
async def test_whoever_comes_too_late_is_told_who_was_first(line: str) -> None:
    async with sitting(detail=DetailLevel.FULL) as sits:
        sits.desk.ask(bash("ls"))
        await sits.look()
        (card,) = sits.desk.waiting()
        bob = LocalDesk(sits.desk.runner, Operator("bob", "Bob", "tower"))  # type: ignore[arg-type]
        bob.submit(Decide(1, card.revision, Decision(Verdict.DENY, reason="mine")))
        await sits.look()
        (said,) = await sits.type(line)
        assert "by Bob at tower" in said
        assert sits.desk.card(1).decision == Decision(Verdict.DENY, reason="mine")  # type: ignore[union-attr]
