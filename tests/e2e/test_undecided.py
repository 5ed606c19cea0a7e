"""A real Claude Code at a gate where nobody decides in time: it goes on, and is ruled on later."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.e2e.test_claude_code import everything, install
from tests.e2e.test_harness import appears
from tests.support.plain_desk import PlainDesk
from tests.support.turns import Text, bash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import MakeClaude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

CALL = "echo ran >> made"
WAITS = "touch busy; while ! test -e go; do sleep 0.1; done; rm go"
"""What keeps the agent busy while a person decides."""
RULES = '[[rule]]\nverdict = "allow"\nmatch = "Bash(sh wait)"\n'
OPEN = r"^#1 UNDECIDED: the agent went on"


@pytest.fixture
def desk() -> Iterator[PlainDesk]:
    desk = PlainDesk("--wait", "3")
    desk.write_rules(RULES)
    with desk:
        yield desk


@pytest.mark.everyday
def test_a_later_yes_is_read_and_lets_the_repeat_run_once_over_a_kill(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent = claude(
        (bash(CALL),),
        (bash("sh wait"),),
        (bash(CALL),),
        (bash(CALL + " "),),
        (bash(CALL),),
        (Text("It is made."),),
    )
    install(agent, desk.address, gate=True, options=("--fail-closed",))
    (agent.project / "wait").write_text(WAITS, encoding="utf-8")
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(agent.headless, "make a file")
        assert desk.card("Bash") == 1
        desk.wait_for(OPEN)
        assert appears(agent.project / "busy")
        desk.kill()
        desk.start()
        desk.wait_for("^#1 .*Bash")
        desk.say("1 allow mind the dog")
        desk.wait_for(r"^#1 ALLOWED")
        desk.kill()
        desk.start()
        assert not (agent.project / "made").exists()
        (agent.project / "go").touch()
        changed, twice = desk.card("Bash"), desk.card("Bash")
        told = everything(run.result(120).last.body)
    assert (changed, twice) == (2, 3)
    assert (agent.project / "made").read_text(encoding="utf-8") == "ran\n"
    assert any("Not decided" in text and "open as #1," in text for text in told)
    assert sum("is allowed now" in text and "mind the dog" in text for text in told) == 1


@pytest.mark.thorough
def test_a_ruling_waits_for_a_headless_session_that_is_resumed(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent = claude((bash(CALL),), (bash("sh wait"),), (Text("I went on."),))
    install(agent, desk.address, gate=True, options=("--fail-closed",))
    (agent.project / "wait").write_text(WAITS, encoding="utf-8")
    session = str(uuid4())
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(agent.headless, "make", extra_args=["--session-id", session])
        desk.wait_for(OPEN)
        assert appears(agent.project / "busy")
        desk.say("1 allow")
        desk.wait_for(r"^#1 ALLOWED")
        (agent.project / "go").touch()
        run.result(120)
    agent.script = replace(agent.script, turns=((bash(CALL),), (bash(CALL),), (Text("Done."),)))
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(agent.headless, "go on", extra_args=["--resume", session])
        assert desk.card("Bash") == 2  # the second such call, for which the ruling counts no more
        assert run.result(120).exit_code == 0
    assert (agent.project / "made").read_text(encoding="utf-8") == "ran\n"


@pytest.mark.thorough
def test_a_later_no_denies_the_repeat_with_its_words_and_the_sessions_end_closes_what_is_open(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent = claude(
        (bash(CALL),), (bash("sh wait"),), (bash(CALL),), (bash(f"{CALL} 2"),), (Text("Done."),)
    )
    install(agent, desk.address, gate=True, options=("--fail-closed",))
    (agent.project / "wait").write_text(WAITS, encoding="utf-8")
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(agent.headless, "make a file")
        desk.wait_for(OPEN)
        assert appears(agent.project / "busy")
        desk.say("1 deny use the other file")
        desk.wait_for(r"^#1 DENIED")
        (agent.project / "go").touch()
        desk.wait_for("^#2 WITHDRAWN its agent had gone on, and ended before anybody ruled")
        told = everything(run.result(120).last.body)
    assert any("is denied now. Do not make it again" in text for text in told)
    assert any("has denied this call, as #1: use the other file" in text for text in told)
    assert not (agent.project / "made").exists()
