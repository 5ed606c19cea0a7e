import asyncio

import pytest

from crabhook.demo.script import LINES, calls, typed_lines
from crabhook.ui.commands.parse import parse
from tests.support.desk import PlayedDesk


def test_the_operator_has_a_line_for_every_call_of_the_agent() -> None:
    assert [call["tool_name"] for call in calls()] == list(LINES)


@pytest.mark.parametrize("line", LINES.values())
def test_every_line_is_one_the_plain_desk_understands(line: str) -> None:
    command = parse(f"7 {line}")
    assert command is not None
    assert command.target is not None


async def test_a_line_is_typed_for_each_card_and_shown() -> None:
    desk, shown = PlayedDesk(), list[str]()

    async def write(text: str) -> None:
        shown.append(text)

    lines = typed_lines(desk, write)
    first = anext(lines)
    waiting = asyncio.ensure_future(first)
    await asyncio.sleep(0)
    desk.ask(next(calls()))
    assert await waiting == f"1 {LINES['Bash']}"
    assert shown == [f"> 1 {LINES['Bash']}"]
    await lines.aclose()
