"""A real OpenCode, our plugin installed by `crabhook install opencode`, decided from a real desk."""

from __future__ import annotations

import json
import re
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.agreement import notes_server
from tests.support import requirements
from tests.support.http_desk import HttpDesk
from tests.support.opencode import OpenCode, shell
from tests.support.passage import outside
from tests.support.turns import Script, Text, ToolUse, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Protocol

    class MakeOpenCode(Protocol):
        """Makes an installation of OpenCode, hooked to the desk, whose model says these turns."""

        def __call__(
            self, *turns: Turn, options: tuple[str, ...] = (), **more: Any
        ) -> OpenCode: ...


pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

ASKS = {"bash": "ask"}
ERRAND = "ERRAND"
OVER = (Text("Understood."),)
QUESTION = ToolUse(
    "question",
    {
        "questions": [
            {
                "question": "Which colour?",
                "header": "Colour",
                "options": [
                    {"label": "Red", "description": "warm"},
                    {"label": "Blue", "description": "cold"},
                ],
            }
        ]
    },
)


@pytest.fixture
def desk() -> Iterator[HttpDesk]:
    with HttpDesk() as desk:
        yield desk


@pytest.fixture
def opencode(tmp_path: Path, desk: HttpDesk) -> Iterator[MakeOpenCode]:
    """Make an installation under the test's folder, its loopback led to the desk's door."""
    requirements.insist("opencode")
    with ExitStack() as stack:

        def make(*turns: Turn, options: tuple[str, ...] = (), **more: Any) -> OpenCode:
            script = Script(turns, more.pop("subagents", {}))
            agent = OpenCode(tmp_path / "opencode", script, seconds=200, **more)
            stack.callback(agent.close)
            token = desk.folder / ".local" / "state" / "crabhook" / "token"
            where = ("--url", desk.url, "--token-file", str(token))
            agent.crabhook("install", "opencode", *where, *options)
            path = stack.enter_context(outside(desk.port, desk.folder / "door"))
            agent.doors = {desk.port: path}
            return agent

        yield make


@contextmanager
def decided(desk: HttpDesk, *steps: tuple[str, str | Callable[[], None]]) -> Iterator[None]:
    """Say words about the next card of each tool, or do something then, while the block lasts."""

    def go_on() -> None:
        for tool, words in steps:
            # OpenCode takes half a minute to begin where the machine is busy.
            number = desk.wait_for(rf"^#(\d+) [\w.]+ {tool} session=", 120).group(1)
            if isinstance(words, str):
                desk.say(f"{number} {words}")
            else:
                words()

    with ThreadPoolExecutor(1) as helper:
        going = helper.submit(go_on)
        yield
        going.result(120)


def made(agent: OpenCode) -> list[str]:
    """The files that were made in the project."""
    return sorted(path.name for path in agent.project.iterdir() if path.name != ".git")


