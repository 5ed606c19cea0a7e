"""What an act that was added to the table passes through: each face, the help, the record, the docs."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from crabhook.cli import ALL, main
from crabhook.cli.completion import script
from crabhook.cli.verbs.attached import attached
from crabhook.cli.verbs.deciding import Wish, decide
from crabhook.desk.acts import ACTS
from crabhook.model.decision import Decision, Verdict
from crabhook.server.address import Tokens, UnixAddress
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.store.opening import open_writer
from crabhook.store.record import RecordKind
from crabhook.store.recorder import Recorder
from crabhook.ui.commands.words import PERSONS_WORDS, help_lines
from tests.docs.key_table import PAGE, table, with_table
from tests.support.client import Client
from tests.support.desk import PlayedDesk
from tests.support.ledger import Ledger
from tests.support.plain_sitting import bash, sitting
from tests.support.port import Opened, short_folder
from tests.support.runners import bare_runner
from tests.support.seat import hears, seat
from tests.support.sitting import Sitting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PRAISE = Decision(Verdict.PASS, user_message="what a call")


@pytest.fixture
def home() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


def test_its_key_opens_a_line_and_decides() -> None:
    sitting = Sitting(columns=240)
    sitting.ask()
    sitting.wait()
    assert "T praise…" in sitting.help_line()
    sitting.press("T")
    assert "praise #1: " in sitting.text()
    sitting.press("enter")
    assert sitting.screen.notice.text == "type the message"
    sitting.type("what a call")
    sitting.press("enter")
    sitting.wait()
    assert sitting.decided() == [(1, PRAISE)]


def test_the_page_of_keys_and_the_palette_have_it() -> None:
    sitting = Sitting(columns=120, rows=60)
    sitting.ask()
    sitting.wait()
    sitting.press("?")
    assert ACTS["praise"].means in sitting.text()
    sitting.press("escape", ":")
    sitting.type("praise")
    assert "T         praise  tell its user" in sitting.text()


async def test_a_line_decides_by_it_and_a_card_offers_it() -> None:
    desk = PlayedDesk()
    desk.ask(bash())
    async with sitting(desk) as sits:
        assert "#1 PASSED" in "\n".join(await sits.type("1 praise what a call"))
    assert [decision for _, decision in desk.decided] == [PRAISE]
    assert any("[N] praise MESSAGE" in line for line in help_lines(PERSONS_WORDS))


async def test_its_verb_decides_and_says_so_in_json() -> None:
    desk = PlayedDesk()
    desk.ask(bash())
    async with attached(desk) as here:
        result = await decide(Wish("praise", "what a call"), 1, here)
    assert [decision for _, decision in desk.decided] == [PRAISE]
    told = json.loads(json.dumps(result.data))
    assert (told["result"], told["outcome"]) == ("done", "passed")


def test_the_help_and_the_completion_have_its_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert "  praise " in ALL
    with pytest.raises(SystemExit, match="0"):
        main(["praise", "--help"])
    assert ACTS["praise"].verb in capsys.readouterr().out
    assert "crabhook praise\t--json" in script("bash")


@pytest.mark.process
async def test_its_decision_is_on_record(home: Path) -> None:
    recorder = Recorder(lambda: open_writer(home / "state"))
    runner = bare_runner(recorder)
    address, port = UnixAddress(home / "s"), Opened(runner, ())
    stop = hears(runner, port.hears)
    async with open_port(PermissionPort(runner, wait=60.0, tokens=Tokens()), (address,)):
        hook = Client(str(address), json.dumps(bash()).encode())
        (card,) = await port.waiting()
        seat(runner).answer(card.number, ACTS["praise"].decision("what a call", card.choices))
        answer = await asyncio.to_thread(hook.finish)
        assert answer.output == {"systemMessage": "what a call"}
        stop()
        runner.close()
    recorder.close()
    ledger = Ledger(home / "state")
    assert [one.verdict for one in ledger.of(RecordKind.DECIDED)] == ["pass"]
    assert ledger.verified.sound


def test_the_check_of_the_docs_wants_its_key_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"| `T` | {ACTS['praise'].means} |" in table()
    assert page != with_table(page)
