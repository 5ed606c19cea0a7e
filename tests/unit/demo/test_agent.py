"""The demo's agents: what each sends, and what it makes of a denial."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from crabhook.demo.script import ScriptedAgent
from crabhook.demo.sessions import MOST_PLANS, PLAYED, Read, ScriptedInput, revised, session, turns
from crabhook.model.decision import Decision, Verdict
from crabhook.platforms import HOOKED, PLATFORMS
from crabhook.ui.full.dialogs.plan import PlanNotes
from tests.support.rows import every_row

CLAUDE = session()
PLAN = CLAUDE.inputs[-1]


def denial(asked: ScriptedInput, reason: str, agent: str = "claude") -> Read:
    """Return what an agent reads of a denial."""
    event = session(agent).event(asked.sends)
    return Read(
        event, PLATFORMS[agent].write(event, Decision(Verdict.DENY, reason)).stdout.decode()
    )


def tool_input(asked: ScriptedInput, agent: str = "claude") -> dict[str, Any]:
    tool = session(agent).event(asked.sends).tool
    assert tool is not None
    assert isinstance(tool.input, dict)
    return tool.input


def test_every_agent_with_hooks_has_a_session() -> None:
    assert {*HOOKED} <= {*PLAYED}


@every_row("agent", PLAYED)
def test_a_session_asks_for_a_command_a_change_and_answers_in_its_agents_words(agent: str) -> None:
    script = session(agent)
    events = [script.event(row.sends) for row in script.inputs]
    assert {event.name for event in events} <= set(PLATFORMS[agent].events)
    assert len({event.session for event in events}) == 1
    aliases = PLATFORMS[agent].tools.aliases
    asked = [aliases.get(name, name) for name in script.typed()]
    assert asked[0] == "Bash"
    assert asked[1] in ("Edit", "ApplyPatch")
    assert asked[2] in ("AskUserQuestion", "elicitation/create")
    assert asked[3:] in ([], ["ExitPlanMode"])
    if agent in HOOKED:
        assert script.stance in PLATFORMS[agent].settings.stances


@every_row("agent", PLAYED)
def test_an_agents_hooks_are_installed_as_its_session_says(agent: str) -> None:
    async def tell(_: Read) -> None:
        pass

    client = ScriptedAgent(session(agent), "unix:/x", Path(), tell)._client
    assert client[client.index("--platform") + 1] == agent
    assert ("--companion" in client) == (session(agent).stance == "companion")


def test_a_denial_is_read_with_its_reason_and_nothing_else_is_one() -> None:
    first = CLAUDE.inputs[0]
    event = CLAUDE.event(first.sends)
    assert denial(first, "keep it").denied == "keep it"
    assert not Read(event, "").denied
    assert not Read(event, '{"hookSpecificOutput": {"permissionDecision": "allow"}}').denied


@every_row("agent", PLAYED)
def test_a_denied_deletion_is_asked_again_without_it_by_each_agent(agent: str) -> None:
    said = list[str]()
    script = turns(session(agent), lambda _, text: said.append(text))
    asked = next(script)
    while not asked.typed:
        asked = script.send(Read(session(agent).event(asked.sends), ""))
    again = script.send(denial(asked, "keep build", agent))
    changed = tool_input(again, agent)
    before, after = (session(agent).event(row.sends).tool for row in (asked, again))
    assert before is not None
    assert after is not None
    assert (before.use_id == after.use_id) is (not before.use_id)  # another call
    assert changed["command"] == "npm ci 2>&1 | tail -n 3"
    reason = "no reason" if agent == "acp" else "keep build"  # ACP takes no reason
    assert reason in changed.get("description", reason)
    assert "rm -rf" not in json.dumps(again.sends)
    assert script.send(denial(again, "not that either", agent)).says != again.says
    assert any("You denied my" in text and reason in text for text in said)


@every_row("agent", ("claude", "copilot", "qwen"))
def test_a_plan_comes_back_changed_as_you_said_and_not_for_ever(agent: str) -> None:
    script = turns(session(agent), lambda *_: None)
    asked = next(script)
    while (tool := session(agent).event(asked.sends).tool) is None or "lan" not in tool.name:
        asked = script.send(Read(session(agent).event(asked.sends), ""))
    plans = [asked]
    for turn in range(MOST_PLANS):
        plans.append(script.send(denial(plans[-1], f"word {turn}\nsecond line", agent)))
        assert tool_input(plans[-1], agent)["plan"].endswith(
            f"\nChanged as you said: word {turn}\nsecond line\n"
        )
    assert all(before.sends != after.sends for before, after in pairwise(plans))
    left = [*_rest(script, denial(plans[-1], "no", agent))]
    assert all(not row.typed for row in left)


def _rest(script: Any, read: Read) -> Any:
    try:
        while True:
            yield script.send(read)
            read = Read(read.event, "")
    except StopIteration:
        return


def test_notes_on_lines_are_answered_below_these_lines_and_nothing_of_the_form_is_repeated() -> (
    None
):
    notes = PlanNotes(tool_input(PLAN)["plan"])
    for at, note in ((2, "in put\nas well"), (3, "wait 8 s"), (len(notes.lines), "be quick")):
        notes.at = at
        notes.write(note)
    lines = revised(notes.plan, notes.reason()).split("\n")
    at = next(at for at, line in enumerate(lines) if line.startswith("1. "))
    assert lines[at + 1 : at + 3] == ["   Changed: in put", "   Changed: as well"]
    assert lines[at + 3].startswith("2. ")
    assert lines[at + 4] == "   Changed: wait 8 s"
    assert lines[-2] == "Changed as you said: be quick"
    assert len(lines) == len(notes.plan.split("\n")) + 5


def test_what_was_read_is_shown_in_lines_of_its_own() -> None:
    assert denial(PLAN, "x").pretty().count("\n") > 3
    assert "no opinion" in Read(CLAUDE.event(PLAN.sends), "").pretty()
