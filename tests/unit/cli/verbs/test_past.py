"""`crabhook log` of a record that lies elsewhere: what the team's server tells."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from typing import Any

import pytest

from crabhook.cli.verbs import past
from crabhook.cli.verbs.attached import attached
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import CrabhookError
from tests.support.desk import PlayedDesk
from tests.support.sitting import call


@pytest.fixture
def desk() -> PlayedDesk:
    desk = PlayedDesk()
    desk.ask(call(tool_input={"command": "npm ci"}))
    desk.answer(1, Decision(Verdict.ALLOW))
    desk.ask(call(tool_input={"command": "rm x"}, session_id="other"))
    desk.answer(2, Decision(Verdict.DENY, reason="no"))
    return desk


def asked(**options: Any) -> Namespace:
    every = {"since": None, "until": None, "tool": "", "session": "", "verdict": "", "last": 100}
    return Namespace(**every | {"json": False, "all_kinds": False} | options)


async def test_what_ended_is_listed_as_the_record_here_is(
    desk: PlayedDesk, capsys: pytest.CaptureFixture[str]
) -> None:
    async with attached(desk) as here:
        assert await past._list(here, asked()) == 0
    older, newer = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\S{20} {6}#1  allowed {4}Bash {10}npm ci  \[.*\]", older), older
    assert "#2  denied " in newer


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ({}, [1, 2]),
        ({"last": 1}, [2]),
        ({"verdict": "allow"}, [1]),
        ({"session": "oth"}, [2]),
        ({"tool": "Ba*"}, [1, 2]),
        ({"tool": "Edit"}, []),
        ({"since": "2999-01-01"}, []),
        ({"until": "1999-01-01"}, []),
    ],
)
async def test_the_list_has_what_was_asked_for_alone(
    desk: PlayedDesk,
    options: dict[str, Any],
    numbers: list[int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with attached(desk) as here:
        await past._list(here, asked(json=True, **options))
    lines = map(json.loads, capsys.readouterr().out.splitlines())
    assert [line["number"] for line in lines] == numbers


async def test_every_kind_is_on_the_machine_of_the_record_alone(desk: PlayedDesk) -> None:
    async with attached(desk) as here:
        with pytest.raises(CrabhookError, match="where the record lies"):
            await past._list(here, asked(all_kinds=True))


async def test_a_card_is_shown_whole(desk: PlayedDesk, capsys: pytest.CaptureFixture[str]) -> None:
    async with attached(desk) as here:
        assert await past._show(here, Namespace(card=1)) == 0
        assert json.loads(capsys.readouterr().out)["input"] == {"command": "npm ci"}
        here.replica.card = lambda _: None  # type: ignore[method-assign] - as of a card long ago
        assert await past._show(here, Namespace(card=1)) == 0
        assert json.loads(capsys.readouterr().out)["outcome"] == "allowed"
        with pytest.raises(CrabhookError, match="there is no #9"):
            await past._show(here, Namespace(card=9))