def lines(text: str) -> list[dict[str, Any]]:
    """What a driver said."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


@pytest.mark.everyday
def test_a_gate_allows_denies_with_a_reason_and_edits(
    opencode: MakeOpenCode, desk: HttpDesk
) -> None:
    turns = [(shell(f"touch {name}"),) for name in ("one", "two", "three")]
    agent = opencode(*turns, OVER, options=("--gate",))
    words = ("allow", "deny one is enough", "edit touch other")
    with decided(desk, *(("bash", line) for line in words)):
        run = agent.headless("make files")
    assert (run.exit_code, run.stdout.strip()[:11]) == (0, "Understood.")
    assert run.requests[-1].results() == ["(no output)", "one is enough", "(no output)"]
    assert made(agent) == ["one", "other"]


def test_a_companion_answers_what_opencode_asks_and_its_questions(
    opencode: MakeOpenCode, desk: HttpDesk
) -> None:
    turns = [(shell("touch one"),), (shell("touch two"),), (QUESTION,)]
    agent = opencode(*turns, OVER, permission=ASKS)
    steps = (("bash", "allow"), ("bash", "deny not the second"), ("question", "answer 1=2"))
    with decided(desk, *steps):
        run = agent.driven("serve", "make files and ask")
    assert lines(run.stdout) == [{"said": ["Understood."]}]
    first, second, third = run.requests[-1].results()
    assert first == "(no output)"
    assert second.endswith("with the following feedback: not the second")
    assert '"Which colour?"="Blue"' in third
    assert made(agent) == ["one"]


def test_an_answer_at_the_agent_ends_the_card(opencode: MakeOpenCode, desk: HttpDesk) -> None:
    agent = opencode((shell("touch one"),), OVER, permission=ASKS)
    run = agent.driven("serve-answers", "make a file")
    assert {"answered": "bash"} in lines(run.stdout)
    desk.wait_for(r"^#1 WITHDRAWN answered at the agent: allowed there, once", again=True)
    assert made(agent) == ["one"]


def test_in_an_editor_its_late_always_allows_nothing(
    opencode: MakeOpenCode, desk: HttpDesk
) -> None:
    turns = [(shell("touch one"),), OVER, (shell("touch two"),)]
    agent = opencode(*turns, OVER, permission=ASKS)
    with decided(desk, ("bash", "allow"), ("bash", "deny not the second")):
        run = agent.driven("acp-late", "make a file")
    assert [line for line in lines(run.stdout) if "ended" in line] == 2 * [{"ended": "end_turn"}]
    assert run.requests[-1].results()[-1].endswith("not the second")
    desk.wait_for("limit: The editor's own dialog stays open", again=True)
    assert made(agent) == ["one"]


def test_nothing_runs_that_nobody_decides_in_time(opencode: MakeOpenCode, desk: HttpDesk) -> None:
    agent = opencode((shell("touch made"),), OVER, options=("--gate", "--wait", "1"))
    run = agent.headless("make a file")
    assert "crabhook cannot ask the operator" in run.requests[-1].results()[0]
    assert made(agent) == []


def test_a_server_that_is_killed_denies(opencode: MakeOpenCode, desk: HttpDesk) -> None:
    agent = opencode((shell("touch made"),), OVER, options=("--gate",))
    with decided(desk, ("bash", desk.kill)):
        run = agent.headless("make a file")
    assert "crabhook cannot ask the operator" in run.requests[-1].results()[0]
    assert made(agent) == []


@pytest.mark.parametrize(("stance", "files"), [("--gate", []), ("--companion", ["made"])])
def test_without_a_server_a_gate_denies_and_a_companion_has_no_opinion(
    opencode: MakeOpenCode, stance: str, files: list[str]
) -> None:
    agent = opencode((shell("touch made"),), OVER, options=(stance,))
    agent.doors = {}
    agent.headless("make a file")
    assert made(agent) == files


def test_a_tool_of_an_mcp_server_is_decided_with_its_arguments(
    opencode: MakeOpenCode, desk: HttpDesk
) -> None:
    calls = [(ToolUse("notes_put", {"text": text}),) for text in ("first", "second")]
    servers = {"notes": [sys.executable, notes_server.__file__]}
    agent = opencode(*calls, OVER, options=("--gate",), mcp=servers)
    with decided(desk, ("notes_put", "allow"), ("notes_put", "deny one note is enough")):
        run = agent.headless("put two notes")
    desk.wait_for("second", again=True)
    assert run.requests[-1].results() == ["noted", "one note is enough"]


def test_a_call_of_a_subagent_is_decided_as_one_of_its_parents_session(
    opencode: MakeOpenCode, desk: HttpDesk
) -> None:
    errand = {"description": "Look", "prompt": f"{ERRAND} look", "subagent_type": "general"}
    does = [(shell(f"touch {name}"),) for name in ("one", "two")]
    agent = opencode(
        (shell("true"),),
        (ToolUse("task", errand),),
        OVER,
        options=("--gate",),
        subagents={ERRAND: (*does, (Text("I looked."),))},
    )
    steps = (
        ("bash", "allow"),
        ("task", "allow"),
        ("bash", "allow"),
        ("bash", "deny one is enough"),
    )
    with decided(desk, *steps):
        run = agent.headless("send somebody")
    assert made(agent) == ["one"]
    assert "I looked." in run.requests[-1].results()[-1]
    sessions = {
        match[1] for line in desk.said if (match := re.match(r"#\d+ tool.* session=(\S+)", line))
    }
    assert len(sessions) == 1
    assert sum(line.strip().startswith("agent: ses_") for line in desk.said) == 2


def test_a_server_that_is_frozen_while_it_is_asked_denies(
    opencode: MakeOpenCode, desk: HttpDesk
) -> None:
    agent = opencode((shell("touch made"),), OVER, options=("--gate",))

    def freeze() -> None:
        desk.process.send_signal(signal.SIGSTOP)

    try:
        with decided(desk, ("bash", freeze)):
            run = agent.headless("make a file")
    finally:
        desk.process.send_signal(signal.SIGCONT)
    assert "the server does not live any more" in run.requests[-1].results()[0]
    assert made(agent) == []


def test_uninstalling_leaves_no_trace(opencode: MakeOpenCode) -> None:
    agent = opencode(OVER)
    before = agent.settings.read_bytes()
    assert agent.plugin.exists()
    agent.crabhook("uninstall", "opencode")
    assert list(agent.plugin.parent.iterdir()) == []
    assert agent.settings.read_bytes() == before
