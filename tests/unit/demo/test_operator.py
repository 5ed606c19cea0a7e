import asyncio
import json

from crabhook.demo.script import typed_lines
from crabhook.demo.sessions import PLAYED, Read, session
from crabhook.model.card import Stance
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import sitting

ASKING = "AskUserQuestion"


async def test_every_typed_line_decides_its_agents_card_and_the_agent_reads_of_it() -> None:
    for agent in PLAYED:
        script = session(agent)
        async with sitting() as sits:
            for row in script.inputs:
                stance = Stance(script.stance)
                leg = sits.desk.ask({**row.sends}, platform=agent, stance=stance)
                asked = [card.number for card in sits.desk.runner.broker.waiting()]
                assert len(asked) == (1 if row.typed else 0), (agent, row)
                if row.typed:
                    printed = await sits.type(f"{asked[0]} {row.typed}")
                    assert leg in sits.desk.replies, (agent, printed)
                    read = Read(script.event(row.sends), sits.desk.replies[leg].stdout.decode())
                    assert "told" in read.told()[1], agent


def test_a_question_that_is_allowed_without_answers_is_left_to_the_agents_user() -> None:
    script = session()
    sent = next(row.sends for row in script.inputs if row.sends.get("tool_name") == ASKING)
    allowed = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    answered = {**allowed, "updatedInput": sent["tool_input"]}
    words = [
        Read(script.event(sent), json.dumps({"hookSpecificOutput": specific})).told()[1]
        for specific in (allowed, answered)
    ]
    assert words == ["the agent was told: its own user decides", "the agent was told: your answers"]


async def test_a_line_is_typed_for_each_card_and_shown() -> None:
    desk, shown = PlayedDesk(), list[str]()

    async def write(text: str) -> None:
        shown.append(text)

    typed = session().typed()
    lines = typed_lines(desk, write, typed)
    first = anext(lines)
    waiting = asyncio.ensure_future(first)
    await asyncio.sleep(0)
    desk.ask(session().inputs[0].sends)
    assert await waiting == f"1 {typed['Bash']}"
    assert shown == [f"> 1 {typed['Bash']}"]
    await lines.aclose()
