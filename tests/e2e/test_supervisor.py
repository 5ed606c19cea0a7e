"""The real Claude Code under the supervisor: kept going, let go, and asked no question in vain."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from crabhook.install.program import interpreter, stub
from crabhook.platforms.installation import START
from tests.support.claude import command_hook, hook_settings
from tests.support.plain_desk import PlainDesk
from tests.support.requirements import program
from tests.support.supervised import CRABHOOK, QUESTION, Judge, Supervised
from tests.support.turns import Script, Text, ToolUse

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import MakeClaude
    from tests.support.claude import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

TURNS = ((Text("First."),), (Text("Second."),), (Text("Third."),), (Text("Fourth."),))
NOT_YET = {"allow_stop": False, "feedback": "The crab wants tests."}
NOR_NOW = {"allow_stop": False, "feedback": "The crab wants docs."}
GO = {"allow_stop": True, "feedback": "The crab is content."}


def settings(hook: Supervised, event: str = "Stop") -> dict[str, object]:
    return hook_settings({event: [command_hook(shlex.join(hook.command), timeout=660)]})


def turns_taken(run: Run) -> int:
    return [request.conversation for request in run.requests].count("main")


def test_it_is_kept_going_twice_by_a_command_and_then_let_go(
    claude: MakeClaude, tmp_path: Path
) -> None:
    judge = Judge(tmp_path, NOT_YET, NOR_NOW, GO)
    agent = claude(*TURNS, settings=settings(Supervised(tmp_path, reviewer=judge.command)))
    run = agent.headless("write a parser")
    assert (run.exit_code, run.stdout.strip(), turns_taken(run)) == (0, "Third.", 3)
    told = "\n".join(run.last.texts())
    assert told.index("The crab wants tests.") < told.index("The crab wants docs.")
    reviews = [one["review"] for one in judge.heard()]
    assert [one["last_assistant_message"] for one in reviews] == ["First.", "Second.", "Third."]
    assert [one["iteration"] for one in reviews] == [1, 2, 3]
    assert [one["hook_input"]["stop_hook_active"] for one in reviews] == [False, True, True]


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside crabhook's own hook"])
def test_it_is_kept_going_twice_by_the_operator_and_then_let_go(
    claude: MakeClaude, tmp_path: Path, beside: bool
) -> None:
    with PlainDesk() as desk:
        hook = Supervised(tmp_path, "--server", desk.address)
        own = [
            interpreter(),
            "-I",
            "-S",
            "-c",
            START,
            stub(),
            "--companion",
            "--server",
            desk.address,
        ]
        commands = [*([own] if beside else []), list(hook.command)]
        handlers = [command_hook(shlex.join(one), timeout=660) for one in commands]
        agent = claude(*TURNS, settings=hook_settings({"Stop": handlers}))
        terminal = agent.terminal("write a parser")
        for number, said in enumerate(
            ["keep-going write tests", "keep-going write docs", "allow"], 1
        ):
            assert int(desk.wait_for(r"^#(\d+) Stop session=").group(1)) == number
            desk.say(f"{number} {said}")
            desk.wait_for(rf"^#{number} delivered")
        terminal.wait_for("Third.")
    requests = [one for one in agent.requests() if one.conversation == "main"]
    assert len(requests) == 3
    told = "\n".join(requests[-1].texts())
    assert told.index("write tests") < told.index("write docs")


@pytest.mark.parametrize(("verdict", "told"), [(NOT_YET, "The crab wants tests."), (GO, "")])
def test_a_question_is_denied_with_feedback_or_put_to_the_user(
    claude: MakeClaude, tmp_path: Path, verdict: dict[str, object], told: str
) -> None:
    hook = Supervised(tmp_path, reviewer=Judge(tmp_path, verdict).command)
    asked = ToolUse("AskUserQuestion", QUESTION["tool_input"])  # type: ignore[arg-type]
    agent = claude((asked,), (Text("All said."),), settings=settings(hook, "PreToolUse"))
    terminal = agent.terminal("ask me")
    if told:
        terminal.wait_for("All said.")
        assert told in agent.requests()[-1].tool_results()[0]
    else:
        terminal.wait_for("Which library?")
        terminal.press("Enter", until="All said.")
        assert '"Which library?"="attrs"' in agent.requests()[-1].tool_results()[0]


def test_escape_at_the_agent_ends_the_review(claude: MakeClaude, tmp_path: Path) -> None:
    with PlainDesk() as desk:
        hook = Supervised(tmp_path, "--server", desk.address)
        terminal = claude(*TURNS, settings=settings(hook)).terminal("write a parser")
        number = desk.wait_for(r"^#(\d+) Stop session=").group(1)
        terminal.key("Escape")
        desk.wait_for(rf"^#{number} WITHDRAWN")


def test_past_the_limit_it_is_let_go(claude: MakeClaude, tmp_path: Path) -> None:
    judge = Judge(tmp_path, NOT_YET)
    hook = Supervised(tmp_path, reviewer=judge.command, limit=1)
    run = claude(*TURNS, settings=settings(hook)).headless("write a parser")
    assert (run.stdout.strip(), turns_taken(run)) == ("Second.", 2)


@pytest.mark.parametrize(
    "reviewer", [["/bin/false"], ["/bin/sleep", "60"]], ids=["failing", "slow"]
)
def test_a_reviewer_that_gives_no_verdict_lets_it_go(
    claude: MakeClaude, tmp_path: Path, reviewer: list[str]
) -> None:
    hook = Supervised(tmp_path, reviewer=reviewer, timeout=2)
    run = claude(*TURNS, settings=settings(hook)).headless("write a parser")
    assert (run.exit_code, run.stdout.strip(), turns_taken(run)) == (0, "First.", 1)


def test_the_ready_reviewer_is_claude_code_itself(claude: MakeClaude, tmp_path: Path) -> None:
    verdict = ToolUse("StructuredOutput", dict(NOT_YET))
    reviewer = [CRABHOOK, "supervisor-review", "--claude", str(program())]
    hook = Supervised(tmp_path, reviewer=reviewer, limit=2)
    agent = claude(
        script=Script(TURNS, closing=(verdict,)),
        settings=settings(hook),
        seconds=90,
    )
    run = agent.headless("write a parser")
    assert (run.exit_code, run.stdout.strip(), turns_taken(run)) == (0, "Third.", 3), run.stderr
    reviewed = [one for one in run.requests if "May it?" in "\n".join(one.texts())]
    first, second = ("\n".join(one.texts()) for one in reviewed)
    assert '"task": "write a parser"' in first
    assert '"last_assistant_message": "First."' in first
    assert '"last_assistant_message": "Second."' in second
    tools = {tool["name"] for one in reviewed for tool in one.body["tools"]}
    assert tools <= {"StructuredOutput", "DeferredToolPlaceholder"}
